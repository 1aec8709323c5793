// SPDX-License-Identifier: GPL-2.0-or-later
// What taglab prints. Input: experiments and what was judged of them. Output: text of at most 100
// columns, or JSON.
#pragma once

#include "experiment.hpp"
#include "judge.hpp"

#include <string>
#include <vector>

namespace taglab {

// One experiment on one kernel.
struct Outcome {
    const Experiment *experiment = nullptr;
    std::string kernel;  // "6.12"
    std::string release; // of the recordings, empty without any
    bool quick = false;
    unsigned runs = 0;                 // that gave figures
    std::vector<std::string> problems; // runs that did not take place, damaged recordings
    Judged judged;
    [[nodiscard]] bool pass() const { return problems.empty() && judged.pass; }
};

std::string list_text(const std::vector<Experiment> &experiments);
std::string show_text(const Experiment &experiment);
std::string outcome_text(const Outcome &outcome);
// A line for each: passed or not.
std::string summary_text(const std::vector<Outcome> &outcomes);

Json list_json(const std::vector<Experiment> &experiments);
// {"schema":"blktag-lab-1.0","experiments":[...]}
Json outcomes_json(const std::vector<Outcome> &outcomes);

} // namespace taglab
