// SPDX-License-Identifier: GPL-2.0-or-later
// The machine that an experiment runs on: modules built for its kernel, a VM booted once, or this
// machine itself. Input: an experiment and its plan. Output: a results folder filled by the guest's
// driver, or an error with cause and remedy.
#pragma once

#include "experiment.hpp"
#include "options.hpp"
#include "plan.hpp"

#include <expected>
#include <string>
#include <vector>

namespace taglab {

// The kernels that "all" and a missing --kernel stand for; an error for one that the VM bed does
// not know.
std::expected<std::vector<std::string>, blktag::Error> chosen_kernels(const Options &options);

std::string results_folder(const Options &options, const std::string &experiment,
                           const std::string &kernel);

// What a run cannot do without, checked before anything is started: programs, room on disk.
std::expected<void, blktag::Error> check_host(const Options &options);

// Runs experiments that ask for the same machine in one boot of it, one after the other. Whether
// the planned runs took place is told by the files they left: a VM that dies in the middle leaves
// those before. Being interrupted is an error too.
std::expected<void, blktag::Error> run_on_machine(const Options &options,
                                                  const std::vector<const Experiment *> &group,
                                                  const std::string &kernel);

} // namespace taglab
