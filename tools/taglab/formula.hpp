// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic over named facts, so that what an experiment measures is data. Input: a formula such
// as "counters.runs / counters.completes" and facts. Output: a number, or "not measured".
//
// Grammar: sums, products, parentheses, numbers, names, and sum() max() min() count() over a name
// with * for any one part ("sum(queues.*.counters.runs)"). A name that is not among the facts, a
// division by zero and a function over nothing give "not measured" (count() gives 0); so does
// everything that is made of them.
#pragma once

#include "blktag/records.hpp"

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace taglab {

// Sorted by name. What was not measured is not in it.
using Facts = std::map<std::string, double, std::less<>>;

// Whether it can be read at all.
std::expected<void, blktag::Error> check_formula(std::string_view formula);
// nullopt = not measured, or a formula that check_formula refuses.
std::optional<double> evaluate(std::string_view formula, const Facts &facts);

} // namespace taglab
