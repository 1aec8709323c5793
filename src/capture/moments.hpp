// SPDX-License-Identifier: GPL-2.0-or-later
// What is under way right now, for the live mode: waits, parked hctxs, holders of tags, tag bits, and the names of the
// tasks among them. Input: the programs' maps, /proc. Output: one Moment, and task records for new names.
#pragma once

#include "capture/sampler.hpp"

#include <unordered_map>

namespace blktag::capture {

// Not thread-safe. Reads while the maps change: each value is whole, neighbours may be moments apart.
class Moments {
  public:
    Moments(Programs &programs, const Sampler &sampler) : programs_(programs), sampler_(sampler) {}
    void read(const std::vector<uint16_t> &spaces, uint64_t now_ns, Batch &out);

  private:
    void parked(Moment &moment) const;
    void held(uint16_t space_id, const bt_object &space, Moment &moment) const;
    bool bits(uint16_t space_id, const bt_object &space, Moment &moment) const;
    void name(uint32_t tid, uint64_t now_ns, std::vector<bt_task> &out);

    struct Told {
        uint64_t at_ns = 0;
        bt_task task{};
    };
    std::unordered_map<uint32_t, Told> told_;
    int names_left_ = 0;
    Programs &programs_;
    const Sampler &sampler_;
};

} // namespace blktag::capture
