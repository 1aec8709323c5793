// SPDX-License-Identifier: GPL-2.0-or-later
// Joins what sysfs names with what the programs number. Input: SysQueue, the objects map. Output: topology JSON
// (TraceInfo::topology_json) and ident records for objects that came, changed or went.
#pragma once

#include "capture/programs.hpp"
#include "capture/sysfs.hpp"

#include <string>
#include <vector>

namespace blktag::capture {

// Ids stay null where the programs have not met the object yet.
// A device without a driver in sysfs gets the module of its queue_rq.
std::string topology_json(const std::vector<SysQueue> &sys, Programs &programs);

// Remembers what has been told. Not thread-safe.
class IdentWatch {
  public:
    // Appends a record for every object that is new, changed or gone since the last call.
    void poll(const Programs &programs, uint64_t now_ns, std::vector<bt_ident_rec> &out);
    [[nodiscard]] const std::vector<uint16_t> &live_spaces() const { return live_spaces_; }
    [[nodiscard]] const std::vector<uint16_t> &live_hctxs() const { return live_hctxs_; }
    [[nodiscard]] const std::vector<uint16_t> &new_queues() const { return new_queues_; }

  private:
    void look(const bt_object &object, bt_ident_rec &told, uint64_t now_ns, std::vector<bt_ident_rec> &out);
    std::vector<bt_ident_rec> objects_, spaces_;
    std::vector<uint16_t> live_spaces_, live_hctxs_, new_queues_;
    uint64_t seen_changes_ = 0;
};

} // namespace blktag::capture
