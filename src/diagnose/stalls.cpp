// SPDX-License-Identifier: GPL-2.0-or-later
// Hardware queues that have requests and are not run, by the reason; requeues. Input: sampled
// flags, what followed each refusal, counters. Output: findings.
#include "base/units.hpp"
#include "diagnose/context.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::diagnose {

namespace {

using base::format_duration;

// What lies on an hctx and for how long nothing ran it.
struct Stall {
    uint64_t from_ns = 0;
    uint64_t length_ns = 0;
    std::string what; // "requests on its dispatch list"
    bool recovered = false;
};

constexpr size_t bit_of(uint32_t flag)
{
    size_t bit = 0;
    while ((flag >> bit & 1U) == 0)
        ++bit;
    return bit;
}

const Streak &streak(const HctxGauge &gauge, uint32_t flag)
{
    return gauge.flag_streak[bit_of(flag)];
}

bool flag_at_end(const HctxStats &hctx, uint32_t flag)
{
    return hctx.gauge && (hctx.gauge->flags_last & flag) != 0;
}

// A state that is on at the end, and how long nothing ran the hctx meanwhile.
std::optional<Stall> still(const Context &c, const HctxStats &hctx, const Streak &state,
                           std::string what)
{
    if (!state.on_at_end)
        return std::nullopt;
    const uint64_t last = std::max(hctx.events.last_run_ns, hctx.events.last_put_ns).value_or(0);
    const uint64_t from = std::max(state.last_from_ns, last);
    const uint64_t end = state.last_from_ns + state.last_ns;
    if (end < from || to_double(end - from) < c.t.stall_ns)
        return std::nullopt;
    return Stall{from, end - from, std::move(what), false};
}

std::optional<Stall> stall_of(const Context &c, const HctxStats &hctx)
{
    if (!hctx.gauge)
        return std::nullopt;
    if (auto found =
            still(c, hctx, streak(*hctx.gauge, BT_HG_DISPATCH), "requests on its dispatch list"))
        return found;
    if (auto found = still(c, hctx, streak(*hctx.gauge, BT_HG_CTX_PENDING),
                           "requests in its software queues"))
        return found;
    // Requests in a scheduler are on no list that is sampled; their tags tell.
    const SpaceStats *sched = c.space(hctx.sched_space_id);
    const SpaceStats *driver = c.space(hctx.space_id);
    const bool idle = driver && driver->gauge && driver->gauge->held_last == 0;
    if (!sched || !sched->gauge || !idle || sched->gauge->held_last == 0 || hctx.gauge->samples < 2)
        return std::nullopt;
    const uint64_t age = sched->gauge->oldest_held_last_ns;
    const uint64_t last = std::max(hctx.events.last_run_ns, hctx.events.last_put_ns).value_or(0);
    const uint64_t quiet = c.end_ns() > last ? c.end_ns() - last : 0;
    if (to_double(std::min(age, quiet)) < c.t.stall_ns || sched->hctxs.size() > 1)
        return std::nullopt;
    return Stall{c.end_ns() - std::min(age, quiet), std::min(age, quiet),
                 plural(sched->gauge->held_last, "request") + " in the scheduler", false};
}

// The longest time from a refusal to the next run, where that was far too long and is over.
std::optional<Stall> past_stall(const Context &c, const HctxStats &hctx)
{
    const auto &gap = hctx.events.rerun_longest;
    if (!gap || to_double(gap->length_ns) < c.t.stall_ns)
        return std::nullopt;
    return Stall{gap->from_ns, gap->length_ns, "a refused request", true};
}

std::string_view sub_class(const QueueStats &queue, const HctxStats &hctx, const Stall &stall)
{
    const auto &gap = stall.recovered ? hctx.events.rerun_longest : hctx.events.rerun_open;
    if (!stall.recovered && flag_at_end(hctx, BT_HG_STOPPED | BT_HG_QUIESCED))
        return "hctx_stopped";
    if (gap && gap->status == BT_ST_DEV_RESOURCE &&
        count_of(hctx.counters, BT_C_dev_resource_idle) != 0)
        return "dev_resource_idle";
    if (gap && gap->restarts_elsewhere != 0 && gap->restarts_here == 0)
        return "restart_scope";
    if (stall.recovered)
        return gap && gap->restarts_here + gap->restarts_elsewhere == 0 ? "stalled_hctx" : "";
    if (flag_at_end(hctx, BT_HG_RUN_PENDING))
        return count_of(hctx.counters, BT_C_runs_rearmed) > 1 ? "run_pushed_out" : "stalled_hctx";
    if (flag_at_end(hctx, BT_HG_PARKED))
        return "lost_dispatch_wake";
    if (queue.budget.last_returned_ns &&
        *queue.budget.last_returned_ns + 1 >= hctx.events.last_run_ns.value_or(0))
        return "budget_lost_run";
    return flag_at_end(hctx, BT_HG_RESTART) ? "lost_restart" : "stalled_hctx";
}

std::string because(std::string_view id, const QueueStats &queue, const HctxStats &hctx,
                    const Stall &stall)
{
    const auto &gap = stall.recovered ? hctx.events.rerun_longest : hctx.events.rerun_open;
    if (id == "restart_scope")
        return fmt::format("{} RESTARTs on other hctxs meanwhile, 0 here{}",
                           gap->restarts_elsewhere,
                           stall.recovered ? "; a timer or new I/O ran it at last" : "");
    if (id == "run_pushed_out")
        return fmt::format("a run is pending and was re-armed {} times, it never ran",
                           count_of(hctx.counters, BT_C_runs_rearmed));
    if (id == "dev_resource_idle")
        return "the driver promised a re-run (DEV_RESOURCE) with 0 requests in flight: broken "
               "promise";
    if (id == "budget_lost_run")
        return fmt::format(
            "budget depth {}: taken {}, refused {}, returned unused {}; no run after "
            "the last unused return",
            queue.budget.limit, count_of(queue.counters, BT_C_budget_taken),
            count_of(queue.counters, BT_C_budget_refused),
            count_of(queue.counters, BT_C_budget_returned));
    if (id == "hctx_stopped")
        return flag_at_end(hctx, BT_HG_STOPPED) ? "it is stopped" : "the queue is quiesced";
    if (id == "lost_dispatch_wake")
        return "it is parked for a driver tag and no freed tag wakes it";
    if (id == "lost_restart")
        return "RESTART is set, no request of its own will complete, and no run is pending";
    if (gap && gap->status == BT_ST_RESOURCE)
        return "the driver refused (RESOURCE) and no timed run followed";
    return "no run is pending";
}

void describe(Context &c, std::string_view id, const QueueStats &queue, const HctxStats &hctx,
              const Stall &stall)
{
    Finding &f = c.add(id, c.at(queue, hctx), stall.recovered ? 0.7 : 0.9);
    f.severity = stall.recovered ? Severity::warning : Severity::critical;
    f.since_ns = stall.from_ns;
    f.summary =
        fmt::format("{} has {}{} for {}: {}.", hctx.label, stall.recovered ? "had " : "",
                    stall.what, format_duration(stall.length_ns), because(id, queue, hctx, stall));
    f.evidence = {{"not_run", to_double(stall.length_ns), "ns"}};
    const auto count = [&f, &hctx](const char *name, bt_counter counter, const char *unit) {
        if (const auto value = hctx.counters.get(counter))
            f.evidence.push_back({name, to_double(*value), unit});
    };
    count("runs", BT_C_runs, "runs");
    count("runs_rearmed", BT_C_runs_rearmed, "calls");
    count("restarts", BT_C_restarts, "restarts");
    count("dev_resource_idle", BT_C_dev_resource_idle, "results");
    const auto &gap = stall.recovered ? hctx.events.rerun_longest : hctx.events.rerun_open;
    if (gap) {
        f.evidence.push_back({"restarts_here", to_double(gap->restarts_here), "restarts"});
        f.evidence.push_back(
            {"restarts_elsewhere", to_double(gap->restarts_elsewhere), "restarts"});
    }
    if (hctx.gauge) {
        for (const auto &[name, flag] : {std::pair{"restart_set", BT_HG_RESTART},
                                         {"stopped", BT_HG_STOPPED},
                                         {"run_pending", BT_HG_RUN_PENDING},
                                         {"parked", BT_HG_PARKED}})
            f.evidence.push_back({name, flag_at_end(hctx, flag) ? 1.0 : 0.0, "flag"});
    }
    f.remedies.push_back(fmt::format("echo {} > /sys/kernel/debug/block/{}/state",
                                     id == "hctx_stopped" ? "start" : "run", queue.name));
}

// A promise that nothing keeps is worth a word before a request is parked for long.
void broken_promise(Context &c, const QueueStats &queue, const HctxStats &hctx)
{
    const uint64_t idle = count_of(hctx.counters, BT_C_dev_resource_idle);
    if (idle == 0)
        return;
    Finding &f = c.add("dev_resource_idle", c.at(queue, hctx), 0.9);
    f.summary = fmt::format("the driver promised a re-run (DEV_RESOURCE) with 0 requests in flight "
                            "{} of {} times: nothing may ever run the queue again.",
                            idle, count_of(hctx.counters, BT_C_status_dev_resource));
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.refusals; });
    f.evidence = {
        {"dev_resource_idle", to_double(idle), "results"},
        {"dev_resource", to_double(count_of(hctx.counters, BT_C_status_dev_resource)), "results"}};
    if (hctx.events.rerun_longest)
        f.evidence.push_back(
            {"longest_parked", to_double(hctx.events.rerun_longest->length_ns), "ns"});
    f.remedies.push_back("in the driver: return BLK_STS_RESOURCE where nothing is in flight");
}

