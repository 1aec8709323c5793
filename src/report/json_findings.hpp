// SPDX-License-Identifier: GPL-2.0-or-later
// Findings to JSON; only for src/report. Input: findings. Output: a JSON array.
#pragma once

#include "diagnose/diagnose.hpp"
#include "report/json_parts.hpp"

#include <vector>

namespace blktag::report {

Json json_of(const std::vector<diagnose::Finding> &findings);

} // namespace blktag::report
