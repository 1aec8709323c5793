// SPDX-License-Identifier: GPL-2.0-or-later
// Who a tid was when. Input: task records and tids. Output: dense indices, one per task; a reused
// tid is a new task.
//
// Fixed memory: at most `capacity` tasks; when they are used up the caller drops the least
// interesting (keep_only). Index 0 stands for all tasks that were dropped. Not thread-safe.
#pragma once

#include "blktag/wire.h"

#include <array>
#include <cstdint>
#include <vector>

namespace blktag::model {

struct Task {
    uint32_t tid = 0;
    uint32_t tgid = 0;
    uint64_t start_ns = 0; // boot-time clock, 0 = no task record seen
    uint64_t cgroup_id = 0;
    uint64_t valid_from_ns =
        0; // > 0 where an older task had the tid: what began before that is the older one's
    uint32_t previous = 0; // that older task's index, 0 = none
    std::array<uint8_t, BT_COMM_LEN> comm{};
};

class TaskTable {
  public:
    static constexpr uint32_t capacity = 32768;

    TaskTable();
    // The task that had `tid` at `when_ns` (the moment its request or wait began). May return 0
    // only when full().
    uint32_t find(uint32_t tid, uint64_t when_ns)
    {
        Slot &slot = slot_of(tid);
        if (slot.index == 0) [[unlikely]]
            return insert(slot, tid);
        if (when_ns < slot.valid_from_ns) [[unlikely]]
            return older(slot.index, when_ns);
        return slot.index;
    }
    uint32_t apply(const bt_task &record);
    [[nodiscard]] bool full() const { return tasks_.size() >= capacity; }
    [[nodiscard]] const std::vector<Task> &tasks() const { return tasks_; }
    // The index of the task in here that is the same as `task` of a later piece of the recording;
    // makes one if needed.
    uint32_t adopt(const Task &task);
    // Drops every task whose keep[index] is false. Returns new indices by old index (0 = dropped).
    std::vector<uint32_t> keep_only(const std::vector<bool> &keep);

  private:
    struct Slot {
        uint32_t tid = 0;
        uint32_t index = 0; // 0 = free
        uint64_t valid_from_ns = 0;
    };
    static constexpr uint32_t nr_slots = 4 * capacity; // open addressing, at most a quarter full

    Slot &slot_of(uint32_t tid)
    {
        uint32_t at = (tid * 0x9e3779b1U) >> 15;
        while (slots_[at].index != 0 && slots_[at].tid != tid)
            at = (at + 1) & (nr_slots - 1);
        return slots_[at];
    }
    uint32_t insert(Slot &slot, uint32_t tid);
    [[nodiscard]] uint32_t older(uint32_t index, uint64_t when_ns) const;
    uint32_t replace(Slot &slot, const Task &task, uint64_t valid_from_ns);

    std::vector<Slot> slots_;
    std::vector<Task> tasks_; // [0] = dropped ones
};

static_assert((uint32_t{0xffffffff} >> 15) < 4 * TaskTable::capacity, "hash fits the table");

} // namespace blktag::model
