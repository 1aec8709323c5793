// SPDX-License-Identifier: GPL-2.0-or-later
// Subtracting Snapshots, part by part. Input: later and earlier. Output: the interval.
#include "agg/difference.hpp"

#include "agg/build.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace blktag::agg {

namespace {

uint64_t less(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

template<class T>
void take_off(std::optional<T> &from, const std::optional<T> &what)
{
    if (from && what)
        from = less(*from, *what);
}

std::optional<Latency> less_latency(const std::optional<Latency> &later,
                                    const std::optional<Latency> &earlier)
{
    if (!later || !earlier)
        return later;
    Latency out;
    for (size_t i = 0; i < nr_phases; ++i)
        out.phase[i] = difference(later->phase[i], earlier->phase[i]);
    out.whole = difference(later->whole, earlier->whole);
    return out;
}

void take_off_ops(std::vector<OpStats> &from, const std::vector<OpStats> &what)
{
    for (OpStats &op : from) {
        const auto same =
            std::find_if(what.begin(), what.end(), [&](const OpStats &o) { return o.op == op.op; });
        if (same == what.end())
            continue;
        op.requests = less(op.requests, same->requests);
        op.bytes = less(op.bytes, same->bytes);
        take_off(op.sequential, same->sequential);
        op.device = difference(op.device, same->device);
        op.whole = difference(op.whole, same->whole);
    }
}

void take_off_runs(RunStats &from, const RunStats &what)
{
    from.duration = difference(from.duration, what.duration);
    from.restart_delay = difference(from.restart_delay, what.restart_delay);
    from.asked_delay = difference(from.asked_delay, what.asked_delay);
    from.issued_by_runs = less(from.issued_by_runs, what.issued_by_runs);
}

void take_off_other(std::array<OtherWaits, 3> &from, const std::array<OtherWaits, 3> &what)
{
    for (size_t i = 0; i < from.size(); ++i) {
        take_off(from[i].count, what[i].count);
        take_off(from[i].total_ns, what[i].total_ns);
        from[i].time = difference(from[i].time, what[i].time);
    }
}

// What all of queue, hctx and the whole have.
template<class T>
void take_off_common(T &from, const T &what)
{
    from.counters = difference(from.counters, what.counters);
    from.totals = totals_of(from.counters);
    from.waits = difference(from.waits, what.waits);
    from.dispatch_waits = difference(from.dispatch_waits, what.dispatch_waits);
    from.latency = less_latency(from.latency, what.latency);
    take_off_ops(from.ops, what.ops);
    take_off_runs(from.runs, what.runs);
}

void take_off_hctxs(std::vector<HctxStats> &from, const std::vector<HctxStats> &what)
{
    std::unordered_map<uint16_t, const HctxStats *> before;
    for (const HctxStats &hctx : what)
        before[hctx.hctx_id] = &hctx;
    for (HctxStats &hctx : from)
        if (const auto same = before.find(hctx.hctx_id); same != before.end())
            take_off_common(hctx, *same->second);
}

void take_off_queue(QueueStats &from, const QueueStats &what)
{
    take_off_common(from, what);
    take_off_other(from.other, what.other);
    from.budget.refused_recorded = less(from.budget.refused_recorded, what.budget.refused_recorded);
    from.budget.returned_recorded =
        less(from.budget.returned_recorded, what.budget.returned_recorded);
    from.budget.blocked = less(from.budget.blocked, what.budget.blocked);
    take_off_hctxs(from.hctxs, what.hctxs);
}

// The lists may have been cut at their ends: a task that came into the list counts whole.
void take_off_tasks(std::vector<TaskStats> &from, const std::vector<TaskStats> &what,
                    uint64_t TaskStats::*by)
{
    std::map<std::pair<uint32_t, uint64_t>, const TaskStats *> before;
    for (const TaskStats &task : what)
        before[{task.tid, task.task_start_ns}] = &task;
    for (TaskStats &task : from) {
        const auto same = before.find({task.tid, task.task_start_ns});
        if (same == before.end())
            continue;
        const TaskStats &old = *same->second;
        for (const auto member : {&TaskStats::requests, &TaskStats::bytes, &TaskStats::held_ns,
                                  &TaskStats::waits, &TaskStats::wait_ns, &TaskStats::runnable_ns,
                                  &TaskStats::other_waits, &TaskStats::other_wait_ns})
            task.*member = less(task.*member, old.*member);
        for (size_t i = 0; i < task.waits_by_cause.size(); ++i)
            task.waits_by_cause[i] = less(task.waits_by_cause[i], old.waits_by_cause[i]);
    }
    std::erase_if(from, [by](const TaskStats &task) { return task.*by == 0; });
    std::stable_sort(from.begin(), from.end(),
                     [by](const TaskStats &a, const TaskStats &b) { return a.*by > b.*by; });
}

} // namespace

Distribution difference(const Distribution &later, const Distribution &earlier)
{
    Distribution out;
    out.count = less(later.count, earlier.count);
    if (out.count == 0)
        return out;
    out.sum_ns = less(later.sum_ns, earlier.sum_ns);
    auto old = earlier.bins.begin();
    for (const Bin &bin : later.bins) {
        while (old != earlier.bins.end() && old->low_ns < bin.low_ns)
            ++old;
        const bool same = old != earlier.bins.end() && old->low_ns == bin.low_ns;
        const uint64_t count = same ? less(bin.count, old->count) : bin.count;
        if (count != 0)
            out.bins.push_back({bin.low_ns, bin.high_ns, count});
    }
    out.max_ns = later.max_ns;
    out.min_ns = later.min_ns;
    if (!out.bins.empty()) {
        if (later.max_ns <= earlier.max_ns)
            out.max_ns = std::min(later.max_ns, out.bins.back().high_ns - 1);
        if (earlier.count != 0 && later.min_ns >= earlier.min_ns)
            out.min_ns = std::max(later.min_ns, out.bins.front().low_ns);
    }
    return out;
}

Counters difference(const Counters &later, const Counters &earlier)
{
    Counters out = later;
    for (size_t i = 0; i < out.value.size(); ++i)
        take_off(out.value[i], earlier.value[i]);
    return out;
}

Waits difference(const Waits &later, const Waits &earlier)
{
    Waits out = later;
    for (size_t i = 0; i < out.by_cause.size(); ++i) {
        CauseWaits &cause = out.by_cause[i];
        take_off(cause.count, earlier.by_cause[i].count);
        cause.time = difference(cause.time, earlier.by_cause[i].time);
        if (cause.time.count == 0)
            cause.at_longest.reset();
    }
    take_off(out.count, earlier.count);
    take_off(out.total_ns, earlier.total_ns);
    out.time = difference(out.time, earlier.time);
    return out;
}

Snapshot difference(const Snapshot &later, const Snapshot &earlier)
{
    Snapshot out = later;
    out.recording.duration_ns = less(later.recording.duration_ns, earlier.recording.duration_ns);
    out.recording.counters_ns = less(later.recording.counters_ns, earlier.recording.counters_ns);
    take_off_common(out, earlier);
    take_off_other(out.other, earlier.other);
    set_rates(out, out.recording.counters_ns);
    std::unordered_map<uint16_t, const QueueStats *> before;
    for (const QueueStats &queue : earlier.queues)
        before[queue.queue_id] = &queue;
    for (QueueStats &queue : out.queues) {
        if (const auto same = before.find(queue.queue_id); same != before.end())
            take_off_queue(queue, *same->second);
        set_rates(queue, out.recording.counters_ns);
    }
    take_off_tasks(out.top_waiters, earlier.top_waiters, &TaskStats::wait_ns);
    take_off_tasks(out.top_holders, earlier.top_holders, &TaskStats::held_ns);
    return out;
}

} // namespace blktag::agg
