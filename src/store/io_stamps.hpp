// SPDX-License-Identifier: GPL-2.0-or-later
// The stamps of one I/O as differences and back: each from the next later one that there is. Input:
// a record, or the differences. Output: the other. All arithmetic is modulo 2^64, so any values
// survive.
#pragma once

#include "store/format.hpp"

#include "blktag/records.hpp"

namespace blktag::store {

inline constexpr uint8_t usual_stamps = HAS_COMPLETE | HAS_ISSUE | HAS_GET;

inline uint8_t present_stamps(const bt_io_long &io)
{
    const uint64_t rare = io.insert_ns | io.refused_ns | (io.start_ns ^ io.get_ns);
    // x - 1 has the top bit where x is 0 (or no time of a clock): one test for three stamps.
    const uint64_t missing = ((io.complete_ns - 1) | (io.issue_ns - 1) | (io.get_ns - 1)) >> 63;
    if ((rare | missing) == 0) [[likely]]
        return usual_stamps;
    const auto bit = [](bool is, IoPresent has) {
        return is ? unsigned{has} : 0U;
    };
    return static_cast<uint8_t>(
        bit(io.complete_ns != 0, HAS_COMPLETE) | bit(io.issue_ns != 0, HAS_ISSUE) |
        bit(io.get_ns != 0, HAS_GET) | bit(io.start_ns != io.get_ns, HAS_WAIT) |
        bit(io.insert_ns != 0, HAS_INSERT) | bit(io.refused_ns != 0, HAS_REFUSED));
}

struct StampSteps {
    uint64_t put = 0, complete = 0, issue = 0; // 0 where the stamp is not there
};

inline StampSteps steps_of(const bt_io_long &io)
{
    StampSteps steps;
    uint64_t later = io.h.ts_ns;
    const auto step = [&](uint64_t stamp) {
        if (stamp == 0)
            return uint64_t{0};
        const uint64_t difference = later - stamp;
        later = stamp;
        return difference;
    };
    steps.put = step(io.complete_ns);
    steps.complete = step(io.issue_ns);
    steps.issue = step(io.get_ns);
    return steps;
}

inline void set_stamps(bt_io_long &io, uint8_t present, const StampSteps &steps)
{
    uint64_t later = io.h.ts_ns;
    io.complete_ns = present &HAS_COMPLETE ? later -= steps.put : 0;
    io.issue_ns = present &HAS_ISSUE ? later -= steps.complete : 0;
    io.get_ns = present &HAS_GET ? later -= steps.issue : 0;
}

} // namespace blktag::store
