// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds that a recording is held to. Input: Snapshot, and JSON text
//     [{"metric": "queues.nullb0.totals.submit_waits", "op": "<=", "value": 100}, ...]
// Output: one line for each breach.
//
// A metric is a path into the JSON report; members of an array are named by their name, label, id,
// operation or index. ops: < <= > >= == !=. A metric that is null (not measured) or not there is a
// breach, never a pass.
#pragma once

#include "blktag/records.hpp"
#include "blktag/snapshot.hpp"

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blktag::report {

// Whether `actual op value` is so; nullopt where op is none of those above.
std::optional<bool> holds(double actual, std::string_view op, double value);

std::expected<std::vector<std::string>, Error> breaches(const Snapshot &snapshot,
                                                        std::string_view bounds);

} // namespace blktag::report