void stalls_of(Context &c, const QueueStats &queue)
{
    for (const HctxStats &hctx : queue.hctxs) {
        auto stall = stall_of(c, hctx);
        if (!stall)
            stall = past_stall(c, hctx);
        const bool frozen = flag_at_end(hctx, BT_HG_FROZEN);
        const std::string_view id = stall && !frozen ? sub_class(queue, hctx, *stall) : "";
        if (!id.empty())
            describe(c, id, queue, hctx, *stall);
        if (id != "dev_resource_idle")
            broken_promise(c, queue, hctx);
    }
}

void not_kicked(Context &c, const QueueStats &queue)
{
    const HctxStats *where = nullptr;
    for (const HctxStats &hctx : queue.hctxs)
        if (hctx.gauge &&
            streak(*hctx.gauge, BT_HG_REQUEUE).longest_ns >= static_cast<uint64_t>(c.t.stall_ns) &&
            (!where || streak(*hctx.gauge, BT_HG_REQUEUE).longest_ns >
                           streak(*where->gauge, BT_HG_REQUEUE).longest_ns))
            where = &hctx;
    if (!where)
        return;
    const Streak &state = streak(*where->gauge, BT_HG_REQUEUE);
    // A storm empties and fills it all the time: samples alone would call it one long stay.
    const uint64_t last = where->events.requeue_last_ns.value_or(0);
    const uint64_t from =
        std::max(state.longest_from_ns, std::min(last, state.longest_from_ns + state.longest_ns));
    const uint64_t length = state.longest_from_ns + state.longest_ns - from;
    if (to_double(length) < c.t.stall_ns)
        return;
    uint64_t requeues = count_of(queue.counters, BT_C_requeues);
    const uint64_t again = count_of(queue.counters, BT_C_reissues);
    Finding &f = c.add("requeue_not_kicked", c.at(queue), 0.9);
    if (!state.on_at_end)
        f.severity = Severity::warning;
    f.since_ns = from;
    f.summary = fmt::format("{} on the requeue list for {}: requeued {}, issued again {}, and "
                            "nobody kicks the list.",
                            requeues > again ? plural(requeues - again, "request")
                                             : std::string("requests"),
                            format_duration(length), requeues, again);
    f.evidence = {{"on_list", to_double(requeues > again ? requeues - again : 0), "requests"},
                  {"age", to_double(length), "ns"},
                  {"requeues", to_double(requeues), "requeues"},
                  {"reissues", to_double(again), "requests"}};
    f.remedies.push_back("echo kick > /sys/kernel/debug/block/" + queue.name + "/state");
}

