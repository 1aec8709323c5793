// SPDX-License-Identifier: GPL-2.0-or-later
// Two or more recordings side by side: what was set differently, what came out differently, whether
// that is more than noise, and what explains it. Input: Snapshots. Output: Comparison, or why the
// recordings cannot be compared. Pure and deterministic.
//
//     const auto c = compare::compare({{"before", {&a}}, {"after", {&b}}});
//     if (!c) complain(c.error());
//     print(c->explanation);
//
// A side may be several runs of one setting. With three runs or more on every side the spread is
// between runs; else it is between time slices inside the recordings, which knows nothing of what
// differs from run to run (Comparison::samples says which one it was). Snapshots are only read.
#pragma once

#include "blktag/records.hpp"
#include "blktag/snapshot.hpp"
#include "diagnose/diagnose.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace blktag::compare {

struct Side {
    std::string name;                  // as it shall be shown; escaped by the caller
    std::vector<const Snapshot *> runs; // not owned, not null
};

struct Options {
    uint32_t resamples = 2000; // of the bootstrap
    double confidence = 0.95;  // of its interval
    uint64_t seed = 1;
    diagnose::Thresholds thresholds;
};

// Settings that differ, a value for each side.
struct Difference {
    std::string what; // "kernel", "scheduler", "driver depth", "load: reads", ...
    std::vector<std::string> values;
};

enum class Change : uint8_t {
    baseline, // the first side
    none,     // the interval holds 1
    more,
    less,
    untested, // nothing to tell the noise from
};
std::string_view change_name(Change change);

struct Cell {
    std::optional<double> value; // nullopt = not measured, or nothing happened
    std::optional<double> spread; // standard deviation over the mean, of the samples
    uint32_t samples = 0;
    std::optional<double> ratio; // to the first side
    std::optional<double> ratio_low, ratio_high; // bootstrap interval
    Change change = Change::baseline;
};

struct Metric {
    std::string id; // "iops", "latency_mean", ...
    std::string unit; // "1/s", "B/s", "B", "ns", "share", "runs", ...
    std::vector<Cell> sides;
};

struct FindingChange {
    std::string id;
    std::string where; // queue or queues
    std::vector<bool> present; // by side
};

struct Comparison {
    std::vector<std::string> names;
    std::vector<Difference> config;
    std::vector<Metric> metrics;
    std::vector<FindingChange> findings; // on some sides and not on all
    std::string explanation;             // one line
    std::vector<std::string> warnings;
    std::string samples; // "runs" or "time slices"
    double confidence = 0;
    uint32_t resamples = 0;
    [[nodiscard]] const Metric *metric(std::string_view id) const;
};

std::expected<Comparison, Error> compare(const std::vector<Side> &sides, const Options &options = {});

} // namespace blktag::compare
