// SPDX-License-Identifier: GPL-2.0-or-later
// Queues and tag sets with their hctxs and spaces. Input: Aggregate. Output: Snapshot::queues, sets
// and the totals.
#include "agg/build.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <map>

namespace blktag::agg {

namespace {

constexpr size_t max_sharing_named = 8; // SetStats::queues has them all

std::vector<std::string> escaped(const std::vector<std::string> &names)
{
    std::vector<std::string> out;
    for (const std::string &name : names)
        out.push_back(base::escape_terminal(name));
    return out;
}

void build_identity(QueueStats &out, const model::Topology &topology, uint16_t queue_id)
{
    out.queue_id = queue_id;
    out.name = base::escape_terminal(topology.queue_label(queue_id));
    const model::QueueInfo *info = topology.queue(queue_id);
    if (!info)
        return;
    out.dev = model::Topology::dev_text(info->dev);
    out.driver = base::escape_terminal(info->driver);
    out.scheduler = base::escape_terminal(info->scheduler);
    out.generation = info->generation;
    out.gone = info->gone;
    out.offers_queue_rqs = info->flags & BT_IDF_QUEUE_RQS;
    out.offers_poll = info->flags & BT_IDF_POLL;
    out.has_budget = info->flags & BT_IDF_BUDGET;
    out.nr_requests = info->nr_requests;
    out.async_depth = info->async_depth;
    out.nr_hw_queues = info->nr_hw_queues;
    out.lun_depth = info->lun_depth;
    out.set_id = info->set_id;
    out.slaves = escaped(info->slaves);
    out.holders = escaped(info->holders);
    if (info->set_id == BT_NO_ID)
        return;
    for (const model::QueueInfo &other : topology.queues()) {
        if (!other.known || other.gone || other.id == queue_id || other.set_id != info->set_id)
            continue;
        ++out.nr_sharing;
        if (out.shares_with.size() < max_sharing_named)
            out.shares_with.push_back(base::escape_terminal(topology.queue_label(other.id)));
    }
}

// Numbers inside names compare as numbers: nvme2n1 comes before nvme10n1.
bool natural_less(std::string_view a, std::string_view b)
{
    const auto digit = [](char c) {
        return c >= '0' && c <= '9';
    };
    size_t i = 0;
    size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (!digit(a[i]) || !digit(b[j])) {
            if (a[i] != b[j])
                return a[i] < b[j];
            ++i;
            ++j;
            continue;
        }
        const size_t i_end = std::min(a.find_first_not_of("0123456789", i), a.size());
        const size_t j_end = std::min(b.find_first_not_of("0123456789", j), b.size());
        if (i_end - i != j_end - j)
            return i_end - i < j_end - j;
        if (const int order = a.substr(i, i_end - i).compare(b.substr(j, j_end - j)); order != 0)
            return order < 0;
        i = i_end;
        j = j_end;
    }
    return a.size() - i < b.size() - j;
}

// Why queue_rqs carried no request, by what the kernel's own test looks at.
std::string batches_unused_why(const QueueStats &queue, const model::QueueInfo *info)
{
    if (!info || queue.totals.batches.value_or(1) != 0 || queue.totals.issued.value_or(0) == 0)
        return {};
    if (!(info->flags & BT_IDF_QUEUE_RQS))
        return "the driver offers none";
    if (info->flags & BT_IDF_ELEVATOR)
        return "scheduler set";
    const bool shared = std::any_of(queue.hctxs.begin(), queue.hctxs.end(),
                                    [](const HctxStats &h) { return h.queue_shared; });
    if (shared)
        return "tag set shared";
    const auto direct = queue.counters.get(BT_C_direct_issues);
    if (direct && *direct != 0 && *direct >= *queue.totals.issued / 2)
        return "no plug: requests were issued one by one";
    return "no plug held two requests for it";
}

void build_other(QueueStats &out)
{
    static constexpr bt_counter counts[] = {BT_C_throttle_waits, BT_C_enter_waits, BT_C_freezes};
    static constexpr bt_counter times[] = {BT_C_throttle_wait_ns, BT_C_enter_wait_ns,
                                           BT_C_freeze_ns};
    for (size_t i = 0; i < out.other.size(); ++i) {
        out.other[i].count = out.counters.get(counts[i]);
        out.other[i].total_ns = out.counters.get(times[i]);
    }
}

// Every hctx that anything was heard of, by queue; BT_NO_ID = of no known queue.
std::map<uint16_t, std::vector<uint16_t>> hctxs_by_queue(const Aggregate &aggregate)
{
    std::set<uint16_t> ids;
    for (const model::HctxInfo &hctx : aggregate.topology().hctxs())
        if (hctx.known)
            ids.insert(hctx.id);
    for (const IoCell &cell : aggregate.io_cells())
        if (cell.requests != 0)
            ids.insert(cell.hctx_id);
    const auto seen = [&ids](const auto &tracks, const auto &used) {
        for (size_t id = 0; id < tracks.size(); ++id)
            if (used(tracks[id]))
                ids.insert(static_cast<uint16_t>(id));
    };
    seen(aggregate.hctx_counters(), [](const CounterTrack &t) { return t.seen(); });
    seen(aggregate.hctx_tracks(), [](const HctxTrack &t) { return t.samples != 0; });
    for (uint16_t id = 0; id < model::max_ids; ++id)
        if (aggregate.rare(id))
            ids.insert(id);
    const RareCell *nowhere = aggregate.rare(BT_NO_ID);
    for (size_t i = 0; nowhere && i < nowhere->waits.size(); ++i)
        if (!nowhere->waits[i].time.empty() || !nowhere->dispatch_waits[i].time.empty())
            ids.insert(BT_NO_ID);
    std::map<uint16_t, std::vector<uint16_t>> out;
    for (const uint16_t id : ids) {
        const model::HctxInfo *info = aggregate.topology().hctx(id);
        out[info ? info->queue_id : static_cast<uint16_t>(BT_NO_ID)].push_back(id);
    }
    return out;
}

QueueStats build_queue(const Snapshot &snapshot, const Aggregate &aggregate, uint16_t queue_id,
                       const std::vector<uint16_t> &hctx_ids,
                       const std::set<std::string> &unmeasured)
{
    QueueStats queue;
    build_identity(queue, aggregate.topology(), queue_id);
    const auto &tracks = aggregate.queue_counters();
    queue.counters =
        counters_of(queue_id < tracks.size() ? &tracks[queue_id] : nullptr, 'Q', unmeasured);
    for (const uint16_t id : hctx_ids) {
        HctxStats &hctx = queue.hctxs.emplace_back();
        build_hctx(hctx, aggregate, id, unmeasured, snapshot.recording.start_mono_ns);
        queue.counters.add(hctx.counters);
        add_waits(queue.waits, hctx.waits);
        add_waits(queue.dispatch_waits, hctx.dispatch_waits);
        add_latency(queue.latency, hctx.latency);
        add_ops(queue.ops, hctx.ops);
        add_runs(queue.runs, hctx.runs);
    }
    std::stable_sort(
        queue.hctxs.begin(), queue.hctxs.end(),
        [](const HctxStats &a, const HctxStats &b) { return a.hctx_num < b.hctx_num; });
    // An hctx that the recorder had no counters for yet counts as 0 where others were counted.
    if (queue_id != BT_NO_ID)
        queue.counters.add(measured_zeros(unmeasured));
    queue.totals = totals_of(queue.counters);
    count_waits(queue.waits, queue.dispatch_waits, queue.counters);
    build_other(queue);
    if (const QueueCell *cell = aggregate.queue_cell(queue_id)) {
        queue.budget = cell->budget;
        queue.budget.last_refused_ns =
            since_start(cell->last_refused_ns, snapshot.recording.start_mono_ns);
        queue.budget.last_returned_ns =
            since_start(cell->last_returned_ns, snapshot.recording.start_mono_ns);
        for (size_t i = 0; i < queue.other.size(); ++i) {
            queue.other[i].time = cell->other[i].distribution();
            queue.other[i].longest_tid = cell->other_longest_tid[i];
            queue.other[i].longest_comm =
                comm_of(aggregate, cell->other_longest_tid[i], cell->other_longest_ns[i]);
        }
    }
    set_rates(queue, snapshot.recording.duration_ns);
    queue.batches_unused_why = batches_unused_why(queue, aggregate.topology().queue(queue_id));
    return queue;
}

SpaceGauge gauge_from(const SpaceTrack &track, uint64_t start_ns)
{
    SpaceGauge out;
    out.samples = track.samples;
    out.held_mean = track.held.mean(track.last.held);
    out.held_first = track.first.held;
    out.held_last = track.last.held;
    out.held_peak = track.held_peak;
    out.depth = track.last.depth;
    out.full_share = track.full.mean(track.last.depth != 0 && track.last.held >= track.last.depth);
    out.in_flight_mean = track.in_flight.mean(track.last.in_flight);
    out.in_flight_peak = track.in_flight_peak;
    out.waiters_peak = track.waiters_peak;
    out.users_peak = track.users_peak;
    out.wake_batch = track.last.wake_batch;
    if (track.last.wakes_due != UINT32_MAX)
        out.wakes_due_last = track.last.wakes_due;
    out.oldest_held_ns = track.oldest_held_ns;
    out.in_flight_last = track.last.in_flight;
    out.waiters_last = track.last.waiters;
    out.cleared_last = track.last.cleared;
    out.waiters_while_free = track.waiters_while_free.streak(start_ns);
    if (track.last.oldest_get_ns != 0 && track.last.oldest_get_ns < track.last.h.ts_ns)
        out.oldest_held_last_ns = track.last.h.ts_ns - track.last.oldest_get_ns;
    return out;
}

} // namespace

