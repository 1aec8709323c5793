// SPDX-License-Identifier: GPL-2.0-or-later
// A whole recording at once. Input: a RecordSource that ends. Output: its Snapshot.
#pragma once

#include "agg/aggregate.hpp"
#include "blktag/snapshot.hpp"

#include <expected>

namespace blktag::agg {

// Reads `source` to its end; `window` leaves out what lies outside of it. The error is the source's.
std::expected<Snapshot, Error> summarize(RecordSource &source, Window window = {});

} // namespace blktag::agg
