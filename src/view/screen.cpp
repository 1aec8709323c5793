// SPDX-License-Identifier: GPL-2.0-or-later
// Intervals and history. Input: Snapshots in time order. Output: Screens.
#include "view/screen.hpp"

#include "agg/difference.hpp"

#include <bit>

namespace blktag::view {

namespace {

void count_octaves(const Distribution &distribution, std::array<uint32_t, nr_octaves> &out)
{
    for (const Bin &bin : distribution.bins) {
        const auto octave = static_cast<size_t>(
            std::bit_width(bin.low_ns) > 0 ? std::bit_width(bin.low_ns) - 1 : 0);
        out[std::min(octave, nr_octaves - 1)] += static_cast<uint32_t>(bin.count);
    }
}

// What ended between two looks.
Slice slice_of(const Snapshot &now, const Snapshot &before)
{
    Slice out;
    out.end_ns = now.recording.duration_ns;
    if (!now.latency)
        return out;
    const Latency none;
    const Latency &old = before.latency ? *before.latency : none;
    for (size_t i = 0; i < nr_phases; ++i)
        count_octaves(agg::difference(now.latency->phase[i], old.phase[i]), out.count[i]);
    count_octaves(agg::difference(now.latency->whole, old.whole), out.count[nr_phases]);
    return out;
}

} // namespace

void Looks::push(std::shared_ptr<const Snapshot> now)
{
    if (newest_) {
        // A recording has counters less often than a replay may step: between two of them the
        // interval grows, or rates would be nothing, and then too much.
        if (now->recording.counters_ns != newest_->recording.counters_ns || !counted_)
            counted_ = newest_;
        interval_ = std::make_shared<const Snapshot>(agg::difference(*now, *counted_));
        auto history = std::make_shared<std::deque<Slice>>(*history_);
        history->push_back(slice_of(*now, *newest_));
        if (history->size() > max_slices)
            history->pop_front();
        history_ = std::move(history);
    }
    newest_ = std::move(now);
    total_ = base_ ? std::make_shared<const Snapshot>(agg::difference(*newest_, *base_)) : newest_;
}

void Looks::reset()
{
    base_ = newest_;
    if (newest_)
        total_ = std::make_shared<const Snapshot>(agg::difference(*newest_, *base_));
}

void Looks::clear()
{
    *this = Looks();
}

Screen Looks::screen() const
{
    Screen out;
    out.total = total_;
    out.interval = interval_;
    out.history = history_;
    return out;
}

} // namespace blktag::view
