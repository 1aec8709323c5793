// SPDX-License-Identifier: GPL-2.0-or-later
// One hctx's statistics, and sums of them. Input: Aggregate. Output: HctxStats.
#include "agg/build.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace blktag::agg {

namespace {

Waits waits_from(const std::array<CauseCell, BT_NR_CAUSES> &cells)
{
    Waits out;
    for (size_t i = 0; i < cells.size(); ++i) {
        CauseWaits &cause = out.by_cause[i];
        cause.time = cells[i].time.distribution();
        if (cause.time.count != 0 && cells[i].at_longest.depth != 0)
            cause.at_longest = cells[i].at_longest;
        cause.free_sum = cells[i].free_sum;
        cause.reads = cells[i].reads;
        cause.writes = cells[i].writes;
        out.time.merge(cause.time);
    }
    return out;
}

void build_io(HctxStats &out, const Aggregate &aggregate, uint16_t hctx_id, uint64_t start_ns)
{
    for (unsigned op = 0; op < BT_NR_OPS; ++op) {
        const IoCell *found = aggregate.io_cell(hctx_id, static_cast<bt_op>(op));
        if (!found)
            continue;
        const IoCell &cell = *found;
        if (const auto last = since_start(cell.last_put_ns, start_ns))
            out.events.last_put_ns = std::max(out.events.last_put_ns.value_or(0), *last);
        Latency latency;
        for (size_t i = 0; i < nr_phases; ++i)
            latency.phase[i] = cell.phase[i].distribution();
        latency.whole = cell.whole.distribution();
        std::optional<uint64_t> sequential;
        if (cell.recorded)
            sequential = std::min(cell.sequential, cell.requests);
        out.ops.push_back({.op = static_cast<bt_op>(cell.op),
                           .requests = cell.requests,
                           .bytes = cell.bytes,
                           .sequential = sequential,
                           .device = latency.at(Phase::device),
                           .whole = latency.whole});
        add_latency(out.latency, latency);
    }
}

void build_gauge(HctxStats &out, const HctxTrack &track, uint64_t start_ns)
{
    if (!track.samples)
        return;
    HctxGauge gauge;
    gauge.samples = track.samples;
    gauge.active_mean = track.active.mean(track.last.active);
    gauge.active_peak = track.active_peak;
    gauge.active_last = track.last.active;
    gauge.dispatch_busy_peak = track.dispatch_busy_peak;
    gauge.flags_last = track.last.flags;
    for (size_t bit = 0; bit < track.flag.size(); ++bit)
        gauge.flag_share[bit] = track.flag[bit].mean((track.last.flags >> bit) & 1U);
    for (size_t bit = 0; bit < track.flag_streak.size(); ++bit)
        gauge.flag_streak[bit] = track.flag_streak[bit].streak(start_ns);
    out.gauge = gauge;
}

void build_identity(HctxStats &out, const model::Topology &topology, uint16_t hctx_id)
{
    out.hctx_id = hctx_id;
    out.label = base::escape_terminal(topology.hctx_label(hctx_id));
    const model::HctxInfo *info = topology.hctx(hctx_id);
    if (!info)
        return;
    out.hctx_num = info->hctx_num;
    out.type = base::escape_terminal(info->type);
    out.cpus = info->cpus;
    out.space_id = info->space_id;
    out.sched_space_id = info->sched_space_id;
    out.queue_shared = info->flags & BT_IDF_QUEUE_SHARED;
    out.gone = info->gone;
    if (const model::SpaceInfo *space = topology.space(info->space_id)) {
        out.depth = space->depth;
        out.reserved_depth = space->reserved;
    } else if (info->nr_tags) {
        const uint32_t reserved = info->nr_reserved_tags.value_or(0);
        out.depth = *info->nr_tags > reserved ? *info->nr_tags - reserved : 0; // sysfs counts both
        out.reserved_depth = info->nr_reserved_tags;
    }
    if (const model::SpaceInfo *space = topology.space(info->sched_space_id))
        out.sched_depth = space->depth;
}

RerunGap gap_of(const Gap &gap, uint64_t start_ns)
{
    return {since_start(gap.from_ns, start_ns).value_or(0), gap.length_ns,
            static_cast<bt_status>(gap.status), gap.restarts_here, gap.restarts_elsewhere};
}

void build_events(HctxStats &out, const Aggregate &aggregate, const RareCell &rare,
                  uint64_t start_ns)
{
    const HctxWatch &watch = rare.watch;
    HctxEvents &events = out.events;
    events.last_run_ns = since_start(watch.last_run_ns, start_ns);
    events.last_restart_ns = since_start(watch.last_restart_ns, start_ns);
    if (watch.longest.from_ns != 0)
        events.rerun_longest = gap_of(watch.longest, start_ns);
    if (watch.open.from_ns != 0 && aggregate.counts().runs != 0) {
        Gap open = watch.open;
        open.length_ns =
            aggregate.last_ns() > open.from_ns ? aggregate.last_ns() - open.from_ns : 0;
        open.restarts_here = watch.restarts - open.restarts_here;
        const model::HctxInfo *info = aggregate.topology().hctx(out.hctx_id);
        const QueueCell *queue = info ? aggregate.queue_cell(info->queue_id) : nullptr;
        const uint64_t elsewhere = queue ? queue->restarts - watch.restarts : 0;
        open.restarts_elsewhere =
            elsewhere > open.restarts_elsewhere ? elsewhere - open.restarts_elsewhere : 0;
        events.rerun_open = gap_of(open, start_ns);
    }
    events.requeued = watch.requeued;
    events.requeues_most = watch.requeues_most;
    events.requeue_first_ns = since_start(watch.requeue_first_ns, start_ns);
    events.requeue_last_ns = since_start(watch.requeue_last_ns, start_ns);
    events.requeue_gap = watch.requeue_gap.distribution();
    for (const MovedCell &cell : rare.moved)
        if (cell.waits != 0)
            events.moved_to.push_back(
                {base::escape_terminal(aggregate.topology().hctx_label(cell.hctx_id)), cell.waits});
    std::stable_sort(events.moved_to.begin(), events.moved_to.end(),
                     [](const MovedTo &a, const MovedTo &b) { return a.waits > b.waits; });
}

} // namespace