void build_queues(Snapshot &out, const Aggregate &aggregate,
                  const std::set<std::string> &unmeasured)
{
    auto hctxs = hctxs_by_queue(aggregate);
    for (const model::QueueInfo &queue : aggregate.topology().queues())
        if (queue.known)
            hctxs.try_emplace(queue.id);
    for (size_t id = 0; id < aggregate.queue_counters().size(); ++id)
        if (aggregate.queue_counters()[id].seen())
            hctxs.try_emplace(static_cast<uint16_t>(id));
    for (uint16_t id = 0; id < model::max_ids; ++id)
        if (aggregate.queue_cell(id))
            hctxs.try_emplace(id);
    for (const auto &[queue_id, ids] : hctxs)
        out.queues.push_back(build_queue(out, aggregate, queue_id, ids, unmeasured));
    std::stable_sort(
        out.queues.begin(), out.queues.end(),
        [](const QueueStats &a, const QueueStats &b) { return natural_less(a.name, b.name); });
    out.counters = measured_zeros(unmeasured);
    for (const QueueStats &queue : out.queues) {
        out.counters.add(queue.counters);
        add_waits(out.waits, queue.waits);
        add_waits(out.dispatch_waits, queue.dispatch_waits);
        add_latency(out.latency, queue.latency);
        add_ops(out.ops, queue.ops);
        add_runs(out.runs, queue.runs);
        for (size_t i = 0; i < out.other.size(); ++i) {
            out.other[i].time.merge(queue.other[i].time);
            if (queue.other[i].count)
                out.other[i].count = out.other[i].count.value_or(0) + *queue.other[i].count;
            if (queue.other[i].total_ns)
                out.other[i].total_ns =
                    out.other[i].total_ns.value_or(0) + *queue.other[i].total_ns;
        }
    }
    out.totals = totals_of(out.counters);
    count_waits(out.waits, out.dispatch_waits, out.counters);
    set_rates(out, out.recording.duration_ns);
}

