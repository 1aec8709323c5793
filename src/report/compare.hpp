// SPDX-License-Identifier: GPL-2.0-or-later
// A comparison as text and JSON. Input: Comparison. Output: plain text of at most 80 columns, or
// JSON (schema "blktag-comparison-1.0").
#pragma once

#include "compare/compare.hpp"

#include <string>

namespace blktag::report {

std::string text_comparison(const compare::Comparison &comparison);
std::string json_comparison(const compare::Comparison &comparison);
// A metric's value with its unit: "5.52 ms", "12.0 %", "508 /s"; "-" without one.
std::string metric_text(std::optional<double> value, std::string_view unit);

} // namespace blktag::report
