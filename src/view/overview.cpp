// SPDX-License-Identifier: GPL-2.0-or-later
// View 1: every queue, its hctxs below it. Input: Facts. Output: Table.
#include "view/format.hpp"
#include "view/views.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::view {

namespace {

constexpr int held_bar = 6;

std::vector<Column> columns()
{
    return {
        {"object", "queue/hctx",
         "Request queue, and its hardware contexts (hctx) below it. From "
         "sysfs and the kernel's objects.",
         16, false, 0},
        {"depth", "tags",
         "Driver tags of the hctx's tag space, reserved ones not counted; of all "
         "its spaces for a queue. From the tag set.",
         5, true, 14},
        {"held", "held",
         "Tags taken right now, as a bar and of how many. Sampled from the "
         "kernel's bitmaps (word & ~cleared); a shared space shows what all its users hold. Loss "
         "does not touch it.",
         held_bar + 10, false, 4},
        {"peak", "peak",
         "Most tags seen taken at once, at a sample or when a wait began. Since "
         "the start.",
         5, true, 16},
        {"gets", "gets/s",
         "Tags got per second, at once or after waiting, single and batched. "
         "Exact: counted in the kernel (__blk_mq_get_tag, blk_mq_get_tags).",
         7, true, 5},
        {"wait", "wait %", "Of the gets: those that slept for a tag (submit_wait). Exact.", 6, true,
         1},
        {"waiting", "now",
         "Tasks asleep for a tag right now; +N: parked hctxs (dispatch_wait). "
         "Read from the table of open waits.",
         5, true, 2},
        {"oldest", "oldest", "Age of the oldest wait under way.", 7, true, 3},
        {"p50", "p50 wait",
         "Median of the submit_waits that ended in the interval, within 6.25 %. "
         "From the kernel's histograms, or from records: then lost ones are missing.",
         8, true, 12},
        {"p99", "p99 wait", "99th percentile of the submit_waits, as p50.", 8, true, 6},
        {"max", "max wait", "Longest submit_wait of the interval.", 8, true, 9},
        {"iops", "IOPS", "Requests completed per second. Exact (block_rq_complete).", 6, true, 7},
        {"mb", "MB/s", "Completed bytes per second, in 1e6 bytes. Exact.", 6, true, 10},
        {"dev50", "p50 dev",
         "Median time from the last issue to completion. Kernel histograms or "
         "records.",
         7, true, 11},
        {"dev99", "p99 dev", "99th percentile of the device time.", 7, true, 8},
        {"runs", "runs/IO",
         "Queue runs executed per issued request "
         "(blk_mq_sched_dispatch_requests). Exact.",
         7, true, 20},
        {"empty", "empty/IO", "Queue runs that started nothing, per issued request. Exact.", 8,
         true, 22},
        {"restart", "RESTART/s",
         "RESTARTs fired per second: a freed request ran the hctx again "
         "(__blk_mq_sched_restart). Exact.",
         9, true, 18},
        {"refused", "refused/s",
         "Dispatch budgets refused per second (SCSI). Counted per queue; "
         "exact.",
         9, true, 19},
        {"batch", "batch", "Mean requests per queue_rqs call. Exact.", 5, true, 24},
        {"requeue", "requeue/s",
         "Requests taken back per second (block_rq_requeue), refused "
         "dispatches included. Exact.",
         9, true, 21},
        {"parks", "parks/s",
         "dispatch_waits per second: the hctx parked for a driver tag under an "
         "I/O scheduler. Exact.",
         7, true, 17},
    };
}

struct Pool {
    std::optional<uint32_t> depth;
    std::optional<uint32_t> held;
    uint32_t peak = 0;
};

void add(Pool &pool, const SpaceStats &space)
{
    if (space.depth)
        pool.depth = pool.depth.value_or(0) + *space.depth;
    if (space.gauge) {
        pool.held = pool.held.value_or(0) + space.gauge->held_last;
        pool.peak += space.gauge->held_peak;
    }
}

TableCell held_cell(const Pool &pool, bool ascii)
{
    if (!pool.held || !pool.depth)
        return not_measured_cell();
    const double share = *pool.depth ? static_cast<double>(*pool.held) / *pool.depth : 0;
    const Role role = share >= 1 ? Role::bad : share >= 0.8 ? Role::warn : Role::good;
    return {fmt::format("{} {}/{}", bar(share, held_bar, ascii), *pool.held, *pool.depth), role,
            share};
}

TableCell waiting_cell(const std::optional<WaitingNow> &now)
{
    if (!now)
        return not_measured_cell();
    std::string text = fmt::format("{}", now->tasks);
    if (now->parked)
        text += fmt::format("+{}", now->parked);
    const uint64_t all = now->tasks + now->parked;
    return {text, all ? Role::bad : Role::normal, static_cast<double>(all)};
}

template<class T>
void add_cells(TableRow &row, const T &object, const Facts &facts, const Pool &pool,
               const std::optional<WaitingNow> &now, bool ascii)
{
    const Totals &totals = object.totals;
    const Counters &counters = object.counters;
    auto &cells = row.cells;
    const Latency *latency = object.latency ? &*object.latency : nullptr;
    const auto device = [&](double q) {
        return time_cell(latency ? latency->at(Phase::device).quantile_ns(q) : std::nullopt);
    };
    const auto bytes_rate = facts.rate(counters.get(BT_C_complete_bytes));
    cells.push_back(pool.depth ? TableCell{fmt::format("{}", *pool.depth), Role::normal,
                                           static_cast<double>(*pool.depth)}
                               : not_measured_cell());
    cells.push_back(held_cell(pool, ascii));
    cells.push_back(pool.held ? TableCell{fmt::format("{}", pool.peak), Role::normal,
                                          static_cast<double>(pool.peak)}
                              : not_measured_cell());
    cells.push_back(number_cell(facts.rate(totals.gets)));
    cells.push_back(!totals.submit_waits || !totals.gets
                        ? not_measured_cell()
                        : percent_cell(ratio(totals.submit_waits, totals.gets), 0.001, 0.2));
    cells.push_back(waiting_cell(now));
    cells.push_back(time_cell(now && now->oldest_ns ? std::optional(now->oldest_ns) : std::nullopt,
                              now.has_value(), 1'000'000'000));
    cells.push_back(time_cell(object.waits.time.quantile_ns(0.5)));
    cells.push_back(time_cell(object.waits.time.quantile_ns(0.99)));
    cells.push_back(time_cell(object.waits.time.count ? std::optional(object.waits.time.max_ns)
                                                      : std::nullopt));
    cells.push_back(number_cell(facts.rate(totals.completed)));
    cells.push_back(number_cell(bytes_rate ? std::optional(*bytes_rate / 1e6) : std::nullopt));
    cells.push_back(device(0.5));
    cells.push_back(device(0.99));
    const auto per_io = [&](std::optional<uint64_t> count) {
        if (!count || !totals.issued)
            return not_measured_cell();
        const auto share = ratio(count, totals.issued);
        return share ? number_cell(share) : nothing_cell();
    };
    cells.push_back(per_io(totals.runs));
    cells.push_back(per_io(counters.get(BT_C_runs_empty)));
    cells.push_back(number_cell(facts.rate(totals.restarts)));
    cells.push_back(number_cell(facts.rate(totals.budget_refused), Role::warn));
    const auto offered = counters.get(BT_C_batch_requests);
    const auto calls = counters.get(BT_C_batches);
    cells.push_back(!offered || !calls ? not_measured_cell()
                    : *calls           ? number_cell(ratio(offered, calls))
                                       : nothing_cell());
    cells.push_back(number_cell(facts.rate(counters.get(BT_C_requeues)), Role::warn));
    cells.push_back(number_cell(facts.rate(totals.dispatch_waits), Role::warn));
}

TableRow row_of(const QueueStats &queue, const Facts &facts, const UiState &state)
{
    TableRow row =
        queue_row(queue, state, queue.driver + " " + queue.scheduler + " " + queue.dev);
    row.cells.push_back(
        {queue.name + (queue.gone ? " (gone)" : ""), queue.gone ? Role::dim : Role::title, 0});
    Pool pool;
    for (const SpaceStats *space : facts.spaces_of(queue))
        add(pool, *space);
    add_cells(row, queue, facts, pool, facts.waiting_on_queue(queue), state.ascii);
    return row;
}

TableRow row_of(const QueueStats &queue, const HctxStats &hctx, const Facts &facts,
                const UiState &state)
{
    TableRow row = hctx_row(queue, hctx);
    const std::string type = hctx.type.empty() || hctx.type == "default" ? "" : " " + hctx.type;
    const std::string name =
        hctx.hctx_num == BT_NO_ID ? hctx.label : fmt::format("hctx{}", hctx.hctx_num);
    row.cells.push_back({fmt::format("{}{}{}", name, type, hctx.gone ? " (gone)" : ""),
                         hctx.gone ? Role::dim : Role::normal, static_cast<double>(hctx.hctx_num)});
    Pool pool;
    if (const SpaceStats *space = facts.space(hctx.space_id))
        add(pool, *space);
    add_cells(row, hctx, facts, pool, facts.waiting_on_hctx(hctx.hctx_id), state.ascii);
    return row;
}

// Who hurts most comes first: waits by time, then load.
bool hurts_more(const QueueStats &a, const QueueStats &b)
{
    const auto pain = [](const QueueStats &q) {
        return std::tuple(!q.gone,
                          q.waits.total_ns.value_or(0) + q.dispatch_waits.total_ns.value_or(0),
                          q.totals.gets.value_or(0));
    };
    return pain(a) > pain(b);
}

} // namespace

Table overview_table(const Facts &facts, const UiState &state)
{
    Table table;
    table.columns = columns();
    table.empty = no_queue_text;
    std::vector<const QueueStats *> order;
    for (const QueueStats &queue : facts.shown().queues)
        order.push_back(&queue);
    std::stable_sort(order.begin(), order.end(),
                     [](const QueueStats *a, const QueueStats *b) { return hurts_more(*a, *b); });
    for (const QueueStats *queue : order) {
        table.rows.push_back(row_of(*queue, facts, state));
        table.rows.back().cells[0].sort = static_cast<double>(queue - facts.shown().queues.data());
        if (!table.rows.back().open)
            continue;
        for (const HctxStats &hctx : queue->hctxs)
            table.rows.push_back(row_of(*queue, hctx, facts, state));
    }
    return table;
}

} // namespace blktag::view
