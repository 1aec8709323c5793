// SPDX-License-Identifier: GPL-2.0-or-later
// View 5: RESTARTs, queue runs, what drivers refuse, SCSI budgets, and hctxs that stand still with
// work. Input: Facts. Output: Table.
#include "view/format.hpp"
#include "view/views.hpp"

#include <fmt/format.h>

namespace blktag::view {

namespace {

std::vector<Column> columns()
{
    return {
        {"object", "queue/hctx", "Request queue, and its hardware contexts below it.", 16, false,
         0},
        {"restart", "RESTART/s", "RESTARTs fired per second (__blk_mq_sched_restart). Exact.", 9,
         true, 2},
        {"marked", "marked/s", "RESTART bits seen set per second. Exact.", 8, true, 12},
        {"delay", "p99 delay",
         "99th percentile from RESTART marked to fired, where the marking "
         "was seen.",
         9, true, 13},
        {"asked", "asked/s", "Queue runs asked for per second (blk_mq_run_hw_queue). Exact.", 7,
         true, 8},
        {"runs", "runs/s",
         "Queue runs executed per second (blk_mq_sched_dispatch_requests). "
         "Exact.",
         7, true, 3},
        {"empty", "empty %", "Of the runs: those that started no request. Exact.", 7, true, 4},
        {"delayed", "delay/s", "Runs armed with a delay at kblockd, per second. Exact.", 7, true,
         9},
        {"resource", "RESRC/s",
         "BLK_STS_RESOURCE from the driver per second: the block layer "
         "retries by timer. Exact.",
         7, true, 6},
        {"devres", "DEVRES/s",
         "BLK_STS_DEV_RESOURCE per second: a completion is promised to "
         "restart the queue. Exact.",
         8, true, 7},
        {"requeue", "requeue/s", "Requests taken back per second (block_rq_requeue). Exact.", 9,
         true, 5},
        {"refused", "refused/s",
         "SCSI dispatch budgets refused per second, of a queue (LUN). "
         "Exact.",
         9, true, 1},
        {"taken", "budget/s", "SCSI dispatch budgets taken per second. Exact.", 8, true, 10},
        {"lun", "LUN", "The LUN's queue_depth: the limit of its budget. From sysfs.", 5, true, 11},
        {"state", "state",
         "Why an hctx with work stands still, else what it is doing. Sampled "
         "from its flags and lists.",
         24, false, 3},
    };
}

// Only what stops it, with what waits behind it.
TableCell state_cell(const std::optional<HctxGauge> &gauge)
{
    if (!gauge)
        return not_measured_cell();
    const uint32_t flags = gauge->flags_last;
    const bool work = flags & (BT_HG_DISPATCH | BT_HG_CTX_PENDING | BT_HG_REQUEUE);
    const auto cell = [work](const char *text, Role role) {
        return TableCell{std::string(text) + (work ? ", work waits" : ""),
                         work ? role : Role::normal, work ? 1.0 : 0.0};
    };
    if (flags & BT_HG_FROZEN)
        return cell("frozen", Role::warn);
    if (flags & BT_HG_QUIESCED)
        return cell("quiesced", Role::bad);
    if (flags & BT_HG_STOPPED)
        return cell("stopped", Role::bad);
    if (flags & BT_HG_PARKED)
        return cell("parked for a tag", Role::bad);
    if (flags & BT_HG_INACTIVE)
        return cell("no CPU online", Role::warn);
    if (flags & BT_HG_RESTART)
        return cell("RESTART marked", Role::warn);
    if (flags & BT_HG_RUN_PENDING)
        return cell("run pending", Role::normal);
    if (work && gauge->active_last == 0)
        return {"work waits, nothing runs", Role::bad, 2};
    return cell(work ? "busy" : "-", Role::normal);
}

template<class T>
void add_cells(TableRow &row, const T &object, const Facts &facts, const QueueStats *queue,
               TableCell state)
{
    const Counters &c = object.counters;
    const auto rate = [&](bt_counter counter, Role role = Role::normal) {
        return number_cell(facts.rate(c.get(counter)), role);
    };
    auto &cells = row.cells;
    cells.push_back(rate(BT_C_restarts));
    cells.push_back(rate(BT_C_restarts_marked));
    cells.push_back(time_cell(object.runs.restart_delay.quantile_ns(0.99)));
    cells.push_back(rate(BT_C_runs_asked));
    cells.push_back(rate(BT_C_runs));
    const auto runs = c.get(BT_C_runs);
    cells.push_back(runs ? percent_cell(ratio(c.get(BT_C_runs_empty), runs), 0.5, 0.9)
                         : not_measured_cell());
    cells.push_back(rate(BT_C_runs_delayed));
    cells.push_back(rate(BT_C_status_resource, Role::warn));
    cells.push_back(rate(BT_C_status_dev_resource, Role::warn));
    cells.push_back(rate(BT_C_requeues, Role::warn));
    const bool budget = queue && queue->has_budget;
    cells.push_back(budget ? rate(BT_C_budget_refused, Role::bad) : text_cell(queue ? "none" : ""));
    cells.push_back(budget ? rate(BT_C_budget_taken) : text_cell(queue ? "none" : ""));
    cells.push_back(queue && queue->lun_depth
                        ? TableCell{fmt::format("{}", *queue->lun_depth), Role::normal,
                                    static_cast<double>(*queue->lun_depth)}
                        : text_cell(""));
    cells.push_back(std::move(state));
}

} // namespace

Table runs_table(const Facts &facts, const UiState &state)
{
    return queue_tree(
        facts, state, columns(),
        [&](TableRow &row, const QueueStats &queue) {
            TableCell worst = text_cell("");
            for (const HctxStats &hctx : queue.hctxs)
                if (const TableCell cell = state_cell(hctx.gauge); cell.sort > worst.sort)
                    worst = cell;
            add_cells(row, queue, facts, &queue, worst);
        },
        [&](TableRow &row, const HctxStats &hctx) {
            row.cells.push_back(hctx_cell(hctx, hctx.gone ? Role::dim : Role::normal));
            add_cells(row, hctx, facts, nullptr, state_cell(hctx.gauge));
        });
}

} // namespace blktag::view
