// SPDX-License-Identifier: GPL-2.0-or-later
// From runs to figures and verdicts. Input: an experiment, facts of its runs. Output: mean and
// spread of every metric by cell and variant, ratios, and which expectations hold.
#pragma once

#include "experiment.hpp"
#include "formula.hpp"
#include "plan.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace taglab {

struct Figure {
    unsigned count = 0; // runs that measured it
    double mean = 0;
    double low = 0;
    double high = 0;
    // Half the distance between the extremes, in per cent of the mean; nullopt with one run or a
    // mean of 0.
    [[nodiscard]] std::optional<double> spread_pct() const;
};

struct CellResult {
    size_t cell = 0;
    // [metric name][variant name]; a figure with count 0 was not measured
    std::map<std::string, std::map<std::string, Figure>> figures;
};

struct Verdict {
    std::string say;
    std::string cell;
    std::string metric;
    std::optional<double> got; // nullopt = not measured, which never holds
    std::string want;          // ">= 1.4"
    bool holds = false;
};

struct Judged {
    std::vector<CellResult> cells;
    std::vector<Verdict> verdicts;
    bool pass = false;
};

// ">= 1.4", "0.95 to 1.05"
std::string wanted(const Expectation &expectation);

struct RunFacts {
    PlannedRun run;
    Facts facts;
};

Judged judge(const Experiment &experiment, const std::vector<RunFacts> &runs,
             const std::string &kernel);
// Mean over the runs of a variant; nullopt where none measured it.
std::optional<double> mean_of(const CellResult &cell, const std::string &metric,
                              const std::string &variant);
// mean of `of` over mean of `over`; nullopt where one was not measured or `over` is 0.
std::optional<double> ratio(const CellResult &cell, const std::string &metric,
                            const std::string &of, const std::string &over);

} // namespace taglab
