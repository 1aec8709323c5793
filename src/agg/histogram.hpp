// SPDX-License-Identifier: GPL-2.0-or-later
// One distribution being built. Input: durations in nanoseconds. Output: Distribution.
//
// Bins are allocated with the first duration above 0 and only while the shared Budget lasts, so
// that a file with absurdly many ids cannot take memory: beyond it count, sum, min and max stay
// exact and the Budget counts what was not binned. Move-only.
#pragma once

#include "agg/log_axis.hpp"
#include "blktag/snapshot.hpp"

#include <algorithm>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <boost/histogram/unsafe_access.hpp>
#include <cstdint>
#include <memory>
#include <tuple>

namespace blktag::agg {

// What all histograms of one Aggregate may allocate together.
struct Budget {
    uint32_t histograms_left = 5000; // 4.9 KB each
    uint64_t undetailed = 0;
};

class Histogram {
  public:
    // Written out rather than left to Boost's operator(): this runs six times per request.
    void fill(uint64_t value_ns, Budget &budget)
    {
        if (value_ns == 0) {
            ++zeros_;
            return;
        }
        sum_ns_ += value_ns; // wraps after 584 years of summed time; readers hold the mean between
                             // min and max
        if (value_ns > max_ns_)
            max_ns_ = value_ns;
        if (value_ns < min_ns_)
            min_ns_ = value_ns;
        if (!counts_) [[unlikely]] {
            if (!allocate(budget))
                return;
        }
        ++counts_[LogAxis().index(value_ns)];
    }
    void merge(const Histogram &other, Budget &budget);
    // What the kernel binned itself. Its smallest one is known only by its bin.
    void add(const HistogramDelta::Part &part, Budget &budget);
    static uint64_t count_of(const HistogramDelta::Part &part);
    [[nodiscard]] bool empty() const { return zeros_ == 0 && max_ns_ == 0; }
    [[nodiscard]] uint64_t max_ns() const { return max_ns_; }
    [[nodiscard]] Distribution distribution() const;

  private:
    using Bins =
        boost::histogram::histogram<std::tuple<LogAxis>, boost::histogram::dense_storage<uint64_t>>;
    bool allocate(Budget &budget);
    [[nodiscard]] uint64_t binned() const;

    uint64_t *counts_ = nullptr; // bins_'s storage, the overflow bin last
    uint64_t unbinned_ = 0;      // durations above 0 for which there was no room
    uint64_t zeros_ = 0;
    uint64_t sum_ns_ = 0;
    uint64_t min_ns_ = UINT64_MAX; // of those above 0
    uint64_t max_ns_ = 0;
    std::unique_ptr<Bins> bins_;
};

} // namespace blktag::agg
