// SPDX-License-Identifier: GPL-2.0-or-later
// taglab's command line. Input: argv. Output: Options, or the exit status to leave with at once.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace taglab {

enum Exit : int {
    exit_ok = 0,
    exit_failed = 1, // could not run, or a run is missing
    exit_usage = 2,
    exit_not_held = 3, // everything ran, and something that must hold did not
};

enum class Command { list, run, show };

struct Options {
    Command command = Command::list;
    std::vector<std::string> names;
    std::vector<std::string> kernels; // "6.12", or "all"
    bool quick = false;
    bool json = false;
    bool native = false; // on this machine, not in a VM
    bool yes = false;    // --native asks nothing
    std::string root;    // the tree with contrib/ and tools/
    std::string build;   // the folder with bin/, modules/ and lab/
};

// Prints help, version and usage errors itself.
std::expected<Options, int> parse_options(int argc, char **argv);

} // namespace taglab
