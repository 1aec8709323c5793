// SPDX-License-Identifier: GPL-2.0-or-later
// Cuts a recording into slices while it is read. Input: records' times and values, hctx or space by
// id. Output: Timeline (labels are put in by make_snapshot).
//
// Bounded: at most max_slices slices (their length doubles when they do not suffice) of at most
// max_rows hctxs and tag spaces; hctxs beyond that share one row, spaces beyond it are left out.
#pragma once

#include "blktag/timeline.hpp"

#include <cstdint>
#include <vector>

namespace blktag::agg {

class TimelineBuilder {
  public:
    static constexpr size_t max_rows = 128;

    TimelineBuilder(uint64_t slice_ns, uint32_t max_slices)
        : slice_ns_(slice_ns ? slice_ns : 1), max_slices_(max_slices ? max_slices : 1)
    {}
    void start(uint64_t origin_ns) { origin_ns_ = origin_ns; }
    Slice &hctx(uint16_t hctx_id, uint64_t ts_ns);
    ActiveSlice &active(uint16_t hctx_id, uint64_t ts_ns);
    // nullptr where there is no room.
    SpaceSlice *space(uint16_t space_id, uint64_t ts_ns);
    HeatColumn &heat(uint64_t ts_ns);
    void merge(const TimelineBuilder &later);
    [[nodiscard]] uint64_t origin_ns() const { return origin_ns_; }
    [[nodiscard]] Timeline timeline() const;

  private:
    size_t slice_of(uint64_t ts_ns)
    {
        if (ts_ns >= slice_from_ns_ && ts_ns - slice_from_ns_ < slice_ns_) [[likely]]
            return slice_;
        return find_slice(ts_ns);
    }
    size_t find_slice(uint64_t ts_ns);
    void fold();
    HctxTimeline &row(uint16_t hctx_id);

    uint64_t origin_ns_ = 0;
    uint64_t slice_ns_;
    uint32_t max_slices_;
    uint64_t slice_from_ns_ = UINT64_MAX; // of the slice last asked for
    size_t slice_ = 0;
    size_t nr_slices_ = 0;
    std::vector<uint16_t> row_of_, space_row_of_; // by id, 0 = none yet, else index + 1
    std::vector<HctxTimeline> hctxs_;
    std::vector<SpaceTimeline> spaces_;
    std::vector<HeatColumn> heat_;
};

} // namespace blktag::agg
