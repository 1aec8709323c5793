// SPDX-License-Identifier: GPL-2.0-or-later
// Starts a helper program and waits for it. Input: command line, folder. Output: its exit status.
//
// The program is in taglab's process group, so a Ctrl-C reaches it too; a SIGTERM or SIGHUP that
// reaches only taglab is passed on. Either way taglab waits for its end, so that nothing is left
// running, and then says that it was interrupted.
#pragma once

#include "blktag/records.hpp"

#include <expected>
#include <string>
#include <vector>

namespace taglab {

struct Ended {
    int status = 0;           // exit status, 128 + signal where one killed it
    bool interrupted = false; // taglab was asked to stop meanwhile
};

// Its standard output goes to taglab's standard error, which keeps ours for results.
std::expected<Ended, blktag::Error> run_program(const std::vector<std::string> &command,
                                                const std::string &folder);
// Its standard output; an error where it does not end with 0.
std::expected<std::string, blktag::Error> program_output(const std::vector<std::string> &command);

} // namespace taglab