std::optional<uint64_t> since_start(uint64_t ts_ns, uint64_t start_ns)
{
    if (ts_ns == 0)
        return std::nullopt;
    return ts_ns > start_ns ? ts_ns - start_ns : 0;
}

Counters counters_of(const CounterTrack *track, char scope, const std::set<std::string> &unmeasured)
{
    Counters out;
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i) {
        const auto counter = static_cast<bt_counter>(i);
        if (counter_scope(counter) != scope || !track || !track->seen() ||
            unmeasured.contains(std::string(counter_name(counter))))
            continue;
        out.value[i] = track->value(i);
    }
    return out;
}

Counters measured_zeros(const std::set<std::string> &unmeasured)
{
    Counters out;
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i)
        if (!unmeasured.contains(std::string(counter_name(static_cast<bt_counter>(i)))))
            out.value[i] = 0;
    return out;
}

void count_waits(Waits &submit, Waits &dispatch, const Counters &counters)
{
    submit.count = counters.get(BT_C_submit_waits);
    submit.total_ns = counters.get(BT_C_submit_wait_ns);
    submit.by_cause[BT_CAUSE_EXHAUSTED].count = counters.get(BT_C_waits_exhausted);
    submit.by_cause[BT_CAUSE_FAIR_SHARE].count = counters.get(BT_C_waits_fair_share);
    submit.by_cause[BT_CAUSE_SCHED_DEPTH].count = counters.get(BT_C_waits_sched_depth);
    submit.by_cause[BT_CAUSE_RESERVED].count = counters.get(BT_C_waits_reserved);
    submit.by_cause[BT_CAUSE_STUCK].count = counters.get(BT_C_waits_stuck);
    dispatch.count = counters.get(BT_C_dispatch_waits);
    dispatch.total_ns = counters.get(BT_C_dispatch_wait_ns);
    dispatch.by_cause[BT_CAUSE_FAIR_SHARE].count = counters.get(BT_C_dispatch_waits_fair_share);
}

void build_hctx(HctxStats &out, const Aggregate &aggregate, uint16_t hctx_id,
                const std::set<std::string> &unmeasured, uint64_t start_ns)
{
    build_identity(out, aggregate.topology(), hctx_id);
    const auto &counters = aggregate.hctx_counters();
    out.counters =
        counters_of(hctx_id < counters.size() ? &counters[hctx_id] : nullptr, 'H', unmeasured);
    out.totals = totals_of(out.counters);
    build_io(out, aggregate, hctx_id, start_ns);
    if (const RareCell *rare = aggregate.rare(hctx_id)) {
        out.waits = waits_from(rare->waits);
        out.dispatch_waits = waits_from(rare->dispatch_waits);
        out.runs.duration = rare->run_duration.distribution();
        out.runs.restart_delay = rare->restart_delay.distribution();
        out.runs.asked_delay = rare->asked_delay.distribution();
        out.runs.issued_by_runs = rare->issued_by_runs;
        build_events(out, aggregate, *rare, start_ns);
    }
    count_waits(out.waits, out.dispatch_waits, out.counters);
    if (hctx_id < aggregate.hctx_tracks().size())
        build_gauge(out, aggregate.hctx_tracks()[hctx_id], start_ns);
}

void add_waits(Waits &into, const Waits &from)
{
    for (size_t i = 0; i < into.by_cause.size(); ++i) {
        CauseWaits &to = into.by_cause[i];
        const CauseWaits &add = from.by_cause[i];
        if (add.at_longest && (!to.at_longest || add.time.max_ns > to.time.max_ns))
            to.at_longest = add.at_longest;
        to.time.merge(add.time);
        to.free_sum += add.free_sum;
        to.reads += add.reads;
        to.writes += add.writes;
    }
    into.time.merge(from.time);
    into.open += from.open;
    into.open_longest_ns = std::max(into.open_longest_ns, from.open_longest_ns);
}

void add_latency(std::optional<Latency> &into, const std::optional<Latency> &from)
{
    if (!from)
        return;
    if (!into) {
        into = from;
        return;
    }
    for (size_t i = 0; i < nr_phases; ++i)
        into->phase[i].merge(from->phase[i]);
    into->whole.merge(from->whole);
}

void add_ops(std::vector<OpStats> &into, const std::vector<OpStats> &from)
{
    for (const OpStats &add : from) {
        const auto at = std::lower_bound(into.begin(), into.end(), add.op,
                                         [](const OpStats &o, bt_op op) { return o.op < op; });
        if (at == into.end() || at->op != add.op) {
            into.insert(at, add);
            continue;
        }
        at->requests += add.requests;
        at->bytes += add.bytes;
        if (add.sequential)
            at->sequential = at->sequential.value_or(0) + *add.sequential;
        at->device.merge(add.device);
        at->whole.merge(add.whole);
    }
}

void add_runs(RunStats &into, const RunStats &from)
{
    into.duration.merge(from.duration);
    into.restart_delay.merge(from.restart_delay);
    into.asked_delay.merge(from.asked_delay);
    into.issued_by_runs += from.issued_by_runs;
}

} // namespace blktag::agg
