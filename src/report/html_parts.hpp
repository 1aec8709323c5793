// SPDX-License-Identifier: GPL-2.0-or-later
// Sections of the HTML report's model; only for src/report. Input: Snapshot. Output: JSON that
// page.js draws:
//   section {title, texts?, findings?, charts?, tables?}
//   table   {title, columns, rows of cells: "text" or ["text", number to sort by]}
//   chart   {type bar|line, title, x, y, labels, series [{name, data}], stacked?, log?, note?}
//   chart   {type scatter, title, x, y, rows (labels of y), series [{name, data [{x, y, n}]}]}
#pragma once

#include "blktag/snapshot.hpp"
#include "report/json_parts.hpp"

#include <string>
#include <string_view>

namespace blktag::report {

// A page around a model {title, lead, sections}.
std::string html_page(const std::string &title, const Json &model);
Json section(std::string_view title);

Json html_time(const Snapshot &snapshot);       // occupancy, waits, rates over time; heat maps
Json html_histograms(const Snapshot &snapshot); // waits by cause, latency by phase, batches

} // namespace blktag::report
