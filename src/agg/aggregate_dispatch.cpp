// SPDX-License-Identifier: GPL-2.0-or-later
// Counting what dispatch does: RESTARTs, runs, refusals, requeues, batches. Input: Batch. Output:
// Aggregate's sums. The kinds are taken in one time order, so that what followed a refusal is
// known.
#include "agg/aggregate.hpp"

namespace blktag::agg {

QueueCell *Aggregate::queue_of_hctx(uint16_t hctx_id)
{
    const model::HctxInfo *hctx = topology_.hctx(hctx_id);
    return hctx && hctx->queue_id != BT_NO_ID ? queue_for(hctx->queue_id) : nullptr;
}

void Aggregate::add_restart(const bt_restart &restart)
{
    ++counts_.restarts;
    RareCell &cell = rare_for(restart.hctx_id);
    if (restart.marked_ns != 0)
        cell.restart_delay.fill(span(restart.marked_ns, restart.h.ts_ns), budget_);
    ++cell.watch.restarts;
    cell.watch.last_restart_ns = restart.h.ts_ns;
    if (QueueCell *queue = queue_of_hctx(restart.hctx_id))
        ++queue->restarts;
    ++timeline_.hctx(restart.hctx_id, restart.h.ts_ns).restarts;
}

void Aggregate::add_run(const bt_run &run)
{
    ++counts_.runs;
    RareCell &cell = rare_for(run.hctx_id);
    cell.run_duration.fill(span(run.start_ns, run.h.ts_ns), budget_);
    cell.issued_by_runs += run.issued;
    const QueueCell *queue = queue_of_hctx(run.hctx_id);
    cell.watch.run(run.start_ns, queue ? queue->restarts : cell.watch.restarts);
    Slice &slice = timeline_.hctx(run.hctx_id, run.h.ts_ns);
    ++slice.runs;
    slice.runs_empty += run.flags & BT_RUN_EMPTY ? 1 : 0;
}

void Aggregate::add_refusal(const bt_refuse &refusal)
{
    ++counts_.refusals;
    HctxWatch &watch = rare_for(refusal.hctx_id).watch;
    const QueueCell *queue = queue_of_hctx(refusal.hctx_id);
    watch.refused(refusal, queue ? queue->restarts : watch.restarts);
    ++timeline_.hctx(refusal.hctx_id, refusal.h.ts_ns).refusals;
}

void Aggregate::add_dispatch(const Batch &batch)
{
    auto restart = batch.restarts.begin();
    auto run = batch.runs.begin();
    auto refusal = batch.refusals.begin();
    const auto time = [](auto at, auto end) {
        return at == end ? UINT64_MAX : at->h.ts_ns;
    };
    while (true) {
        const uint64_t restart_ns = time(restart, batch.restarts.end());
        const uint64_t run_ns = time(run, batch.runs.end());
        const uint64_t refusal_ns = time(refusal, batch.refusals.end());
        if (refusal != batch.refusals.end() && refusal_ns <= run_ns && refusal_ns <= restart_ns) {
            if (take(refusal_ns))
                add_refusal(*refusal);
            ++refusal;
        } else if (restart != batch.restarts.end() && restart_ns <= run_ns) {
            if (take(restart_ns))
                add_restart(*restart);
            ++restart;
        } else if (run != batch.runs.end()) {
            if (take(run_ns))
                add_run(*run);
            ++run;
        } else {
            return;
        }
    }
}

void Aggregate::add_runs(const Batch &batch)
{
    add_dispatch(batch);
    for (const bt_run &arm : batch.arms) {
        if (!take(arm.h.ts_ns))
            continue;
        ++counts_.arms;
        rare_for(arm.hctx_id).asked_delay.fill(span(0, arm.start_ns), budget_);
    }
    for (const bt_refuse &requeue : batch.requeues) {
        if (!take(requeue.h.ts_ns))
            continue;
        ++counts_.requeues;
        rare_for(requeue.hctx_id).watch.requeue(requeue, budget_);
        ++timeline_.hctx(requeue.hctx_id, requeue.h.ts_ns).requeues;
    }
    for (const bt_batch &call : batch.batches) {
        if (!take(call.h.ts_ns))
            continue;
        ++counts_.batches;
        Slice &slice = timeline_.hctx(call.hctx_id, call.h.ts_ns);
        ++slice.batches;
        slice.batch_requests += call.offered;
    }
}

} // namespace blktag::agg
