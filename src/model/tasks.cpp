// SPDX-License-Identifier: GPL-2.0-or-later
// The task table's rare paths: new tasks, reused tids, dropping. Input and output: see tasks.hpp.
#include "model/tasks.hpp"

#include <algorithm>

namespace blktag::model {

namespace {

// A task record is written a moment after the request or wait that caused it began.
constexpr uint64_t record_delay_ns = 1'000'000;

} // namespace

TaskTable::TaskTable() : slots_(nr_slots), tasks_(1)
{}

uint32_t TaskTable::insert(Slot &slot, uint32_t tid)
{
    if (full())
        return 0;
    const auto index = static_cast<uint32_t>(tasks_.size());
    tasks_.push_back({.tid = tid});
    slot = {tid, index, 0};
    return index;
}

uint32_t TaskTable::older(uint32_t index, uint64_t when_ns) const
{
    while (when_ns < tasks_[index].valid_from_ns && tasks_[index].previous != 0)
        index = tasks_[index].previous;
    return index;
}

uint32_t TaskTable::replace(Slot &slot, const Task &task, uint64_t valid_from_ns)
{
    if (full())
        return slot.index;
    const auto index = static_cast<uint32_t>(tasks_.size());
    Task fresh = task;
    fresh.previous = slot.index;
    fresh.valid_from_ns = valid_from_ns;
    tasks_.push_back(fresh);
    slot.index = index;
    slot.valid_from_ns = valid_from_ns;
    return index;
}

uint32_t TaskTable::apply(const bt_task &record)
{
    Task task{.tid = record.tid,
              .tgid = record.tgid,
              .start_ns = record.start_ns,
              .cgroup_id = record.cgroup_id};
    std::copy(std::begin(record.comm), std::end(record.comm), task.comm.begin());
    Slot &slot = slot_of(record.tid);
    if (slot.index == 0 && insert(slot, record.tid) == 0)
        return 0;
    Task &known = tasks_[slot.index];
    if (known.start_ns != 0 && known.start_ns != task.start_ns) {
        const uint64_t ts = record.h.ts_ns;
        return replace(slot, task,
                       std::max<uint64_t>(ts > record_delay_ns ? ts - record_delay_ns : 1,
                                          known.valid_from_ns));
    }
    task.previous = known.previous;
    task.valid_from_ns = known.valid_from_ns;
    known = task;
    return slot.index;
}

uint32_t TaskTable::adopt(const Task &task)
{
    Slot &slot = slot_of(task.tid);
    if (slot.index == 0 && insert(slot, task.tid) == 0)
        return 0;
    if (task.start_ns == 0)
        return slot.index;
    for (uint32_t at = slot.index; at != 0; at = tasks_[at].previous) {
        Task &known = tasks_[at];
        if (known.start_ns != 0 && known.start_ns != task.start_ns)
            continue;
        const uint32_t previous = known.previous;
        const uint64_t valid_from_ns = known.valid_from_ns;
        known = task;
        known.previous = previous;
        known.valid_from_ns = valid_from_ns;
        return at;
    }
    return replace(slot, task, std::max<uint64_t>(task.valid_from_ns, 1));
}

std::vector<uint32_t> TaskTable::keep_only(const std::vector<bool> &keep)
{
    std::vector<uint32_t> moved(tasks_.size(), 0);
    std::vector<Task> kept(1);
    for (uint32_t old = 1; old < tasks_.size(); ++old) {
        if (!keep[old])
            continue;
        moved[old] = static_cast<uint32_t>(kept.size());
        kept.push_back(tasks_[old]);
        kept.back().previous = moved[tasks_[old].previous]; // older ones have lower indices
    }
    tasks_ = std::move(kept);
    std::fill(slots_.begin(), slots_.end(), Slot{});
    for (uint32_t index = 1; index < tasks_.size(); ++index) { // the newest of a tid comes last
        Slot &slot = slot_of(tasks_[index].tid);
        slot = {tasks_[index].tid, index, tasks_[index].valid_from_ns};
    }
    return moved;
}

} // namespace blktag::model
