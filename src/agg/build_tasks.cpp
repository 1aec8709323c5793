// SPDX-License-Identifier: GPL-2.0-or-later
// Who waited and who held tags. Input: Aggregate's task sums and open waits. Output: Snapshot's
// lists of tasks.
#include "agg/build.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace blktag::agg {

namespace {

TaskStats stats_of(const Aggregate &aggregate, const model::Task &task, const TaskSums &sums)
{
    TaskStats out;
    out.tid = task.tid;
    out.tgid = task.tgid;
    out.comm = base::escape_terminal(base::fixed_string(task.comm.data(), task.comm.size()));
    out.cgroup_id = task.cgroup_id;
    out.task_start_ns = task.start_ns;
    out.requests = sums.requests;
    out.bytes = sums.bytes;
    out.held_ns = sums.held_ns;
    out.held_longest_ns = sums.held_longest_ns;
    out.waits = sums.waits;
    out.wait_ns = sums.wait_ns;
    out.wait_longest_ns = sums.wait_longest_ns;
    out.runnable_ns = sums.runnable_ns;
    std::copy(sums.waits_by_cause.begin(), sums.waits_by_cause.end(), out.waits_by_cause.begin());
    out.other_waits = sums.other_waits;
    out.other_wait_ns = sums.other_wait_ns;
    for (const TaskQueueCell &cell : sums.queues)
        if (cell.queue_id != BT_NO_ID)
            out.queues.push_back(
                {base::escape_terminal(aggregate.topology().queue_label(cell.queue_id)),
                 cell.requests, cell.wait_ns});
    std::stable_sort(out.queues.begin(), out.queues.end(),
                     [](const TaskQueue &a, const TaskQueue &b) { return a.wait_ns > b.wait_ns; });
    return out;
}

std::vector<TaskStats> top(const Aggregate &aggregate, size_t count, uint64_t TaskSums::*by)
{
    const auto &sums = aggregate.task_sums();
    const auto &tasks = aggregate.tasks().tasks();
    std::vector<uint32_t> order;
    for (size_t i = 1; i < std::min(sums.size(), tasks.size()); ++i)
        if (sums[i].*by != 0)
            order.push_back(static_cast<uint32_t>(i));
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        if (sums[a].*by != sums[b].*by)
            return sums[a].*by > sums[b].*by;
        return std::pair(tasks[a].tid, a) < std::pair(tasks[b].tid, b);
    });
    std::vector<TaskStats> out;
    for (size_t i = 0; i < std::min(count, order.size()); ++i)
        out.push_back(stats_of(aggregate, tasks[order[i]], sums[order[i]]));
    return out;
}

void count_open(Waits &waits, uint64_t age_ns)
{
    ++waits.open;
    waits.open_longest_ns = std::max(waits.open_longest_ns, age_ns);
}

} // namespace

std::string comm_of(const Aggregate &aggregate, uint32_t tid, uint64_t when_ns)
{
    const auto &tasks = aggregate.tasks().tasks();
    for (size_t i = tasks.size(); i-- > 1;)
        if (tasks[i].tid == tid && tasks[i].valid_from_ns <= when_ns)
            return base::escape_terminal(
                base::fixed_string(tasks[i].comm.data(), tasks[i].comm.size()));
    return {};
}

void build_tasks(Snapshot &out, const Aggregate &aggregate, size_t top_tasks)
{
    out.top_waiters = top(aggregate, top_tasks, &TaskSums::wait_ns);
    out.top_holders = top(aggregate, top_tasks, &TaskSums::held_ns);
    for (const OpenRecord &record : aggregate.open_waits()) {
        const bt_wait &wait = record.wait;
        OpenWait open;
        open.dispatch = record.dispatch;
        open.tid = wait.tid;
        open.comm = record.dispatch ? std::string() : comm_of(aggregate, wait.tid, wait.start_ns);
        open.hctx = base::escape_terminal(aggregate.topology().hctx_label(wait.hctx_id));
        open.cause = static_cast<bt_cause>(wait.cause);
        open.age_ns = wait.h.ts_ns - wait.start_ns;
        open.began = {wait.depth, wait.held, wait.active, wait.limit, wait.users};
        count_open(record.dispatch ? out.dispatch_waits : out.waits, open.age_ns);
        for (QueueStats &queue : out.queues)
            for (HctxStats &hctx : queue.hctxs)
                if (hctx.hctx_id == wait.hctx_id) {
                    count_open(record.dispatch ? queue.dispatch_waits : queue.waits, open.age_ns);
                    count_open(record.dispatch ? hctx.dispatch_waits : hctx.waits, open.age_ns);
                }
        out.open_waits.push_back(std::move(open));
    }
    std::stable_sort(out.open_waits.begin(), out.open_waits.end(),
                     [](const OpenWait &a, const OpenWait &b) { return a.age_ns > b.age_ns; });
}

} // namespace blktag::agg
