// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a comparison; only for src/compare. Input: sides. Output: differences, metrics, one line.
#pragma once

#include "compare/compare.hpp"

#include <string>
#include <vector>

namespace blktag::compare {

// Numerator and denominator, so that means over several samples weigh right; denominator 0 = none.
struct Quotient {
    double part = 0, whole = 0;
};
struct Definition {
    std::string_view id, unit;
    Quotient (*of_run)(const Snapshot &);
    // Of one time slice of length_ns; nullptr where slices do not tell it.
    Quotient (*of_slice)(const Slice &, double length_ns);
};
const std::vector<Definition> &definitions();

std::vector<Difference> config_differences(const std::vector<Side> &sides);
Metric measure(const Definition &definition, const std::vector<Side> &sides, const Options &options,
               bool by_runs);
std::vector<FindingChange> finding_changes(const std::vector<Side> &sides, const Options &options);
std::string explain(const Comparison &comparison, const std::vector<Side> &sides);
// Queues that completed something.
std::vector<const QueueStats *> active_queues(const Snapshot &snapshot);

} // namespace blktag::compare
