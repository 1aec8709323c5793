// SPDX-License-Identifier: GPL-2.0-or-later
// Slices over time. Input and output: see timeline.hpp.
#include "agg/timeline.hpp"

#include <algorithm>

namespace blktag {

void Slice::add(const Slice &o)
{
    requests += o.requests;
    waits += o.waits;
    dispatch_waits += o.dispatch_waits;
    runs += o.runs;
    runs_empty += o.runs_empty;
    refusals += o.refusals;
    requeues += o.requeues;
    restarts += o.restarts;
    batches += o.batches;
    batch_requests += o.batch_requests;
    for (size_t i = 0; i < waits_by_cause.size(); ++i)
        waits_by_cause[i] += o.waits_by_cause[i];
    bytes += o.bytes;
    wait_ns += o.wait_ns;
    dispatch_wait_ns += o.dispatch_wait_ns;
    device_ns += o.device_ns;
    whole_ns += o.whole_ns;
}

void SpaceSlice::add(const SpaceSlice &o)
{
    if (o.samples == 0)
        return;
    if (samples == 0) {
        *this = o;
        return;
    }
    samples += o.samples;
    depth = o.depth;
    held_min = std::min(held_min, o.held_min);
    held_max = std::max(held_max, o.held_max);
    unissued_min = std::min(unissued_min, o.unissued_min);
    waiters_peak = std::max(waiters_peak, o.waiters_peak);
    held_sum += o.held_sum;
    in_flight_sum += o.in_flight_sum;
}

void ActiveSlice::add(const ActiveSlice &o)
{
    if (o.samples == 0)
        return;
    active_min = samples ? std::min(active_min, o.active_min) : o.active_min;
    active_max = std::max(active_max, o.active_max);
    samples += o.samples;
}

void HeatColumn::add(const HeatColumn &o)
{
    for (size_t i = 0; i < heat_rows; ++i) {
        device[i] += o.device[i];
        submit_wait[i] += o.submit_wait[i];
    }
}

Slice Timeline::whole(size_t i) const
{
    Slice out;
    for (const HctxTimeline &hctx : hctxs)
        if (i < hctx.slices.size())
            out.add(hctx.slices[i]);
    return out;
}

} // namespace blktag

namespace blktag::agg {

namespace {

// Joins each two neighbours.
template<typename T>
void halve(std::vector<T> &slices)
{
    for (size_t i = 0; i < slices.size(); ++i) {
        if (i % 2 == 1)
            slices[i / 2].add(slices[i]);
        else if (i != 0)
            slices[i / 2] = slices[i];
    }
    slices.resize((slices.size() + 1) / 2);
}

template<typename T>
T &at(std::vector<T> &slices, size_t i)
{
    if (i >= slices.size())
        slices.resize(i + 1);
    return slices[i];
}

template<typename T>
void add_all(std::vector<T> &into, const std::vector<T> &from)
{
    if (into.size() < from.size())
        into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i)
        into[i].add(from[i]);
}

} // namespace

void TimelineBuilder::fold()
{
    slice_ns_ *= 2;
    slice_from_ns_ = UINT64_MAX;
    nr_slices_ = (nr_slices_ + 1) / 2;
    for (HctxTimeline &hctx : hctxs_) {
        halve(hctx.slices);
        halve(hctx.active);
    }
    for (SpaceTimeline &space : spaces_)
        halve(space.slices);
    halve(heat_);
}

size_t TimelineBuilder::find_slice(uint64_t ts_ns)
{
    const uint64_t since = ts_ns > origin_ns_ ? ts_ns - origin_ns_ : 0;
    while (since / slice_ns_ >= max_slices_ && slice_ns_ < UINT64_MAX / 2)
        fold();
    slice_ = since / slice_ns_;
    slice_from_ns_ = origin_ns_ + slice_ * slice_ns_;
    nr_slices_ = std::max(nr_slices_, slice_ + 1);
    return slice_;
}

HctxTimeline &TimelineBuilder::row(uint16_t hctx_id)
{
    if (hctx_id >= row_of_.size())
        row_of_.resize(size_t{hctx_id} + 1);
    uint16_t &index = row_of_[hctx_id];
    if (index == 0) {
        if (hctxs_.size() >= max_rows && hctx_id != BT_NO_ID)
            return row(BT_NO_ID);
        hctxs_.emplace_back().hctx_id = hctx_id;
        index = static_cast<uint16_t>(hctxs_.size());
    }
    return hctxs_[index - 1U];
}

Slice &TimelineBuilder::hctx(uint16_t hctx_id, uint64_t ts_ns)
{
    const size_t slice = slice_of(ts_ns);
    return at(row(hctx_id).slices, slice);
}

ActiveSlice &TimelineBuilder::active(uint16_t hctx_id, uint64_t ts_ns)
{
    const size_t slice = slice_of(ts_ns);
    return at(row(hctx_id).active, slice);
}

SpaceSlice *TimelineBuilder::space(uint16_t space_id, uint64_t ts_ns)
{
    const size_t slice = slice_of(ts_ns);
    if (space_id >= space_row_of_.size())
        space_row_of_.resize(size_t{space_id} + 1);
    uint16_t &index = space_row_of_[space_id];
    if (index == 0) {
        if (spaces_.size() >= max_rows)
            return nullptr;
        spaces_.emplace_back().space_id = space_id;
        index = static_cast<uint16_t>(spaces_.size());
    }
    return &at(spaces_[index - 1U].slices, slice);
}

HeatColumn &TimelineBuilder::heat(uint64_t ts_ns)
{
    return at(heat_, slice_of(ts_ns));
}

void TimelineBuilder::merge(const TimelineBuilder &later)
{
    TimelineBuilder other = later;
    while (slice_ns_ < other.slice_ns_)
        fold();
    while (other.slice_ns_ < slice_ns_)
        other.fold();
    nr_slices_ = std::max(nr_slices_, other.nr_slices_);
    for (const HctxTimeline &from : other.hctxs_) {
        HctxTimeline &into = row(from.hctx_id);
        add_all(into.slices, from.slices);
        add_all(into.active, from.active);
    }
    for (const SpaceTimeline &from : other.spaces_)
        if (!from.slices.empty() && space(from.space_id, origin_ns_))
            add_all(spaces_[space_row_of_[from.space_id] - 1U].slices, from.slices);
    add_all(heat_, other.heat_);
}

Timeline TimelineBuilder::timeline() const
{
    Timeline out;
    out.slice_ns = nr_slices_ ? slice_ns_ : 0;
    out.nr_slices = nr_slices_;
    out.hctxs = hctxs_;
    out.spaces = spaces_;
    out.heat = heat_;
    return out;
}

} // namespace blktag::agg
