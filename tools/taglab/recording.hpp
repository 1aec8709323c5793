// SPDX-License-Identifier: GPL-2.0-or-later
// What one run left, as facts. Input: NAME.tag and NAME.run.json in a results folder. Output:
// Facts:
//
//   report.*      the recording's report, by the paths of its JSON; objects in a list go by their
//                 name or number (report.queues.rnull0.hctxs.1.counters.runs)
//   fio.*         over all jobs: ios, iops, lat_mean_us, lat_p99_us, runtime_ms; fio.JOB.* of one
//   truth.*       the module's own counters: truth.rnull0.total.kicks; state.* what is the case
//   values.*      what the workload read by itself; elapsed_ns
#pragma once

#include "formula.hpp"

#include "blktag/records.hpp"

#include <expected>
#include <filesystem>
#include <string>

namespace taglab {

struct RunResult {
    Facts facts;
    std::string kernel; // release
    bool impaired = false;
};

// `recorded`: the run has a recording. An error where the guest says that the run failed, or where
// a file is not there or cannot be read.
std::expected<RunResult, blktag::Error> read_run(const std::filesystem::path &dir,
                                                 const std::string &name, bool recorded);

} // namespace taglab
