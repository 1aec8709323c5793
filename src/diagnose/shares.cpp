// SPDX-License-Identifier: GPL-2.0-or-later
// Limits below the depth: fair share, scheduler, LUN. Input: waits by cause, gauges. Output:
// findings.
#include "base/units.hpp"
#include "diagnose/context.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::diagnose {

namespace {

// Tags that a queue's requests held on average.
double held_mean(const Context &c, const QueueStats &queue)
{
    if (!queue.latency || c.s.recording.duration_ns == 0)
        return 0;
    const uint64_t held =
        queue.latency->whole.sum_ns - queue.latency->at(Phase::submit_wait).sum_ns;
    return to_double(held) / to_double(c.s.recording.duration_ns);
}

// Jain's index of what the queues held: 1 = equal, 1/n = one has all.
double jain(const std::vector<double> &values)
{
    double sum = 0;
    double squares = 0;
    for (const double v : values) {
        sum += v;
        squares += v * v;
    }
    return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

struct Denied {
    const QueueStats *queue = nullptr;
    uint64_t count = 0;
    double mean_free = 0;
    WaitMoment moment;
};

std::optional<Denied> denied_of(const Context &c, const QueueStats &queue)
{
    const CauseWaits &submit = queue.waits.by_cause[BT_CAUSE_FAIR_SHARE];
    const CauseWaits &dispatch = queue.dispatch_waits.by_cause[BT_CAUSE_FAIR_SHARE];
    const WaitLoad load = c.load(queue, BT_CAUSE_FAIR_SHARE);
    const uint64_t parked = dispatch.count.value_or(dispatch.time.count);
    const bool parked_much =
        to_double(parked) >= c.t.min_waits && queue.latency &&
        ratio(dispatch.time.sum_ns, queue.latency->whole.sum_ns) >= c.t.min_latency_share;
    if (!c.matters(load) && !parked_much)
        return std::nullopt;
    const CauseWaits &from = load.waits >= parked ? submit : dispatch;
    Denied out;
    out.queue = &queue;
    out.count = std::max(load.waits, parked);
    out.mean_free = ratio(from.free_sum, from.time.count);
    out.moment = from.at_longest.value_or(WaitMoment{});
    return out;
}

void fair_share_of(Context &c, const SetStats &set)
{
    const auto queues = c.queues_of(set.set_id);
    std::optional<Denied> worst;
    for (const QueueStats *queue : queues)
        if (const auto denied = denied_of(c, *queue);
            denied && (!worst || denied->count > worst->count))
            worst = denied;
    if (!worst)
        return;
    const WaitMoment &m = worst->moment;
    std::vector<std::string> lazy; // active, and far below the share
    std::vector<double> held;
    Finding &f = c.add("fair_share", c.at_set(set.set_id), 0.95);
    f.evidence = {{"refused_with_free_tags", to_double(worst->count), "waits"},
                  {"free_tags_mean", worst->mean_free, "tags"},
                  {"limit", to_double(m.limit), "tags"},
                  {"depth", to_double(m.depth), "tags"},
                  {"active_queues", to_double(m.users), "queues"}};
    for (const QueueStats *queue : queues) {
        const double mean = held_mean(c, *queue);
        if (queue->totals.gets.value_or(0) == 0)
            continue;
        held.push_back(mean);
        f.evidence.push_back({"held_mean." + queue->name, mean, "tags"});
        f.evidence.push_back({"iops." + queue->name, queue->requests_per_s.value_or(0), "1/s"});
        f.evidence.push_back(
            {"waits." + queue->name, to_double(queue->waits.count.value_or(0)), "waits"});
        if (queue != worst->queue && mean < 0.75 * m.limit)
            lazy.push_back(fmt::format("{} (holds {} on average)", queue->name, number(mean)));
    }
    f.evidence.push_back({"fairness_index", jain(held), "index"});
    f.since_ns = c.since(queues, [](const Slice &s) {
        return s.waits_by_cause[BT_CAUSE_FAIR_SHARE] + s.dispatch_waits;
    });
    f.where.hctx.clear();
    f.summary = fmt::format(
        "{} may use {} of {} tags ({} queues active) and was refused {} times "
        "although {} tags were free on average{}.",
        worst->queue->name, m.limit, m.depth, m.users, worst->count, number(worst->mean_free),
        lazy.empty() ? "" : "; the share is kept for " + fmt::format("{}", fmt::join(lazy, ", ")));
    f.remedies.push_back("give " + worst->queue->name +
                         " a tag set of its own (null_blk: "
                         "shared_tags=0; one host or controller per busy disk)");
    f.remedies.push_back(
        depth_remedy(*worst->queue, uint64_t{m.depth} * std::max<uint32_t>(m.users, 2)));
}

void sched_depth_of(Context &c, const QueueStats &queue)
{
    const WaitLoad load = c.load(queue, BT_CAUSE_SCHED_DEPTH);
    if (!c.matters(load))
        return;
    const CauseWaits &waits = queue.waits.by_cause[BT_CAUSE_SCHED_DEPTH];
    const WaitMoment m = waits.at_longest.value_or(WaitMoment{});
    double driver_full = 0;
    for (const HctxStats &hctx : queue.hctxs)
        if (const SpaceStats *space = c.space(hctx.space_id); space && space->gauge)
            driver_full = std::max(driver_full, space->gauge->full_share);
    Finding &f = c.add("sched_depth_limit", c.at(queue), driver_full > 0.9 ? 0.6 : 0.95);
    f.since_ns =
        c.since({&queue}, [](const Slice &s) { return s.waits_by_cause[BT_CAUSE_SCHED_DEPTH]; });
    f.summary =
        fmt::format("scheduler {} let async requests use {} of {} tags: {} waits ({} writes "
                    "and other, {} reads recorded); driver tags full {} of the time.",
                    queue.scheduler.empty() ? "(unknown)" : queue.scheduler, m.limit, m.depth,
                    load.waits, waits.writes, waits.reads, percent(driver_full));
    f.evidence = {{"waits", to_double(load.waits), "waits"},
                  {"limit", to_double(m.limit), "tags"},
                  {"depth", to_double(m.depth), "tags"},
                  {"waits_reads", to_double(waits.reads), "waits"},
                  {"waits_writes", to_double(waits.writes), "waits"},
                  {"latency_share", load.latency_share, "share"},
                  {"driver_tags_full", driver_full, "share"}};
    f.remedies.push_back(
        fmt::format("echo {} > /sys/block/{}/queue/iosched/async_depth", m.depth, queue.name));
}

void budget_of(Context &c, const QueueStats &queue)
{
    const uint64_t refused = count_of(queue.counters, BT_C_budget_refused);
    const uint64_t taken = count_of(queue.counters, BT_C_budget_taken);
    const double share = ratio(refused, refused + taken);
    if (!queue.has_budget || to_double(refused) < c.t.min_waits || share < c.t.budget_refused_share)
        return;
    const WaitLoad load = c.load(queue, std::nullopt);
    const double queued = queue.latency ? ratio(queue.latency->at(Phase::queued).sum_ns +
                                                    queue.latency->at(Phase::dispatch_wait).sum_ns,
                                                queue.latency->whole.sum_ns)
                                        : 0;
    if (load.latency_share + queued < c.t.min_latency_share || taken == 0)
        return;
    const uint32_t limit = queue.lun_depth.value_or(queue.budget.limit);
    Finding &f = c.add("budget_binds", c.at(queue), 0.85);
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.requests; });
    f.summary =
        fmt::format("LUN queue_depth {} binds: budget taken {}, refused {} ({}), returned "
                    "unused {}. {}.",
                    limit, taken, refused, percent(share),
                    count_of(queue.counters, BT_C_budget_returned), limits_text(c.s, queue));
    f.evidence = {
        {"budget_limit", to_double(limit), "budgets"},
        {"taken", to_double(taken), "budgets"},
        {"refused", to_double(refused), "budgets"},
        {"refused_share", share, "share"},
        {"returned_unused", to_double(count_of(queue.counters, BT_C_budget_returned)), "budgets"}};
    f.remedies.push_back(fmt::format("echo {} > /sys/block/{}/device/queue_depth",
                                     std::max(2U, limit * 2), queue.name));
}

} // namespace

void find_shares(Context &c)
{
    for (const SetStats &set : c.s.sets)
        fair_share_of(c, set);
    for (const QueueStats &queue : c.s.queues) {
        sched_depth_of(c, queue);
        budget_of(c, queue);
    }
}

} // namespace blktag::diagnose
