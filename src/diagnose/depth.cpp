// SPDX-License-Identifier: GPL-2.0-or-later
// Depth against demand (Little's law), and who suffers. Input: waits, gauges, latency, timeline.
// Output: findings.
#include "base/units.hpp"
#include "diagnose/context.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace blktag::diagnose {

namespace {

using base::format_duration;

// One pool that ran out of tags, with all who draw from it.
struct Pool {
    const SpaceStats *space = nullptr;
    std::vector<const QueueStats *> queues;
    uint64_t depth = 0, hctxs = 0, spaces = 0;
    uint64_t waits = 0, gets = 0, sleeps = 0;
    double waiting = 0;   // tasks asleep for its tags, on average
    double rate = 0;      // requests per second
    double held_ns = 0;   // mean time that a request holds its tag
    double device_ns = 0; // of that at the device
    double latency_share = 0;
    bool sched = false;
};

// One thread that keeps many requests in flight sleeps for one tag at a time: little of the
// requests' latency, and still most of its own time.
bool submitter_asleep(const Context &c, const QueueStats &queue)
{
    for (const TaskStats &task : c.s.top_waiters)
        if (!task.queues.empty() && task.queues.front().queue == queue.name &&
            to_double(task.waits) >= c.t.min_waits &&
            ratio(task.queues.front().wait_ns, c.s.recording.duration_ns) >= c.t.blocked_share)
            return true;
    return false;
}

// Everything below is of the whole set: its private pools are alike, or hctx_imbalance says so.
std::optional<Pool> pool_of(const Context &c, const SetStats &set)
{
    Pool pool;
    uint64_t held_ns = 0;
    uint64_t whole_ns = 0;
    uint64_t wait_ns = 0;
    uint64_t device_ns = 0;
    uint64_t requests = 0;
    bool any = false;
    for (const QueueStats *queue : c.queues_of(set.set_id)) {
        const WaitLoad load = c.load(*queue, BT_CAUSE_EXHAUSTED);
        any |= c.matters(load) || (load.waits != 0 && submitter_asleep(c, *queue));
        pool.queues.push_back(queue);
        pool.waits += load.waits;
        pool.gets += load.gets;
        pool.sleeps += count_of(queue->counters, BT_C_submit_sleeps);
        pool.rate += queue->requests_per_s.value_or(0);
        wait_ns += load.total_ns;
        if (queue->latency) {
            const Latency &l = *queue->latency;
            requests += l.whole.count;
            whole_ns += l.whole.sum_ns;
            held_ns += l.whole.sum_ns - l.at(Phase::submit_wait).sum_ns;
            device_ns += l.at(Phase::device).sum_ns;
        }
        for (const HctxStats &hctx : queue->hctxs)
            pool.sched |= hctx.sched_space_id != BT_NO_ID;
    }
    if (!any || requests == 0)
        return std::nullopt;
    for (const SpaceStats &space : set.spaces)
        if (space.sched == pool.sched && space.depth) {
            pool.space = &space;
            pool.depth = *space.depth;
            pool.hctxs = std::max<uint64_t>(pool.hctxs, space.hctxs.size());
            ++pool.spaces;
        }
    if (!pool.space)
        return std::nullopt;
    const double duration = to_double(c.s.recording.duration_ns);
    pool.waiting = duration > 0 ? to_double(wait_ns) / duration : 0;
    pool.held_ns = to_double(held_ns) / to_double(requests);
    pool.device_ns = to_double(device_ns) / to_double(requests);
    pool.latency_share = ratio(wait_ns, whole_ns);
    return pool;
}

uint64_t needed_depth(const Pool &pool)
{
    const double per_pool = (pool.rate * pool.held_ns / 1e9 + pool.waiting) /
                            to_double(std::max<uint64_t>(1, pool.spaces));
    return std::max<uint64_t>(pool.depth + 1, static_cast<uint64_t>(std::ceil(per_pool)));
}

std::string shape(const Pool &pool)
{
    if (pool.space->hctx_shared && pool.hctxs > 1)
        return fmt::format("{} hctxs share ONE set of {} tags (not {} x {})", pool.hctxs,
                           pool.depth, pool.hctxs, pool.depth);
    return fmt::format("{} {} tags{}", pool.depth, pool.sched ? "scheduler" : "driver",
                       pool.spaces > 1 ? fmt::format(" on each of {} hctxs", pool.spaces) : "");
}

void fill(Finding &f, const Context &c, const Pool &pool)
{
    f.since_ns =
        c.since(pool.queues, [](const Slice &s) { return s.waits_by_cause[BT_CAUSE_EXHAUSTED]; });
    f.evidence = {{"depth", to_double(pool.depth), "tags"},
                  {"depth_needed", to_double(needed_depth(pool)), "tags"},
                  {"submit_waits", to_double(pool.waits), "waits"},
                  {"wait_share_of_gets", ratio(pool.waits, pool.gets), "share"},
                  {"wait_share_of_latency", pool.latency_share, "share"},
                  {"tasks_waiting_mean", pool.waiting, "tasks"},
                  {"rate", pool.rate, "1/s"},
                  {"held_per_request", pool.held_ns, "ns"},
                  {"device_time_mean", pool.device_ns, "ns"},
                  {"sleeps_per_wait", ratio(pool.sleeps, pool.waits), "sleeps"}};
    const SpaceGauge *g = pool.space->gauge ? &*pool.space->gauge : nullptr;
    if (g)
        f.evidence.push_back({"full", g->full_share, "share"});
}

void herd(Context &c, const Pool &pool)
{
    const double sleeps = ratio(pool.sleeps, pool.waits);
    const bool crowd = pool.waiting >= c.t.herd_waiters &&
                       pool.waiting >= c.t.herd_per_tag * to_double(pool.depth * pool.spaces);
    if (sleeps < c.t.herd_sleeps && !crowd)
        return;
    Finding &f = c.add("thundering_herd", c.at_set(pool.space->set_id), 0.9);
    fill(f, c, pool);
    const double wasted = sleeps > 1 ? 1 - 1 / sleeps : 0;
    f.evidence.push_back({"wasted_wakeups", wasted, "share"});
    f.summary = fmt::format("{} submitters wait at any moment for {}: sleeps per allocation that "
                            "waited {:.2f}, wasted wake-ups {}, {} of the requests' life is "
                            "waiting for a tag. Raise the depth or reduce the threads.",
                            number(pool.waiting), shape(pool), sleeps, percent(wasted),
                            percent(pool.latency_share));
    f.remedies.push_back(depth_remedy(*pool.queues.front(), needed_depth(pool)));
}

// The driver tags below full scheduler tags: are they the limit, too?
bool driver_full(const Context &c, const Pool &pool)
{
    const SetStats *set = c.set(pool.queues.front()->set_id);
    for (const SpaceStats &space : set->spaces)
        if (!space.sched && space.gauge && space.gauge->full_share >= c.t.pool_full)
            return true;
    return false;
}

void saturated(Context &c, const Pool &pool, const DepthResponse &r)
{
    Finding &f = c.add("saturated_device", c.at_set(pool.space->set_id), 0.8);
    fill(f, c, pool);
    f.evidence.push_back({"device_time_slope", r.slope, "slope"});
    f.summary = fmt::format("tags run out ({} waits), but more of them would not help: with {} in "
                            "flight the device takes {}, with {} it takes {}, at {} and {} IOPS.",
                            pool.waits, number(r.in_flight_low),
                            format_duration(static_cast<uint64_t>(r.device_low_ns)),
                            number(r.in_flight_high),
                            format_duration(static_cast<uint64_t>(r.device_high_ns)),
                            number(r.rate_low), number(r.rate_high));
    f.remedies.push_back("a faster device, or less load");
}

void too_small(Context &c, const Pool &pool, const std::optional<DepthResponse> &r)
{
    const QueueStats &queue = *pool.queues.front();
    const uint64_t needed = needed_depth(pool);
    const bool scheduler_binds = pool.sched && !driver_full(c, pool);
    const double parallel = r && r->slope <= c.t.parallel_slope ? 0.9 : 0.7;
    Finding &f = c.add(scheduler_binds ? "nr_requests_binds" : "depth_too_small",
                       c.at_set(pool.space->set_id), parallel);
    fill(f, c, pool);
    if (r)
        f.evidence.push_back({"device_time_slope", r->slope, "slope"});
    f.summary =
        fmt::format("{}: {} IOPS x {} per request fill them, {} tasks wait on average ({} of the "
                    "gets, {} of the latency). The demand needs a depth of {}.",
                    shape(pool), number(pool.rate),
                    format_duration(static_cast<uint64_t>(pool.held_ns)), number(pool.waiting),
                    percent(ratio(pool.waits, pool.gets)), percent(pool.latency_share), needed);
    if (scheduler_binds)
        f.remedies.push_back(
            fmt::format("echo {} > /sys/block/{}/queue/nr_requests", needed, queue.name));
    else
        f.remedies.push_back(depth_remedy(queue, needed));
}

// Sleeping for tags of one queue while serving others.
const TaskStats *blocked_submitter(const Context &c, const Pool &pool, const TaskQueue *&on)
{
    for (const TaskStats &task : c.s.top_waiters) {
        if (ratio(task.wait_ns, c.s.recording.duration_ns) < c.t.blocked_share ||
            task.queues.size() < 2)
            continue;
        const TaskQueue &first = task.queues.front();
        const bool here =
            std::any_of(pool.queues.begin(), pool.queues.end(),
                        [&first](const QueueStats *q) { return q->name == first.queue; });
        const bool others =
            std::any_of(task.queues.begin() + 1, task.queues.end(), [&](const TaskQueue &q) {
                return q.requests >= 10 && q.wait_ns * 4 < first.wait_ns;
            });
        if (here && others) {
            on = &first;
            return &task;
        }
    }
    return nullptr;
}

void blocked(Context &c, const Pool &pool)
{
    const TaskQueue *on = nullptr;
    const TaskStats *task = blocked_submitter(c, pool, on);
    if (!task)
        return;
    const double share = ratio(on->wait_ns, c.s.recording.duration_ns);
    Finding &f = c.add("submitter_blocked", c.at_set(pool.space->set_id), 0.85);
    fill(f, c, pool);
    f.where.task = fmt::format("{} {}", task->comm, task->tid);
    std::vector<std::string> others;
    for (const TaskQueue &q : task->queues)
        if (&q != on && q.requests >= 10)
            others.push_back(q.queue);
    f.summary =
        fmt::format("tid {} ({}) spent {} of the time asleep for tags of {}; its requests to "
                    "{} were delayed by that. {}.",
                    task->tid, task->comm, percent(share), on->queue,
                    fmt::format("{}", fmt::join(others, ", ")), shape(pool));
    f.evidence.insert(f.evidence.begin(), {"blocked_share", share, "share"});
    f.remedies.push_back(depth_remedy(*pool.queues.front(), needed_depth(pool)));
    f.remedies.push_back("submit with RWF_NOWAIT or IOCB_FLAG NOWAIT, or keep fewer requests in "
                         "flight on " +
                         on->queue);
}

void too_deep(Context &c, const std::vector<const QueueStats *> &queues)
{
    const auto r = depth_response(c.s, queues);
    if (!r || r->slope < c.t.serial_slope || r->in_flight_high < c.t.too_deep_in_flight ||
        r->rate_high > c.t.same_rate * r->rate_low)
        return;
    const QueueStats &queue = *queues.front();
    const auto enough = static_cast<uint64_t>(std::ceil(r->in_flight_low));
    Finding &f = c.add("too_deep", c.at(queue), 0.75);
    f.since_ns = c.since(queues, [](const Slice &s) { return s.requests; });
    f.summary =
        fmt::format("with {} in flight instead of {} the device takes {} instead of {} and "
                    "throughput stays ({} and {} IOPS): requests queue in the device, where "
                    "nothing can reorder them.",
                    number(r->in_flight_high), number(r->in_flight_low),
                    format_duration(static_cast<uint64_t>(r->device_high_ns)),
                    format_duration(static_cast<uint64_t>(r->device_low_ns)), number(r->rate_high),
                    number(r->rate_low));
    f.evidence = {{"in_flight_high", r->in_flight_high, "requests"},
                  {"in_flight_low", r->in_flight_low, "requests"},
                  {"device_time_high", r->device_high_ns, "ns"},
                  {"device_time_low", r->device_low_ns, "ns"},
                  {"rate_high", r->rate_high, "1/s"},
                  {"rate_low", r->rate_low, "1/s"},
                  {"device_time_slope", r->slope, "slope"}};
    f.remedies.push_back(
        fmt::format("echo {} > /sys/block/{}/queue/nr_requests", enough, queue.name));
}

} // namespace

void find_depth(Context &c)
{
    for (const SetStats &set : c.s.sets) {
        const auto queues = c.queues_of(set.set_id);
        if (queues.empty())
            continue;
        const auto pool = pool_of(c, set);
        if (!pool) {
            if (queues.size() == 1)
                too_deep(c, queues);
            continue;
        }
        const auto r = depth_response(c.s, queues);
        if (r && r->slope >= c.t.serial_slope && r->rate_high <= c.t.same_rate * r->rate_low)
            saturated(c, *pool, *r);
        herd(c, *pool);
        blocked(c, *pool);
        too_small(c, *pool, r);
    }
}

} // namespace blktag::diagnose
