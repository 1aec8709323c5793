// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings written by hand for tests. Input: text, one item a line. Output: a recording in
// memory.
//
// A line is "KIND key=value ..."; "#" begins a comment line. Times and durations take ns, us, ms or
// s ("1.5ms" is allowed, bare numbers are ns) and are absolute monotonic times. A value may be
// "quoted", with \xNN for any byte. Record lines may carry repeat=N step=TIME: the line N times,
// its times moved on by step each. Kinds:
//   info    tool kernel machine host command cpus ring start real end end_real
//   argv, filter, unmeasured   plain words     topology {json}     damage offset= length= what=
//   rung    probe hook rung why                books   produced recorded lost missed complete
//   lost.<kind number> queue hctx space task io wait dwait restart run arm refuse requeue batch
//   budget other gauge hgauge counters hctx=|queue= ts= [known=N] <counter name>=N ...
// and the keys of the records are the field names of wire.h, without their unit.
#pragma once

#include "agg/aggregate.hpp"
#include "blktag/records.hpp"
#include "blktag/snapshot.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blktag::test {

struct TraceText {
    TraceInfo info;
    Books books;
    std::vector<Damage> damage;
    Batch batch;
};

// Throws std::runtime_error naming the line that is wrong.
TraceText parse_trace(std::string_view text);

// What the recording comes to.
Snapshot snapshot_of(const TraceText &trace, agg::Window window = {});
Snapshot snapshot_of(std::string_view text);

} // namespace blktag::test
