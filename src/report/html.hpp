// SPDX-License-Identifier: GPL-2.0-or-later
// The report as one HTML page that works from a file, without network. Input: Snapshot, or
// Comparison. Output: HTML text.
//
// Everything from outside is in a JSON data block and only ever set as text by the page's script;
// the content security policy allows the page's own style and scripts by their hash, nothing else.
#pragma once

#include "blktag/snapshot.hpp"
#include "compare/compare.hpp"

#include <string>

namespace blktag::report {

std::string html_report(const Snapshot &snapshot);
std::string html_comparison(const compare::Comparison &comparison);

} // namespace blktag::report
