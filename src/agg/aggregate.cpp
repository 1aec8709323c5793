// SPDX-License-Identifier: GPL-2.0-or-later
// Counting batches. Input: Batch. Output: Aggregate's sums.
#include "agg/aggregate.hpp"

#include "blktag/knobs.h"

#include <algorithm>
#include <bit>

namespace blktag::agg {

namespace {

constexpr size_t max_open_waits = 32;
constexpr uint32_t max_pool = 1U << 16; // a depth or count of tags beyond this is no kernel's

// The kernel's histograms are numbered like ours (knobs.h).
static_assert(LogAxis::size() + 1 == BT_HIST_BINS);
static_assert(static_cast<int>(Phase::submit_wait) == BT_H_SUBMIT_WAIT &&
              static_cast<int>(Phase::queued) == BT_H_QUEUED &&
              static_cast<int>(Phase::dispatch_wait) == BT_H_DISPATCH_WAIT &&
              static_cast<int>(Phase::device) == BT_H_DEVICE &&
              static_cast<int>(Phase::completion) == BT_H_COMPLETION && nr_phases == BT_H_WHOLE);

template<typename T>
T &at_id(std::vector<T> &table, uint16_t id)
{
    if (id >= table.size())
        table.resize(size_t{id} + 1);
    return table[id];
}

unsigned heat_row(uint64_t ns)
{
    const unsigned bit = ns ? 63U - static_cast<unsigned>(std::countl_zero(ns)) : 0;
    return std::min<unsigned>(bit, heat_rows - 1);
}

} // namespace

void add_moved(MovedCells &cells, uint16_t hctx_id, uint64_t waits)
{
    for (MovedCell &cell : cells) {
        if (cell.waits != 0 && cell.hctx_id != hctx_id)
            continue;
        cell.hctx_id = hctx_id;
        cell.waits += waits;
        return;
    }
}

void TaskSums::on_queue(uint16_t queue_id, uint32_t added, uint64_t added_wait_ns)
{
    for (TaskQueueCell &cell : queues) {
        if (cell.queue_id != queue_id && cell.queue_id != BT_NO_ID)
            continue;
        cell.queue_id = queue_id;
        cell.requests += added;
        cell.wait_ns += added_wait_ns;
        return;
    }
}

void TaskSums::add(const TaskSums &other)
{
    requests += other.requests;
    bytes += other.bytes;
    held_ns += other.held_ns;
    held_longest_ns = std::max(held_longest_ns, other.held_longest_ns);
    waits += other.waits;
    wait_ns += other.wait_ns;
    wait_longest_ns = std::max(wait_longest_ns, other.wait_longest_ns);
    runnable_ns += other.runnable_ns;
    other_waits += other.other_waits;
    other_wait_ns += other.other_wait_ns;
    for (size_t i = 0; i < waits_by_cause.size(); ++i)
        waits_by_cause[i] += other.waits_by_cause[i];
    for (const TaskQueueCell &cell : other.queues)
        if (cell.queue_id != BT_NO_ID)
            on_queue(cell.queue_id, cell.requests, cell.wait_ns);
}

Aggregate::Aggregate(Window window, Limits limits)
    : window_(window), limits_(limits), task_sums_(1),
      io_index_(size_t{model::max_ids} * BT_NR_OPS), timeline_(limits.slice_ns, limits.max_slices)
{
    budget_.histograms_left = limits.histograms;
    io_cells_.resize(BT_NR_OPS);
    for (uint8_t op = 0; op < BT_NR_OPS; ++op)
        io_cells_[op].op = op;
}

uint64_t Aggregate::span(uint64_t from_ns, uint64_t to_ns)
{
    if (from_ns > to_ns) {
        ++anomalies_.time_backwards;
        return 0;
    }
    if (to_ns - from_ns > model::max_duration_ns) {
        ++anomalies_.absurd;
        return 0;
    }
    return to_ns - from_ns;
}

bool Aggregate::take(uint64_t ts_ns)
{
    if (!window_.has(ts_ns))
        return false;
    first_ns_ = std::min(first_ns_, ts_ns);
    last_ns_ = std::max(last_ns_, ts_ns);
    ++counts_.all;
    return true;
}

void Aggregate::start(const TraceInfo &info)
{
    timeline_.start(std::max(info.start_mono_ns, window_.from_ns));
    if (!info.topology_json.empty())
        anomalies_.unparsed_topology += !topology_.apply_json(info.topology_json);
}

void Aggregate::add(const Batch &batch)
{
    for (const std::string &json : batch.topology_json)
        anomalies_.unparsed_topology += !topology_.apply_json(json);
    for (const bt_ident_rec &ident : batch.idents)
        topology_.apply(ident);
    topology_.settle();
    for (const bt_task &task : batch.tasks) {
        if (tasks_.full())
            shrink_tasks();
        tasks_.apply(task);
    }
    task_sums_.resize(tasks_.tasks().size());
    add_ios(batch.io);
    add_waits(batch);
    add_runs(batch);
    add_rest(batch);
    add_gauges(batch);
    for (const CounterSnapshot &snapshot : batch.counters)
        add_counters(snapshot);
    for (const HistogramDelta &delta : batch.histograms)
        if (take(delta.ts_ns))
            add_histograms(delta);
    if (!batch.moments.empty())
        moment_ = batch.moments.back();
}

uint32_t Aggregate::make_io_cell(uint16_t hctx_id, uint8_t op)
{
    if (hctx_id >= model::max_ids) {
        anomalies_.absurd += hctx_id != BT_NO_ID;
        return op;
    }
    if (io_cells_.size() >= size_t{limits_.io_cells} + BT_NR_OPS) {
        ++budget_.undetailed;
        return op;
    }
    const auto index = static_cast<uint32_t>(io_cells_.size());
    io_cells_.emplace_back();
    io_cells_.back().hctx_id = hctx_id;
    io_cells_.back().op = op;
    io_index_[size_t{hctx_id} * BT_NR_OPS + op] = index;
    return index;
}

uint32_t Aggregate::io_cell_index(uint16_t hctx_id, uint8_t op)
{
    const uint8_t known_op = op < BT_NR_OPS ? op : static_cast<uint8_t>(BT_OP_OTHER);
    if (hctx_id < model::max_ids) [[likely]]
        if (const uint32_t index = io_index_[size_t{hctx_id} * BT_NR_OPS + known_op]) [[likely]]
            return index;
    return make_io_cell(hctx_id, known_op);
}

TaskSums &Aggregate::sums_slow(uint32_t tid, uint64_t when_ns)
{
    shrink_tasks();
    const uint32_t index = tasks_.find(tid, when_ns);
    if (index >= task_sums_.size())
        task_sums_.resize(size_t{index} + 1);
    return task_sums_[index];
}

inline TaskSums &Aggregate::sums_of(uint32_t tid, uint64_t when_ns)
{
    const uint32_t index = tasks_.find(tid, when_ns);
    if (index == 0 && tasks_.full()) [[unlikely]]
        return sums_slow(tid, when_ns);
    if (index >= task_sums_.size()) [[unlikely]]
        task_sums_.resize(size_t{index} + 1);
    return task_sums_[index];
}

// Folds the half of the tasks that held and waited least into [0]: the top of either list stays
// right unless a task would have climbed there from below the middle.
void Aggregate::shrink_tasks()
{
    task_sums_.resize(tasks_.tasks().size());
    const size_t tasks = task_sums_.size();
    std::vector<uint64_t> weight(tasks);
    for (size_t i = 0; i < tasks; ++i)
        weight[i] = std::max(task_sums_[i].held_ns, task_sums_[i].wait_ns);
    std::vector<uint32_t> order(tasks - 1);
    for (size_t i = 1; i < tasks; ++i)
        order[i - 1] = static_cast<uint32_t>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
    std::vector<bool> keep(tasks, false);
    for (size_t i = 0; i < order.size() / 2; ++i)
        keep[order[i]] = true;
    const std::vector<uint32_t> moved = tasks_.keep_only(keep);
    std::vector<TaskSums> sums(tasks_.tasks().size());
    for (size_t old = 0; old < tasks; ++old) {
        if (old != 0 && moved[old] == 0)
            ++anomalies_.tasks_summed;
        sums[moved[old]].add(task_sums_[old]);
    }
    task_sums_ = std::move(sums);
}

void Aggregate::add_io(const bt_io_long &io)
{
    const model::Life life = model::split(io);
    if (life.backwards) [[unlikely]]
        ++anomalies_.time_backwards;
    if (life.kind == model::LifeKind::incomplete || life.kind == model::LifeKind::absurd)
        [[unlikely]] {
        ++(life.kind == model::LifeKind::absurd ? anomalies_.absurd : anomalies_.orphans);
        return;
    }
    TaskSums &task = sums_of(io.tid, io.get_ns);
    task.held_ns += life.held_ns;
    task.held_longest_ns = std::max(task.held_longest_ns, life.held_ns);
    if (life.kind == model::LifeKind::unused) [[unlikely]] {
        ++anomalies_.unused;
        return;
    }
    ++task.requests;
    task.bytes += io.bytes;
    if (io.op >= BT_NR_OPS) [[unlikely]]
        ++anomalies_.absurd;
    IoCell &cell = io_cells_[io_cell_index(io.hctx_id, io.op)];
    ++cell.requests;
    cell.recorded = true;
    cell.bytes += io.bytes;
    cell.last_put_ns = std::max(cell.last_put_ns, io.h.ts_ns);
    if (io.bytes != 0)
        cell.sequential += cell.neighbours.add(io.sector, io.bytes);
    for (size_t i = 0; i < nr_phases; ++i)
        cell.phase[i].fill(life.phase_ns[i], budget_);
    cell.whole.fill(life.whole_ns, budget_);
    const uint64_t device_ns = life.phase_ns[static_cast<size_t>(Phase::device)];
    Slice &slice = timeline_.hctx(cell.hctx_id, io.h.ts_ns);
    ++slice.requests;
    slice.bytes += io.bytes;
    slice.device_ns += device_ns;
    slice.whole_ns += life.whole_ns;
    ++timeline_.heat(io.h.ts_ns).device[heat_row(device_ns)];
    if (const model::HctxInfo *hctx = topology_.hctx(io.hctx_id))
        task.on_queue(hctx->queue_id, 1, 0);
}

void Aggregate::add_ios(const std::vector<bt_io_long> &ios)
{
    uint64_t first_ns = first_ns_;
    uint64_t last_ns = last_ns_;
    uint64_t taken = 0;
    const Window window = window_;
    for (const bt_io_long &io : ios) {
        if (!window.has(io.h.ts_ns))
            continue;
        first_ns = std::min(first_ns, io.h.ts_ns);
        last_ns = std::max(last_ns, io.h.ts_ns);
        ++taken;
        add_io(io);
    }
    first_ns_ = first_ns;
    last_ns_ = last_ns;
    counts_.all += taken;
}

RareCell &Aggregate::rare_for(uint16_t hctx_id)
{
    if (hctx_id >= model::max_ids) {
        anomalies_.absurd += hctx_id != BT_NO_ID;
        return rare_elsewhere_;
    }
    std::unique_ptr<RareCell> &cell = at_id(rare_, hctx_id);
    if (!cell)
        cell = std::make_unique<RareCell>();
    return *cell;
}

void Aggregate::add_open(bool dispatch, const bt_wait &wait)
{
    open_waits_.push_back({dispatch, wait});
    if (open_waits_.size() <= max_open_waits)
        return;
    const auto age = [](const OpenRecord &o) {
        return o.wait.h.ts_ns - o.wait.start_ns;
    };
    const auto shortest =
        std::min_element(open_waits_.begin(), open_waits_.end(),
                         [&](const auto &a, const auto &b) { return age(a) < age(b); });
    open_waits_.erase(shortest);
}

void Aggregate::saw_held(uint16_t space_id, uint32_t held, uint32_t depth)
{
    if (space_id < model::max_ids && held <= max_pool && depth <= max_pool)
        at_id(spaces_, space_id).saw_held(held);
}

void Aggregate::add_wait(const bt_wait &wait)
{
    const uint64_t time_ns = span(wait.start_ns, wait.h.ts_ns);
    if (wait.cause >= BT_NR_CAUSES) {
        ++anomalies_.absurd;
        return;
    }
    saw_held(wait.space_id, wait.held, wait.depth);
    if (wait.flags & BT_W_OPEN) {
        if (time_ns != 0)
            add_open(false, wait);
        return;
    }
    if (wait.flags & BT_W_WON) { // no sleep: not a submit_wait
        ++counts_.waits_won;
        return;
    }
    ++counts_.waits;
    CauseCell &cell = rare_for(wait.hctx_id).waits[wait.cause];
    if (cell.time.empty() || time_ns > cell.time.max_ns())
        cell.at_longest = {wait.depth, wait.held, wait.active, wait.limit, wait.users};
    cell.time.fill(time_ns, budget_);
    cell.free_sum += wait.depth > wait.held ? wait.depth - wait.held : 0;
    ++(wait.op == BT_OP_READ ? cell.reads : cell.writes);
    if (wait.flags & BT_W_MOVED)
        add_moved(rare_for(wait.hctx_id).moved, wait.end_hctx_id, 1);
    Slice &slice = timeline_.hctx(wait.hctx_id, wait.h.ts_ns);
    ++slice.waits;
    ++slice.waits_by_cause[wait.cause];
    slice.wait_ns += time_ns;
    ++timeline_.heat(wait.h.ts_ns).submit_wait[heat_row(time_ns)];
    TaskSums &task = sums_of(wait.tid, wait.start_ns);
    if (const model::HctxInfo *hctx = topology_.hctx(wait.hctx_id))
        task.on_queue(hctx->queue_id, 0, time_ns);
    ++task.waits;
    ++task.waits_by_cause[wait.cause];
    task.wait_ns += time_ns;
    task.wait_longest_ns = std::max(task.wait_longest_ns, time_ns);
    task.runnable_ns += std::min(wait.runnable_ns, time_ns);
}

void Aggregate::add_dwait(const bt_dwait &dwait)
{
    const uint64_t time_ns = span(dwait.start_ns, dwait.h.ts_ns);
    if (dwait.cause >= BT_NR_CAUSES) {
        ++anomalies_.absurd;
        return;
    }
    saw_held(dwait.space_id, dwait.held, dwait.depth);
    if (dwait.flags & BT_W_OPEN) {
        bt_wait open{};
        open.h = dwait.h;
        open.start_ns = dwait.start_ns;
        open.hctx_id = dwait.hctx_id;
        open.cause = dwait.cause;
        open.depth = dwait.depth;
        open.held = dwait.held;
        open.active = dwait.active;
        open.limit = dwait.limit;
        if (time_ns != 0)
            add_open(true, open);
        return;
    }
    ++counts_.dwaits;
    CauseCell &cell = rare_for(dwait.hctx_id).dispatch_waits[dwait.cause];
    if (cell.time.empty() || time_ns > cell.time.max_ns())
        cell.at_longest = {dwait.depth, dwait.held, dwait.active, dwait.limit, 0};
    cell.time.fill(time_ns, budget_);
    cell.free_sum += dwait.depth > dwait.held ? dwait.depth - dwait.held : 0;
    Slice &slice = timeline_.hctx(dwait.hctx_id, dwait.h.ts_ns);
    ++slice.dispatch_waits;
    slice.dispatch_wait_ns += time_ns;
}

void Aggregate::add_waits(const Batch &batch)
{
    for (const bt_wait &wait : batch.waits)
        if (take(wait.h.ts_ns))
            add_wait(wait);
    for (const bt_dwait &dwait : batch.dwaits)
        if (take(dwait.h.ts_ns))
            add_dwait(dwait);
}

QueueCell *Aggregate::queue_for(uint16_t queue_id)
{
    if (queue_id >= model::max_ids) {
        anomalies_.absurd += queue_id != BT_NO_ID;
        return nullptr;
    }
    std::unique_ptr<QueueCell> &cell = at_id(queue_cells_, queue_id);
    if (!cell)
        cell = std::make_unique<QueueCell>();
    return cell.get();
}

void Aggregate::add_rest(const Batch &batch)
{
    for (const bt_budget &budget : batch.budgets) {
        if (!take(budget.h.ts_ns))
            continue;
        const bool returned = budget.flags & BT_B_RETURNED;
        ++(returned ? counts_.budget_returned : counts_.budget_refused);
        QueueCell *cell = queue_for(budget.queue_id);
        if (!cell)
            continue;
        ++(returned ? cell->budget.returned_recorded : cell->budget.refused_recorded);
        cell->budget.blocked += !returned && budget.blocked;
        cell->budget.in_use_peak = std::max(cell->budget.in_use_peak, budget.in_use);
        cell->budget.limit = budget.limit;
        cell->budget.in_use_last = budget.in_use;
        (returned ? cell->last_returned_ns : cell->last_refused_ns) = budget.h.ts_ns;
    }
    add_others(batch);
}

void Aggregate::add_others(const Batch &batch)
{
    for (const bt_other_wait &wait : batch.other_waits) {
        if (!take(wait.h.ts_ns))
            continue;
        ++counts_.other;
        const uint64_t time_ns = span(wait.start_ns, wait.h.ts_ns);
        QueueCell *cell = queue_for(wait.queue_id);
        if (!cell || wait.what > BT_OTHER_FREEZE) {
            anomalies_.absurd += wait.what > BT_OTHER_FREEZE;
            continue;
        }
        if (time_ns > cell->other[wait.what].max_ns()) {
            cell->other_longest_tid[wait.what] = wait.tid;
            cell->other_longest_ns[wait.what] = wait.start_ns;
        }
        cell->other[wait.what].fill(time_ns, budget_);
        TaskSums &task = sums_of(wait.tid, wait.start_ns);
        ++task.other_waits;
        task.other_wait_ns += time_ns;
    }
}

void Aggregate::add_gauge(const bt_gauge &gauge)
{
    anomalies_.time_backwards += !at_id(spaces_, gauge.space_id).add(gauge);
    SpaceSlice *slice = timeline_.space(gauge.space_id, gauge.h.ts_ns);
    if (!slice)
        return;
    SpaceSlice one;
    one.samples = 1;
    one.depth = gauge.depth;
    one.held_min = one.held_max = gauge.held;
    one.unissued_min = gauge.held > gauge.in_flight ? gauge.held - gauge.in_flight : 0;
    one.waiters_peak = gauge.waiters;
    one.held_sum = gauge.held;
    one.in_flight_sum = gauge.in_flight;
    slice->add(one);
}

void Aggregate::add_hgauge(const bt_hgauge &gauge)
{
    anomalies_.time_backwards += !at_id(hctx_tracks_, gauge.hctx_id).add(gauge);
    timeline_.active(gauge.hctx_id, gauge.h.ts_ns).add({1, gauge.active, gauge.active});
}

void Aggregate::add_gauges(const Batch &batch)
{
    for (const bt_gauge &gauge : batch.gauges) {
        if (!take(gauge.h.ts_ns))
            continue;
        ++counts_.gauges;
        if (gauge.space_id >= model::max_ids || gauge.held > max_pool || gauge.depth > max_pool)
            ++anomalies_.absurd;
        else
            add_gauge(gauge);
    }
    for (const bt_hgauge &gauge : batch.hgauges) {
        if (!take(gauge.h.ts_ns))
            continue;
        ++counts_.hgauges;
        if (gauge.hctx_id >= model::max_ids)
            ++anomalies_.absurd;
        else
            add_hgauge(gauge);
    }
}

void Aggregate::add_counters(const CounterSnapshot &snapshot)
{
    ++counts_.counters;
    if (window_.has(snapshot.ts_ns)) {
        ++counts_.counters_inside;
        last_counters_ns_ = std::max(last_counters_ns_, snapshot.ts_ns);
    }
    const bool known = snapshot.what == BT_ID_HCTX || snapshot.what == BT_ID_QUEUE;
    if (!known || snapshot.id >= model::max_ids) {
        ++anomalies_.absurd;
        return;
    }
    auto &table = snapshot.what == BT_ID_HCTX ? hctx_counters_ : queue_counters_;
    anomalies_.counter_backwards += at_id(table, snapshot.id).add(snapshot, window_);
}

// What the kernel summed up in place of records ends in the cells that records fill.
void Aggregate::add_histograms(const HistogramDelta &delta)
{
    if (delta.kind == BT_HB_IO) {
        IoCell &cell = io_cells_[io_cell_index(delta.hctx_id, delta.op)];
        cell.requests += delta.requests;
        cell.bytes += delta.bytes;
        for (size_t i = 0; i < nr_phases; ++i)
            cell.phase[i].add(delta.of[i], budget_);
        cell.whole.add(delta.of[BT_H_WHOLE], budget_);
        return;
    }
    if (delta.kind >= BT_NR_HIST_KINDS) {
        ++anomalies_.absurd;
        return;
    }
    RareCell &cell = rare_for(delta.hctx_id);
    if (delta.kind == BT_HB_RUN) {
        cell.restart_delay.add(delta.of[0], budget_);
        return;
    }
    const bool dispatch = delta.kind == BT_HB_DWAIT;
    for (size_t cause = 0; cause < BT_NR_CAUSES; ++cause) {
        const uint64_t came = Histogram::count_of(delta.of[cause]);
        (dispatch ? counts_.dwaits : counts_.waits) += came;
        (dispatch ? cell.dispatch_waits : cell.waits)[cause].time.add(delta.of[cause], budget_);
    }
}

const IoCell *Aggregate::io_cell(uint16_t hctx_id, bt_op op) const
{
    const uint32_t index =
        hctx_id < model::max_ids ? io_index_[size_t{hctx_id} * BT_NR_OPS + op] : uint32_t{op};
    if (index == 0 && hctx_id < model::max_ids)
        return nullptr;
    return io_cells_[index].requests != 0 ? &io_cells_[index] : nullptr;
}

const RareCell *Aggregate::rare(uint16_t hctx_id) const
{
    if (hctx_id == BT_NO_ID)
        return &rare_elsewhere_;
    return hctx_id < rare_.size() ? rare_[hctx_id].get() : nullptr;
}

const QueueCell *Aggregate::queue_cell(uint16_t queue_id) const
{
    return queue_id < queue_cells_.size() ? queue_cells_[queue_id].get() : nullptr;
}

Anomalies Aggregate::anomalies() const
{
    Anomalies out = anomalies_;
    out.undetailed += budget_.undetailed;
    out.absurd += topology_.absurd();
    return out;
}

} // namespace blktag::agg