void storm(Context &c, const QueueStats &queue)
{
    uint64_t most = 0;
    uint64_t recorded = 0;
    std::optional<uint64_t> first;
    std::optional<uint64_t> last;
    Distribution gap;
    for (const HctxStats &hctx : queue.hctxs) {
        const HctxEvents &e = hctx.events;
        most = std::max(most, e.requeues_most);
        recorded += e.requeued;
        gap.merge(e.requeue_gap);
        if (e.requeue_first_ns && (!first || *e.requeue_first_ns < *first))
            first = e.requeue_first_ns;
        last = std::max(last, e.requeue_last_ns);
    }
    if (to_double(most) < c.t.requeues_of_one)
        return;
    const uint64_t runs = count_of(queue.counters, BT_C_runs);
    const uint64_t empty = count_of(queue.counters, BT_C_runs_empty);
    const uint64_t length = first && last ? *last - *first : 0;
    Finding &f = c.add("requeue_storm", c.at(queue), 0.9);
    f.since_ns = first;
    f.summary = fmt::format("one request was requeued {} times, {} requeues in {}, median gap {}; "
                            "completed {}; {} of the queue runs started nothing.",
                            most, count_of(queue.counters, BT_C_requeues), format_duration(length),
                            format_duration(gap.quantile_ns(0.5).value_or(0)),
                            count_of(queue.counters, BT_C_completes), percent(ratio(empty, runs)));
    f.evidence = {{"requeues_of_one", to_double(most), "requeues"},
                  {"requeues", to_double(count_of(queue.counters, BT_C_requeues)), "requeues"},
                  {"time", to_double(length), "ns"},
                  {"gap_p50", to_double(gap.quantile_ns(0.5).value_or(0)), "ns"},
                  {"completed", to_double(count_of(queue.counters, BT_C_completes)), "requests"},
                  {"runs_empty_share", ratio(empty, runs), "share"}};
    f.remedies.push_back("find why the driver or its target refuses (kernel log of the transport); "
                         "remove the disk if its target is gone: echo 1 > /sys/block/" +
                         queue.name + "/device/delete");
}

} // namespace

void find_stalls(Context &c)
{
    for (const QueueStats &queue : c.s.queues)
        stalls_of(c, queue);
}

void find_requeues(Context &c)
{
    for (const QueueStats &queue : c.s.queues) {
        not_kicked(c, queue);
        storm(c, queue);
    }
}

} // namespace blktag::diagnose
