// SPDX-License-Identifier: GPL-2.0-or-later
// Findings as text. Input: findings. Output: lines on a Page, and single texts for other layouts.
#pragma once

#include "diagnose/diagnose.hpp"
#include "report/layout.hpp"
#include "report/text_parts.hpp"

#include <string>
#include <vector>

namespace blktag::report {

// "no finding", or "1 critical, 2 warning: stuck_request".
std::string verdict_text(const std::vector<diagnose::Finding> &findings);
// "oldest wait 31.0 s", "wait share 12.0 %"
std::string evidence_text(const diagnose::Evidence &evidence);
void print_findings(Page &page, const std::vector<diagnose::Finding> &findings);

} // namespace blktag::report
