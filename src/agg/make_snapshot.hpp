// SPDX-License-Identifier: GPL-2.0-or-later
// Aggregate + what is known of the recording -> Snapshot. Input: both. Output: a value that nothing
// changes any more.
#pragma once

#include "agg/aggregate.hpp"
#include "blktag/records.hpp"
#include "blktag/snapshot.hpp"

#include <cstddef>
#include <vector>

namespace blktag::agg {

// What a RecordSource knows besides its records.
struct Recording {
    const TraceInfo &info;
    const Books &books;
    const std::vector<Damage> &damage;
    uint64_t malformed = 0; // records that the decoder refused
    uint64_t unknown = 0;   // records of kinds that this version does not know
};

struct SnapshotOptions {
    size_t top_tasks = 10;
};

Snapshot make_snapshot(const Aggregate &aggregate, const Recording &recording,
                       const SnapshotOptions &options = {});

} // namespace blktag::agg
