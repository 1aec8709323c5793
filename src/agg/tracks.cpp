// SPDX-License-Identifier: GPL-2.0-or-later
// Counters and gauges over time. Input: snapshots and samples. Output: see tracks.hpp.
#include "agg/tracks.hpp"

#include <algorithm>

namespace blktag::agg {

uint64_t CounterTrack::raise(std::vector<uint64_t> &values, const std::vector<uint64_t> &to)
{
    const size_t count = std::min<size_t>(to.size(), BT_NR_COUNTERS);
    uint64_t backwards = 0;
    if (values.size() < count)
        values.resize(count);
    for (size_t i = 0; i < count; ++i) {
        backwards += to[i] < values[i];
        values[i] = std::max(values[i], to[i]);
    }
    return backwards;
}

uint64_t CounterTrack::add(const CounterSnapshot &snapshot, const Window &window)
{
    if (snapshot.ts_ns > window.to_ns)
        return 0;
    uint64_t backwards = raise(last_, snapshot.value);
    if (snapshot.ts_ns < window.from_ns)
        backwards += raise(base_, snapshot.value);
    return backwards;
}

uint64_t CounterTrack::merge(const CounterTrack &later)
{
    return raise(last_, later.last_) + raise(base_, later.base_);
}

std::optional<uint64_t> CounterTrack::value(size_t counter) const
{
    if (counter >= last_.size())
        return std::nullopt;
    return last_[counter] - (counter < base_.size() ? base_[counter] : 0);
}

void SpaceTrack::hold_until(uint64_t ts_ns)
{
    const uint64_t for_ns = ts_ns - last.h.ts_ns;
    held.hold(last.held, for_ns);
    in_flight.hold(last.in_flight, for_ns);
    full.hold(last.depth != 0 && last.held >= last.depth ? 1 : 0, for_ns);
}

bool SpaceTrack::add(const bt_gauge &sample)
{
    if (samples && sample.h.ts_ns < last.h.ts_ns)
        return false;
    if (samples)
        hold_until(sample.h.ts_ns);
    else
        first = sample;
    last = sample;
    ++samples;
    held_peak = std::max(held_peak, sample.held);
    in_flight_peak = std::max(in_flight_peak, sample.in_flight);
    waiters_peak = std::max(waiters_peak, sample.waiters);
    users_peak = std::max(users_peak, sample.users);
    waiters_while_free.sample(sample.waiters != 0 && sample.held < sample.depth, sample.h.ts_ns);
    if (sample.oldest_get_ns != 0 && sample.oldest_get_ns < sample.h.ts_ns)
        oldest_held_ns = std::max(oldest_held_ns, sample.h.ts_ns - sample.oldest_get_ns);
    return true;
}

bool SpaceTrack::merge(const SpaceTrack &later)
{
    saw_held(later.held_peak);
    if (!later.samples)
        return true;
    if (!samples) {
        const uint32_t peak = held_peak;
        *this = later;
        saw_held(peak);
        return true;
    }
    const bool ordered = later.first.h.ts_ns >= last.h.ts_ns;
    if (ordered)
        hold_until(later.first.h.ts_ns);
    samples += later.samples;
    last = later.last;
    held.merge(later.held);
    full.merge(later.full);
    in_flight.merge(later.in_flight);
    in_flight_peak = std::max(in_flight_peak, later.in_flight_peak);
    waiters_peak = std::max(waiters_peak, later.waiters_peak);
    users_peak = std::max(users_peak, later.users_peak);
    oldest_held_ns = std::max(oldest_held_ns, later.oldest_held_ns);
    waiters_while_free.merge(later.waiters_while_free);
    return ordered;
}

void HctxTrack::hold_until(uint64_t ts_ns)
{
    const uint64_t for_ns = ts_ns - last.h.ts_ns;
    active.hold(last.active, for_ns);
    for (size_t bit = 0; bit < flag.size(); ++bit)
        flag[bit].hold((last.flags >> bit) & 1U, for_ns);
}

bool HctxTrack::add(const bt_hgauge &sample)
{
    if (samples && sample.h.ts_ns < last.h.ts_ns)
        return false;
    if (samples)
        hold_until(sample.h.ts_ns);
    else
        first = sample;
    last = sample;
    ++samples;
    for (size_t bit = 0; bit < flag_streak.size(); ++bit)
        flag_streak[bit].sample((sample.flags >> bit) & 1U, sample.h.ts_ns);
    active_peak = std::max(active_peak, sample.active);
    dispatch_busy_peak = std::max(dispatch_busy_peak, sample.dispatch_busy);
    return true;
}

bool HctxTrack::merge(const HctxTrack &later)
{
    if (!later.samples)
        return true;
    if (!samples) {
        *this = later;
        return true;
    }
    const bool ordered = later.first.h.ts_ns >= last.h.ts_ns;
    if (ordered)
        hold_until(later.first.h.ts_ns);
    samples += later.samples;
    last = later.last;
    active.merge(later.active);
    for (size_t bit = 0; bit < flag.size(); ++bit)
        flag[bit].merge(later.flag[bit]);
    for (size_t bit = 0; bit < flag_streak.size(); ++bit)
        flag_streak[bit].merge(later.flag_streak[bit]);
    active_peak = std::max(active_peak, later.active_peak);
    dispatch_busy_peak = std::max(dispatch_busy_peak, later.dispatch_busy_peak);
    return ordered;
}

} // namespace blktag::agg
