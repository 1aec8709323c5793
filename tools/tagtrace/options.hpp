// SPDX-License-Identifier: GPL-2.0-or-later
// tagtrace's command line. Input: argv. Output: Options, or the exit status to leave with at once.
#pragma once

#include "capture/capture.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace tagtrace {

enum Exit : int { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_impaired = 3 };

enum class Verb { record, live, print, info, doctor };

struct Options {
    Verb verb = Verb::live;
    blktag::capture::Options capture;
    std::vector<std::string> argv;    // as given, for the recording's description
    std::vector<std::string> command; // after --
    std::vector<std::string> filters; // as given, for the recording's description
    std::string file;                 // record: "-" is stdout. print, info: "-" is stdin
    bool force = false;
    bool json = false;
    bool verbose = false;
    std::optional<uint64_t> duration_ns;
    std::optional<uint64_t> max_size_bytes;
};

// Prints help, version and usage errors itself. `now_real_ns` names the file that --record without
// one makes.
std::expected<Options, int> parse_options(int argc, char **argv, uint64_t now_real_ns);

} // namespace tagtrace
