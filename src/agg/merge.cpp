// SPDX-License-Identifier: GPL-2.0-or-later
// Joining what two pieces of one recording counted. Input: two Aggregates, the later one second.
// Output: their sum.
#include "agg/aggregate.hpp"

#include <algorithm>

namespace blktag::agg {

namespace {

void merge_causes(std::array<CauseCell, BT_NR_CAUSES> &into,
                  const std::array<CauseCell, BT_NR_CAUSES> &from, Budget &budget)
{
    for (size_t i = 0; i < into.size(); ++i) {
        if (from[i].time.empty())
            continue;
        if (into[i].time.empty() || from[i].time.max_ns() > into[i].time.max_ns())
            into[i].at_longest = from[i].at_longest;
        into[i].time.merge(from[i].time, budget);
        into[i].free_sum += from[i].free_sum;
        into[i].reads += from[i].reads;
        into[i].writes += from[i].writes;
    }
}

void merge_rare(RareCell &into, const RareCell &from, Budget &budget)
{
    merge_causes(into.waits, from.waits, budget);
    merge_causes(into.dispatch_waits, from.dispatch_waits, budget);
    into.run_duration.merge(from.run_duration, budget);
    into.restart_delay.merge(from.restart_delay, budget);
    into.asked_delay.merge(from.asked_delay, budget);
    into.issued_by_runs += from.issued_by_runs;
    into.watch.merge(from.watch, budget);
    for (const MovedCell &cell : from.moved)
        if (cell.waits != 0)
            add_moved(into.moved, cell.hctx_id, cell.waits);
}

void merge_queue(QueueCell &into, const QueueCell &from, Budget &budget)
{
    for (size_t i = 0; i < into.other.size(); ++i) {
        if (from.other[i].max_ns() > into.other[i].max_ns()) {
            into.other_longest_tid[i] = from.other_longest_tid[i];
            into.other_longest_ns[i] = from.other_longest_ns[i];
        }
        into.other[i].merge(from.other[i], budget);
    }
    into.restarts += from.restarts;
    into.last_refused_ns = std::max(into.last_refused_ns, from.last_refused_ns);
    into.last_returned_ns = std::max(into.last_returned_ns, from.last_returned_ns);
    into.budget.refused_recorded += from.budget.refused_recorded;
    into.budget.returned_recorded += from.budget.returned_recorded;
    into.budget.blocked += from.budget.blocked;
    into.budget.in_use_peak = std::max(into.budget.in_use_peak, from.budget.in_use_peak);
    if (from.budget.refused_recorded + from.budget.returned_recorded) {
        into.budget.limit = from.budget.limit;
        into.budget.in_use_last = from.budget.in_use_last;
    }
}

void merge_counts(RecordCounts &into, const RecordCounts &from)
{
    into.waits += from.waits;
    into.waits_won += from.waits_won;
    into.dwaits += from.dwaits;
    into.restarts += from.restarts;
    into.runs += from.runs;
    into.arms += from.arms;
    into.refusals += from.refusals;
    into.requeues += from.requeues;
    into.batches += from.batches;
    into.budget_refused += from.budget_refused;
    into.budget_returned += from.budget_returned;
    into.other += from.other;
    into.gauges += from.gauges;
    into.hgauges += from.hgauges;
    into.counters += from.counters;
    into.counters_inside += from.counters_inside;
    into.all += from.all;
}

void merge_anomalies(Anomalies &into, const Anomalies &from)
{
    into.time_backwards += from.time_backwards;
    into.absurd += from.absurd;
    into.counter_backwards += from.counter_backwards;
    into.orphans += from.orphans;
    into.unused += from.unused;
    into.undetailed += from.undetailed;
    into.unparsed_topology += from.unparsed_topology;
    into.tasks_summed += from.tasks_summed;
}

} // namespace

void Aggregate::merge_io(const Aggregate &later)
{
    for (const IoCell &from : later.io_cells_) {
        if (from.requests == 0)
            continue;
        const uint32_t index = io_cell_index(from.hctx_id, from.op);
        IoCell &into = io_cells_[index];
        into.requests += from.requests;
        into.recorded |= from.recorded;
        into.bytes += from.bytes;
        into.sequential += from.sequential;
        into.neighbours = from.neighbours;
        into.last_put_ns = std::max(into.last_put_ns, from.last_put_ns);
        for (size_t i = 0; i < nr_phases; ++i)
            into.phase[i].merge(from.phase[i], budget_);
        into.whole.merge(from.whole, budget_);
    }
}

void Aggregate::merge_tasks(const Aggregate &later)
{
    if (!later.task_sums_.empty())
        task_sums_[0].add(later.task_sums_[0]);
    const std::vector<model::Task> &tasks = later.tasks_.tasks();
    for (size_t i = 1; i < tasks.size(); ++i) {
        if (tasks_.full())
            shrink_tasks();
        const uint32_t index = tasks_.adopt(tasks[i]);
        if (index >= task_sums_.size())
            task_sums_.resize(size_t{index} + 1);
        if (i < later.task_sums_.size())
            task_sums_[index].add(later.task_sums_[i]);
    }
}

void Aggregate::merge_tables(const Aggregate &later)
{
    for (size_t id = 0; id < later.rare_.size(); ++id)
        if (later.rare_[id])
            merge_rare(rare_for(static_cast<uint16_t>(id)), *later.rare_[id], budget_);
    merge_rare(rare_elsewhere_, later.rare_elsewhere_, budget_);
    for (size_t id = 0; id < later.queue_cells_.size(); ++id)
        if (later.queue_cells_[id])
            merge_queue(*queue_for(static_cast<uint16_t>(id)), *later.queue_cells_[id], budget_);
    const auto merge_counters = [this](auto &into, const auto &from) {
        into.resize(std::max(into.size(), from.size()));
        for (size_t id = 0; id < from.size(); ++id)
            anomalies_.counter_backwards += into[id].merge(from[id]);
    };
    const auto merge_tracks = [this](auto &into, const auto &from) {
        into.resize(std::max(into.size(), from.size()));
        for (size_t id = 0; id < from.size(); ++id)
            anomalies_.time_backwards += !into[id].merge(from[id]);
    };
    merge_counters(hctx_counters_, later.hctx_counters_);
    merge_counters(queue_counters_, later.queue_counters_);
    merge_tracks(spaces_, later.spaces_);
    merge_tracks(hctx_tracks_, later.hctx_tracks_);
}

void Aggregate::merge(const Aggregate &later)
{
    topology_.merge(later.topology_);
    merge_io(later);
    merge_tasks(later);
    merge_tables(later);
    for (const OpenRecord &open : later.open_waits_)
        add_open(open.dispatch, open.wait);
    merge_counts(counts_, later.counts_);
    merge_anomalies(anomalies_, later.anomalies_);
    timeline_.merge(later.timeline_);
    budget_.undetailed += later.budget_.undetailed;
    first_ns_ = std::min(first_ns_, later.first_ns_);
    last_ns_ = std::max(last_ns_, later.last_ns_);
    last_counters_ns_ = std::max(last_counters_ns_, later.last_counters_ns_);
}

} // namespace blktag::agg
