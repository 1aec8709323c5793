// SPDX-License-Identifier: GPL-2.0-or-later
// Gauges and counter snapshots at one moment. Input: programs and their maps. Output: records made here, not in the
// kernel: right from the first sample, whatever was in flight before.
#pragma once

#include "capture/programs.hpp"

#include <vector>

namespace blktag::capture {

// Not thread-safe.
class Sampler {
  public:
    explicit Sampler(Programs &programs) : programs_(programs) {}
    void gauges(const std::vector<uint16_t> &spaces, const std::vector<uint16_t> &hctxs, uint64_t now_ns, Batch &out);
    // Rows that are new or changed since the last call; all of them with `all`.
    void counters(uint64_t now_ns, bool all, std::vector<CounterSnapshot> &out);
    // Waits that are under way: a record each, flagged open.
    void open_waits(uint64_t now_ns, std::vector<bt_wait> &out) const;
    // Marks waits as stuck that are old although tags have been free for as long and no rule forbids them. To be given
    // every sample.
    void mark_stuck(const std::vector<bt_gauge> &gauges, uint64_t now_ns);

  private:
    void look_at_slots(bt_gauge &g, const bt_object &space) const;
    void note_free(const std::vector<bt_gauge> &gauges);
    std::vector<uint64_t> sums_;          // by row
    std::vector<uint64_t> free_since_ns_; // by space, 0 = full in the latest sample
    Programs &programs_;
};

} // namespace blktag::capture
