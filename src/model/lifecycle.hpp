// SPDX-License-Identifier: GPL-2.0-or-later
// Splits one request's life into phases that sum exactly to the whole. Input: bt_io_long. Output:
// Life.
#pragma once

#include "blktag/snapshot.hpp"

#include <array>
#include <cstdint>

namespace blktag::model {

inline constexpr uint64_t max_duration_ns = uint64_t{1}
                                            << 50; // 13 days; no request or wait lives longer

enum class LifeKind : uint8_t {
    complete,   // issued, completed, put: has phases
    unused,     // put back without ever being issued
    incomplete, // the put or the completion was not seen
    absurd,     // longer than max_duration_ns
};

struct Life {
    LifeKind kind = LifeKind::incomplete;
    bool backwards = false; // some stamp lay before the one it must follow; it was moved up to it
    uint64_t held_ns = 0;   // put - get, 0 where incomplete
    uint64_t whole_ns = 0;
    std::array<uint64_t, nr_phases> phase_ns{};
};

// Never yields a difference below zero: a stamp that lies before its predecessor is taken as equal
// to it.
inline Life split(const bt_io_long &io)
{
    Life life;
    if (io.get_ns == 0 || (io.flags & BT_IO_ORPHAN))
        return life;
    const bool used = io.issue_ns != 0 && !(io.flags & BT_IO_UNUSED);
    if (used && io.complete_ns == 0)
        return life;
    const auto after = [&life](uint64_t stamp_ns, uint64_t earlier_ns) {
        life.backwards |= stamp_ns < earlier_ns;
        return stamp_ns < earlier_ns ? earlier_ns : stamp_ns;
    };
    const uint64_t start = io.start_ns ? io.start_ns : io.get_ns;
    const uint64_t get = after(io.get_ns, start);
    const uint64_t issue = used ? after(io.issue_ns, get) : get;
    const uint64_t complete = used ? after(io.complete_ns, issue) : issue;
    const uint64_t put = after(io.h.ts_ns, complete);
    life.whole_ns = put - start;
    life.held_ns = put - get;
    if (life.whole_ns > max_duration_ns) {
        life = Life{.kind = LifeKind::absurd};
        return life;
    }
    if (!used) {
        life.kind = LifeKind::unused;
        return life;
    }
    uint64_t refused_for = 0;
    if (io.refused_ns != 0) {
        const uint64_t refused = after(io.refused_ns, get);
        life.backwards |= refused > issue;
        refused_for = refused < issue ? issue - refused : 0;
    }
    life.kind = LifeKind::complete;
    life.phase_ns = {get - start, issue - get - refused_for, refused_for, complete - issue,
                     put - complete};
    return life;
}

} // namespace blktag::model
