// SPDX-License-Identifier: GPL-2.0-or-later
// What to run, in order. Input: an experiment, the quick form or not. Output: planned runs, and the
// plan.json that the guest's driver reads.
#pragma once

#include "experiment.hpp"

#include <string>
#include <vector>

namespace taglab {

struct PlannedRun {
    std::string name; // "A.read.1", "A.read.1.bare"
    size_t variant = 0;
    size_t cell = 0;
    unsigned repeat = 1;
    bool bare = false;
};

std::vector<PlannedRun> planned_runs(const Experiment &experiment, bool quick);

struct Places {
    std::string tagtrace; // program
    std::string modules;  // folder of .ko files
    std::string fio;      // folder of job files
};

Json plan_json(const Experiment &experiment, const std::vector<PlannedRun> &runs, bool quick,
               const Places &places);

} // namespace taglab
