// SPDX-License-Identifier: GPL-2.0-or-later
// CPUs, hctxs and runs; waits that are not for tags. Input: hctxs with their CPUs and counters,
// latency, other waits. Output: findings.
#include "base/units.hpp"
#include "diagnose/context.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::diagnose {

namespace {

using base::format_duration;

std::string cpu_map(const QueueStats &queue)
{
    std::vector<std::string> parts;
    for (const HctxStats &hctx : queue.hctxs) {
        if (parts.size() == 8) {
            parts.emplace_back("...");
            break;
        }
        parts.push_back(fmt::format("hctx{} <- cpu{}", hctx.hctx_num, fmt::join(hctx.cpus, ",")));
    }
    return fmt::format("{}", fmt::join(parts, " | "));
}

void unmapped(Context &c, const QueueStats &queue)
{
    uint64_t without = 0;
    uint64_t all = 0;
    bool known = false;
    for (const HctxStats &hctx : queue.hctxs) {
        if (hctx.gone || hctx.type == "poll")
            continue;
        ++all;
        known |= !hctx.cpus.empty();
        without += hctx.cpus.empty() ? 1 : 0;
    }
    if (!known || without == 0 || queue.totals.gets.value_or(0) == 0)
        return;
    Finding &f = c.add("hctx_unmapped", c.at(queue), 0.9);
    f.summary = fmt::format("{} hctxs, {} unmapped (no CPU): they can never dispatch, and their "
                            "tags are never used.",
                            all, without);
    f.evidence = {{"hctxs", to_double(all), "hctxs"}, {"unmapped", to_double(without), "hctxs"}};
    f.since_ns = 0;
    f.remedies.push_back("set the number of hardware queues to the number of CPUs or below (driver "
                         "parameter; null_blk: submit_queues)");
}

void imbalance(Context &c, const QueueStats &queue)
{
    const WaitLoad load = c.load(queue, BT_CAUSE_EXHAUSTED);
    std::vector<const HctxStats *> busy;
    uint64_t gets = 0;
    uint64_t waits = 0;
    for (const HctxStats &hctx : queue.hctxs) {
        const SpaceStats *space = c.space(hctx.space_id);
        if (hctx.cpus.empty() || hctx.type == "poll" || (space && space->hctxs.size() > 1))
            continue;
        busy.push_back(&hctx);
        gets += hctx.totals.gets.value_or(0);
        waits += hctx.waits.by_cause[BT_CAUSE_EXHAUSTED].count.value_or(0);
    }
    if (busy.size() < 2 || to_double(load.waits) < c.t.min_waits || gets == 0 || waits == 0)
        return;
    const HctxStats *worst =
        *std::max_element(busy.begin(), busy.end(), [](const HctxStats *a, const HctxStats *b) {
            return a->waits.by_cause[BT_CAUSE_EXHAUSTED].count.value_or(0) <
                   b->waits.by_cause[BT_CAUSE_EXHAUSTED].count.value_or(0);
        });
    const uint64_t worst_waits = worst->waits.by_cause[BT_CAUSE_EXHAUSTED].count.value_or(0);
    const double figure =
        to_double(worst->totals.gets.value_or(0)) * to_double(busy.size()) / to_double(gets);
    const double there = ratio(worst_waits, worst->totals.gets.value_or(0));
    const double latency =
        worst->latency ? ratio(worst->waits.time.sum_ns, worst->latency->whole.sum_ns) : 0;
    if (figure < c.t.imbalance || ratio(worst_waits, waits) < c.t.imbalance_waits ||
        there < c.t.min_wait_share || latency < c.t.min_latency_share)
        return;
    std::vector<std::string> shares;
    for (const HctxStats *hctx : busy)
        shares.push_back(percent(ratio(hctx->totals.gets.value_or(0), gets)));
    Finding &f = c.add("hctx_imbalance", c.at(queue, *worst), 0.85);
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.waits; });
    f.summary =
        fmt::format("{}; load {}; {} of the tag waits on {} ({} of its gets waited), busiest "
                    "over mean {:.2f}.",
                    cpu_map(queue), fmt::format("{}", fmt::join(shares, " / ")),
                    percent(ratio(worst_waits, waits)), worst->label, percent(there), figure);
    f.evidence = {{"imbalance", figure, "times"},
                  {"waits_there", to_double(worst_waits), "waits"},
                  {"waits", to_double(waits), "waits"},
                  {"wait_share_there", there, "share"}};
    for (const HctxStats *hctx : busy)
        f.evidence.push_back(
            {"gets." + hctx->label, to_double(hctx->totals.gets.value_or(0)), "tags"});
    f.remedies.push_back("as many hardware queues as CPUs that submit, or spread the submitters "
                         "over the CPUs of all hctxs (/sys/block/" +
                         queue.name + "/mq/*/cpu_list)");
}

