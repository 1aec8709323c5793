// SPDX-License-Identifier: GPL-2.0-or-later
// Empties the per-CPU rings. Input: mapped rings. Output: records in a Batch; exact counts of what was lost where.
#pragma once

#include "blktag/knobs.h"
#include "capture/maps.hpp"
#include "decode/decoder.hpp"

#include <array>
#include <vector>

namespace blktag::capture {

// The one reader of the rings. Not thread-safe.
class Drain {
  public:
    Drain(MappedArray<bt_ring> &rings, uint32_t ring_size_bytes);
    // Takes what is ready, at most `budget_bytes` per ring. Returns the bytes taken.
    size_t run(Batch &out, size_t budget_bytes);
    // A loss record for every CPU that lost something since the last call.
    void losses(uint64_t now_ns, std::vector<bt_loss> &out);
    // Books as the rings have them now: exact once programs are detached and run() found nothing more.
    [[nodiscard]] Books books() const;
    // Records reserved by programs and not yet taken.
    [[nodiscard]] bool pending() const;

  private:
    size_t run_one(uint32_t cpu, Batch &out, size_t budget_bytes);

    MappedArray<bt_ring> &rings_;
    uint32_t size_bytes_;
    decode::Decoder decoder_;
    std::vector<std::array<uint64_t, BT_NR_RING_KINDS>> told_;
    std::vector<uint64_t> told_ns_;
};

} // namespace blktag::capture
