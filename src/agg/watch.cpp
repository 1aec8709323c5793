// SPDX-License-Identifier: GPL-2.0-or-later
// Streaks and gaps. Input and output: see watch.hpp.
#include "agg/watch.hpp"

#include <algorithm>

namespace blktag::agg {

void StreakTrack::note(uint64_t from_ns, uint64_t to_ns)
{
    if (to_ns - from_ns > longest_ns_ || longest_from_ns_ == 0) {
        longest_ns_ = to_ns - from_ns;
        longest_from_ns_ = from_ns;
    }
}

void StreakTrack::sample(bool on, uint64_t ts_ns)
{
    if (!any_) {
        any_ = true;
        prefix_ = prefix_only_ = on;
    }
    if (on) {
        if (!on_)
            from_ns_ = ts_ns;
        to_ns_ = ts_ns;
        note(from_ns_, to_ns_);
        if (prefix_only_)
            prefix_end_ns_ = ts_ns;
    } else {
        prefix_only_ = false;
    }
    on_ = on;
}

void StreakTrack::merge(const StreakTrack &later)
{
    if (!later.any_)
        return;
    if (!any_) {
        *this = later;
        return;
    }
    const bool joined = on_ && later.prefix_;
    if (joined) {
        note(from_ns_, later.prefix_end_ns_);
        if (prefix_only_)
            prefix_end_ns_ = later.prefix_end_ns_;
    }
    if (later.longest_from_ns_ != 0)
        note(later.longest_from_ns_, later.longest_from_ns_ + later.longest_ns_);
    const bool still_joined = joined && later.prefix_only_;
    prefix_only_ = prefix_only_ && still_joined;
    if (later.on_) {
        if (!still_joined)
            from_ns_ = later.from_ns_;
        to_ns_ = later.to_ns_;
    }
    on_ = later.on_;
}

Streak StreakTrack::streak(uint64_t start_ns) const
{
    const auto since = [start_ns](uint64_t ns) {
        return ns > start_ns ? ns - start_ns : 0;
    };
    Streak out;
    out.longest_ns = longest_ns_;
    out.longest_from_ns = since(longest_from_ns_);
    out.on_at_end = on_;
    if (on_) {
        out.last_ns = to_ns_ - from_ns_;
        out.last_from_ns = since(from_ns_);
    }
    return out;
}

void HctxWatch::refused(const bt_refuse &refusal, uint64_t queue_restarts)
{
    if (open.from_ns != 0)
        return; // still the same wait for a run
    open.from_ns = refusal.h.ts_ns;
    open.status = refusal.status;
    open.restarts_here = restarts;
    open.restarts_elsewhere = queue_restarts - restarts;
}

void HctxWatch::run(uint64_t start_ns, uint64_t queue_restarts)
{
    if (first_run_ns == 0)
        first_run_ns = start_ns;
    last_run_ns = std::max(last_run_ns, start_ns);
    // The run that refused it ends later than the refusal, but began before it.
    if (open.from_ns == 0 || start_ns < open.from_ns)
        return;
    Gap gap = open;
    gap.length_ns = start_ns - open.from_ns;
    gap.restarts_here = restarts - open.restarts_here;
    gap.restarts_elsewhere = queue_restarts - restarts - open.restarts_elsewhere;
    if (gap.length_ns >= longest.length_ns)
        longest = gap;
    open = {};
}

void HctxWatch::requeue(const bt_refuse &record, Budget &budget)
{
    ++requeued;
    requeues_most = std::max<uint64_t>(requeues_most, record.requeues);
    if (requeue_first_ns == 0)
        requeue_first_ns = record.h.ts_ns;
    requeue_last_ns = record.h.ts_ns;
    Seen &seen = last_requeue_[record.tag % last_requeue_.size()];
    if (record.requeues > 1 && seen.tag == record.tag && seen.ts_ns < record.h.ts_ns)
        requeue_gap.fill(record.h.ts_ns - seen.ts_ns, budget);
    seen = {record.h.ts_ns, record.tag};
}

void HctxWatch::merge(const HctxWatch &later, Budget &budget)
{
    if (open.from_ns != 0 && later.first_run_ns != 0) {
        Gap gap = open; // RESTARTs between the pieces' ends are in neither; they are few
        gap.length_ns = later.first_run_ns > open.from_ns ? later.first_run_ns - open.from_ns : 0;
        gap.restarts_here = gap.restarts_elsewhere = 0;
        if (gap.length_ns >= longest.length_ns)
            longest = gap;
        open = {};
    }
    if (later.longest.length_ns > longest.length_ns)
        longest = later.longest;
    if (open.from_ns == 0)
        open = later.open;
    if (first_run_ns == 0)
        first_run_ns = later.first_run_ns;
    last_run_ns = std::max(last_run_ns, later.last_run_ns);
    last_restart_ns = std::max(last_restart_ns, later.last_restart_ns);
    restarts += later.restarts;
    requeued += later.requeued;
    requeues_most = std::max(requeues_most, later.requeues_most);
    if (requeue_first_ns == 0)
        requeue_first_ns = later.requeue_first_ns;
    requeue_last_ns = std::max(requeue_last_ns, later.requeue_last_ns);
    requeue_gap.merge(later.requeue_gap, budget);
    last_requeue_ = later.last_requeue_;
}

} // namespace blktag::agg
