// SPDX-License-Identifier: GPL-2.0-or-later
// The report as JSON. Input: Snapshot. Output: one JSON document as
// include/blktag/report.schema.json describes it; units stand in the names; null is "not measured".
#pragma once

#include "blktag/snapshot.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blktag::report {

// Raised in its first number when a member changes or goes away, in its second when one is added.
inline constexpr std::string_view json_schema_version = "blktag-report-1.0";

std::string json_report(const Snapshot &snapshot);
// One line, for a stream: {"schema", "duration_ns", "under_way", "snapshot": what json_report
// gives}. `under_way` is null where nobody looked.
inline constexpr std::string_view json_line_version = "blktag-top-1.0";
std::string json_line(const Snapshot &snapshot);
// Several recordings: an array of what json_report gives.
std::string json_reports(const std::vector<Snapshot> &snapshots);
// The JSON Schema (draft 2020-12) that both follow.
std::string_view json_schema();

} // namespace blktag::report
