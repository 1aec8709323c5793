// SPDX-License-Identifier: GPL-2.0-or-later
// Merging and reading out histograms. Input: Histogram. Output: Distribution.
#include "agg/histogram.hpp"

namespace blktag::agg {

bool Histogram::allocate(Budget &budget)
{
    if (budget.histograms_left == 0) {
        ++budget.undetailed;
        ++unbinned_;
        return false;
    }
    --budget.histograms_left;
    bins_ = std::make_unique<Bins>(std::make_tuple(LogAxis{}));
    counts_ = boost::histogram::unsafe_access::storage(*bins_).data();
    return true;
}

void Histogram::merge(const Histogram &other, Budget &budget)
{
    zeros_ += other.zeros_;
    unbinned_ += other.unbinned_;
    sum_ns_ += other.sum_ns_;
    min_ns_ = std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
    if (!other.bins_)
        return;
    if (bins_ || allocate(budget))
        *bins_ += *other.bins_;
    else
        unbinned_ += other.binned() - 1; // allocate() counted one
}

uint64_t Histogram::count_of(const HistogramDelta::Part &part)
{
    uint64_t count = part.zeros;
    for (const HistogramDelta::Bin &bin : part.bins)
        count += bin.count;
    return count;
}

void Histogram::add(const HistogramDelta::Part &part, Budget &budget)
{
    zeros_ += part.zeros;
    sum_ns_ += part.sum_ns;
    for (const HistogramDelta::Bin &add : part.bins) {
        if (add.bin > LogAxis::size() || add.count == 0)
            continue;
        min_ns_ = std::min(min_ns_, std::max<uint64_t>(LogAxis::low(add.bin), 1));
        max_ns_ = std::max(max_ns_, LogAxis::low(add.bin));
        if (counts_ || allocate(budget))
            counts_[add.bin] += add.count;
        else
            unbinned_ += add.count - 1; // allocate() counted one
    }
    max_ns_ = std::max(max_ns_, part.max_ns);
}

uint64_t Histogram::binned() const
{
    uint64_t sum = 0;
    for (int bin = 0; bins_ && bin <= LogAxis::size(); ++bin)
        sum += counts_[bin];
    return sum;
}

Distribution Histogram::distribution() const
{
    Distribution out;
    out.count = zeros_ + unbinned_ + binned();
    if (out.count == 0)
        return out;
    out.sum_ns = sum_ns_;
    out.max_ns = max_ns_;
    out.min_ns = zeros_ ? 0 : min_ns_;
    if (zeros_)
        out.bins.push_back({0, 1, zeros_});
    if (!bins_)
        return out;
    for (int bin = 0; bin <= LogAxis::size(); ++bin) {
        const uint64_t count = counts_[bin];
        if (count == 0)
            continue;
        const uint64_t high = bin == LogAxis::size() ? max_ns_ + 1 : LogAxis::low(bin + 1);
        out.bins.push_back({LogAxis::low(bin), high, count});
    }
    return out;
}

} // namespace blktag::agg
