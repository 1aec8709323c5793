// SPDX-License-Identifier: GPL-2.0-or-later
// A recording cut into slices of equal length: what ended in each, per hctx, and what samples saw
// per tag space. Input: none (agg fills it). Output: types only.
//
// The slice length doubles while the recording does not fit max_slices, so memory does not grow
// with its length. Slice i covers [i * slice_ns, (i + 1) * slice_ns) since Timeline::start_ns.
#pragma once

#include "blktag/wire.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace blktag {

// Sums over what ended in one slice, from records.
struct Slice {
    uint32_t requests = 0, waits = 0, dispatch_waits = 0, runs = 0, runs_empty = 0;
    uint32_t refusals = 0, requeues = 0, restarts = 0, batches = 0, batch_requests = 0;
    std::array<uint32_t, BT_NR_CAUSES> waits_by_cause{};
    uint64_t bytes = 0, wait_ns = 0, dispatch_wait_ns = 0, device_ns = 0, whole_ns = 0;
    void add(const Slice &other);
};

// Samples of one tag space in one slice; samples == 0: none fell into it.
struct SpaceSlice {
    uint32_t samples = 0;
    uint32_t depth = 0;
    uint32_t held_min = 0, held_max = 0;
    uint32_t unissued_min = 0;                // held but not in flight
    uint32_t waiters_peak = 0;                // wait queues with sleepers
    uint64_t held_sum = 0, in_flight_sum = 0; // over the samples
    void add(const SpaceSlice &other);
};

// nr_active as sampled on one hctx.
struct ActiveSlice {
    uint32_t samples = 0;
    uint32_t active_min = 0, active_max = 0;
    void add(const ActiveSlice &other);
};

// Durations by power of two: count[i] holds [2^i, 2^(i+1)) ns, the last one all above.
inline constexpr size_t heat_rows = 40;
struct HeatColumn {
    std::array<uint32_t, heat_rows> device{};
    std::array<uint32_t, heat_rows> submit_wait{};
    void add(const HeatColumn &other);
};

struct HctxTimeline {
    uint16_t hctx_id = BT_NO_ID; // BT_NO_ID = all for which there was no room
    std::string label;
    std::vector<Slice> slices; // may be shorter than Timeline::nr_slices: nothing after that
    std::vector<ActiveSlice> active;
};

struct SpaceTimeline {
    uint16_t space_id = BT_NO_ID;
    std::vector<SpaceSlice> slices;
};

struct Timeline {
    uint64_t start_ns = 0; // since the recording's start
    uint64_t slice_ns = 0; // 0 = nothing was cut
    uint64_t nr_slices = 0;
    std::vector<HctxTimeline> hctxs;
    std::vector<SpaceTimeline> spaces;
    std::vector<HeatColumn> heat;
    // Everything that ended in slice i.
    [[nodiscard]] Slice whole(size_t i) const;
};

} // namespace blktag