void build_sets(Snapshot &out, const Aggregate &aggregate)
{
    const model::Topology &topology = aggregate.topology();
    std::map<uint16_t, SetStats> sets;
    std::set<uint16_t> spaces;
    for (const model::SpaceInfo &space : topology.spaces())
        if (space.known)
            spaces.insert(space.id);
    for (size_t id = 0; id < aggregate.spaces().size(); ++id)
        if (aggregate.spaces()[id].samples)
            spaces.insert(static_cast<uint16_t>(id));
    struct User {
        std::vector<std::string> hctxs;
        uint16_t set_id = BT_NO_ID;
    };
    std::map<uint16_t, User> users;
    for (const QueueStats &queue : out.queues)
        for (const HctxStats &hctx : queue.hctxs)
            for (const uint16_t id : {hctx.space_id, hctx.sched_space_id})
                if (id != BT_NO_ID) {
                    users[id].hctxs.push_back(hctx.label);
                    users[id].set_id = queue.set_id;
                }
    for (const uint16_t id : spaces) {
        SpaceStats stats;
        stats.space_id = id;
        if (const model::SpaceInfo *info = topology.space(id)) {
            stats.set_id = info->set_id;
            stats.sched = info->flags & BT_IDF_SCHED;
            stats.hctx_shared = info->flags & BT_IDF_HCTX_SHARED;
            stats.depth = info->depth;
            stats.reserved_depth = info->reserved;
        }
        if (const auto user = users.find(id); user != users.end()) {
            stats.hctxs = user->second.hctxs;
            if (stats.set_id == BT_NO_ID)
                stats.set_id = user->second.set_id;
        }
        if (id < aggregate.spaces().size() && aggregate.spaces()[id].samples)
            stats.gauge = gauge_from(aggregate.spaces()[id], out.recording.start_mono_ns);
        SetStats &set = sets[stats.set_id];
        set.set_id = stats.set_id;
        set.hctx_shared |= stats.hctx_shared && !stats.sched;
        set.spaces.push_back(std::move(stats));
    }
    for (const QueueStats &queue : out.queues)
        if (queue.set_id != BT_NO_ID && sets.contains(queue.set_id))
            sets[queue.set_id].queues.push_back(queue.name);
    for (auto &[id, set] : sets)
        out.sets.push_back(std::move(set));
}

} // namespace blktag::agg
