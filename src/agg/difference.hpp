// SPDX-License-Identifier: GPL-2.0-or-later
// What happened between two looks at the same recording. Input: two Snapshots, the later one first.
// Output: a Snapshot of the time between them.
//
// Counts, sums and bins are differences; rates are over the time between. What is not a sum stays
// the later one's: gauges, identities, open waits, what is under way, books, notes. The largest
// duration of the interval is exact where it is the largest of all, else its bin's upper edge.
#pragma once

#include "blktag/snapshot.hpp"

namespace blktag::agg {

Distribution difference(const Distribution &later, const Distribution &earlier);
Counters difference(const Counters &later, const Counters &earlier);
Waits difference(const Waits &later, const Waits &earlier);
// An hctx or queue that is not in `earlier` was not there yet: all that it has is new.
Snapshot difference(const Snapshot &later, const Snapshot &earlier);

} // namespace blktag::agg