void moved(Context &c, const QueueStats &queue)
{
    const uint64_t waits = queue.totals.submit_waits.value_or(0);
    const uint64_t moved = count_of(queue.counters, BT_C_waits_moved);
    if (to_double(waits) < c.t.min_waits || to_double(moved) < c.t.min_waits / 2 ||
        ratio(moved, waits) < c.t.moved_share)
        return;
    const HctxStats *from = nullptr;
    for (const HctxStats &hctx : queue.hctxs)
        if (!hctx.events.moved_to.empty() &&
            (!from || hctx.events.moved_to.front().waits > from->events.moved_to.front().waits))
            from = &hctx;
    Finding &f = c.add("waits_moved", c.at(queue), 0.9);
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.waits; });
    std::string most;
    if (from)
        most = fmt::format(", most often {} -> {} ({})", from->label,
                           from->events.moved_to.front().hctx, from->events.moved_to.front().waits);
    f.summary = fmt::format("{} waits, {} changed hctx ({}){}: the wake-ups that they used up are "
                            "lost to the hctx they left.",
                            waits, moved, percent(ratio(moved, waits)), most);
    f.evidence = {{"waits", to_double(waits), "waits"}, {"waits_moved", to_double(moved), "waits"}};
    f.remedies.push_back("pin the submitting tasks (taskset, cpuset)");
}

void empty_runs(Context &c, const QueueStats &queue)
{
    const uint64_t runs = count_of(queue.counters, BT_C_runs);
    const uint64_t empty = count_of(queue.counters, BT_C_runs_empty);
    const uint64_t issues = queue.totals.issued.value_or(0);
    if (to_double(runs) < c.t.min_requests || issues == 0 ||
        ratio(runs, issues) < c.t.runs_per_request || ratio(empty, runs) < c.t.empty_share)
        return;
    Finding &f = c.add("empty_runs", c.at(queue), 0.85);
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.runs_empty; });
    f.summary =
        fmt::format("queue runs per request {}; {} empty; {} hctxs in front of scheduler {}.",
                    number(ratio(runs, issues)), percent(ratio(empty, runs)), queue.hctxs.size(),
                    queue.scheduler.empty() ? "(unknown)" : queue.scheduler);
    f.evidence = {{"runs_per_request", ratio(runs, issues), "runs"},
                  {"runs_empty_share", ratio(empty, runs), "share"},
                  {"runs", to_double(runs), "runs"},
                  {"issued", to_double(issues), "requests"},
                  {"hctxs", to_double(queue.hctxs.size()), "hctxs"}};
    f.remedies.push_back("echo none > /sys/block/" + queue.name + "/queue/scheduler");
}

} // namespace

void find_mapping(Context &c)
{
    for (const QueueStats &queue : c.s.queues) {
        unmapped(c, queue);
        imbalance(c, queue);
        moved(c, queue);
        empty_runs(c, queue);
    }
}

namespace {

void throttled(Context &c, const QueueStats &queue)
{
    const OtherWaits &w = queue.other[BT_OTHER_THROTTLE];
    const double share = ratio(w.total_ns.value_or(0), c.s.recording.duration_ns);
    if (to_double(w.count.value_or(0)) < c.t.min_waits || share < c.t.not_tags_share)
        return;
    Finding &f = c.add("throttled", c.at(queue), 0.9);
    f.summary =
        fmt::format("{} waits in write-back throttle, {} in all (on average {} tasks), {} in "
                    "tag waits: not tags.",
                    *w.count, format_duration(*w.total_ns), number(share),
                    queue.totals.submit_waits.value_or(0));
    f.evidence = {{"throttle_waits", to_double(*w.count), "waits"},
                  {"throttle_wait_time", to_double(*w.total_ns), "ns"},
                  {"tasks_mean", share, "tasks"},
                  {"submit_waits", to_double(queue.totals.submit_waits.value_or(0)), "waits"}};
    f.remedies.push_back("echo 0 > /sys/block/" + queue.name +
                         "/queue/wbt_lat_usec, to see whether "
                         "it is write-back throttling that helps or hurts");
}

void frozen(Context &c, const QueueStats &queue)
{
    const OtherWaits &enter = queue.other[BT_OTHER_ENTER];
    const OtherWaits &freeze = queue.other[BT_OTHER_FREEZE];
    const uint64_t total = enter.total_ns.value_or(0);
    if (enter.count.value_or(0) == 0 ||
        ratio(total, c.s.recording.duration_ns) < c.t.not_tags_share)
        return;
    const uint64_t tag_ns = queue.waits.total_ns.value_or(0);
    Finding &f = c.add("frozen", c.at(queue), 0.9);
    std::string who;
    if (freeze.longest_tid != 0)
        who = fmt::format(", frozen by tid {} ({})", freeze.longest_tid,
                          freeze.longest_comm.empty() ? "unknown" : freeze.longest_comm);
    f.summary =
        fmt::format("{} submissions waited {} before a frozen queue ({} of all waiting), {} "
                    "freezes{}: not tags.",
                    *enter.count, format_duration(total), percent(ratio(total, total + tag_ns)),
                    freeze.count.value_or(0), who);
    f.evidence = {{"enter_waits", to_double(*enter.count), "waits"},
                  {"enter_wait_time", to_double(total), "ns"},
                  {"freezes", to_double(freeze.count.value_or(0)), "calls"},
                  {"freeze_time", to_double(freeze.total_ns.value_or(0)), "ns"},
                  {"tag_wait_time", to_double(tag_ns), "ns"}};
    f.remedies.push_back("stop what writes the queue's attributes or switches its scheduler under "
                         "load");
}

void outliers(Context &c, const QueueStats &queue)
{
    if (!queue.latency || to_double(queue.latency->whole.count) < c.t.min_requests)
        return;
    const Distribution &device = queue.latency->at(Phase::device);
    const Distribution &whole = queue.latency->whole;
    const double device_p99 = to_double(device.quantile_ns(0.99).value_or(0));
    const double whole_p99 = to_double(whole.quantile_ns(0.99).value_or(0));
    const bool slow = to_double(device.max_ns) >= c.t.outlier_ns &&
                      to_double(device.max_ns) >= c.t.outlier_ratio * device_p99;
    const Distribution &queued = queue.latency->at(Phase::queued);
    const bool late = to_double(whole.max_ns) >= c.t.outlier_ns &&
                      to_double(whole.max_ns) >= c.t.outlier_ratio * whole_p99 &&
                      to_double(queued.max_ns) >= 0.8 * to_double(whole.max_ns);
    if (!slow && !late)
        return;
    Finding &f = c.add(slow ? "device_outlier" : "overtaken", c.at(queue), 0.7);
    f.summary =
        slow ? fmt::format("a request took {} at the device, 99 % took at most {}: not tags.",
                           format_duration(device.max_ns),
                           format_duration(static_cast<uint64_t>(device_p99)))
             : fmt::format("a request took {}, most of it queued ({}) while others passed it; "
                           "99 % took at most {}.",
                           format_duration(whole.max_ns), format_duration(queued.max_ns),
                           format_duration(static_cast<uint64_t>(whole_p99)));
    f.evidence = {{"device_max", to_double(device.max_ns), "ns"},
                  {"device_p99", device_p99, "ns"},
                  {"whole_max", to_double(whole.max_ns), "ns"},
                  {"whole_p99", whole_p99, "ns"},
                  {"queued_max", to_double(queued.max_ns), "ns"}};
    f.remedies.push_back(slow ? "look at the device's own log and error counters"
                              : "a scheduler with deadlines: echo mq-deadline > /sys/block/" +
                                    queue.name + "/queue/scheduler");
}

void slow_flush(Context &c, const QueueStats &queue)
{
    const OpStats *flush = nullptr;
    const OpStats *write = nullptr;
    uint64_t device_ns = 0;
    for (const OpStats &op : queue.ops) {
        device_ns += op.device.sum_ns;
        flush = op.op == BT_OP_FLUSH ? &op : flush;
        write = op.op == BT_OP_WRITE ? &op : write;
    }
    if (!flush || !write || to_double(flush->requests) < c.t.min_waits)
        return;
    const double flush_p50 = to_double(flush->device.quantile_ns(0.5).value_or(0));
    const double write_p50 = to_double(write->device.quantile_ns(0.5).value_or(0));
    const double share = ratio(flush->device.sum_ns, device_ns);
    if (flush_p50 < c.t.flush_ratio * write_p50 || share < c.t.flush_share)
        return;
    Finding &f = c.add("slow_flush", c.at(queue), 0.8);
    f.summary =
        fmt::format("{} flushes of {} (median) take {} of the device's time; writes take {}: "
                    "fsync waits for the cache, not for tags.",
                    flush->requests, format_duration(static_cast<uint64_t>(flush_p50)),
                    percent(share), format_duration(static_cast<uint64_t>(write_p50)));
    f.evidence = {{"flushes", to_double(flush->requests), "requests"},
                  {"flush_p50", flush_p50, "ns"},
                  {"write_p50", write_p50, "ns"},
                  {"flush_share", share, "share"}};
    f.remedies.push_back(
        "fewer fsync calls, or a device whose cache is safe: echo 'write through' > "
        "/sys/block/" +
        queue.name + "/queue/write_cache");
}

} // namespace

void find_lookalikes(Context &c)
{
    for (const QueueStats &queue : c.s.queues) {
        throttled(c, queue);
        frozen(c, queue);
        outliers(c, queue);
        slow_flush(c, queue);
    }
}

} // namespace blktag::diagnose
