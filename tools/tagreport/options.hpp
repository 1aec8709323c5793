// SPDX-License-Identifier: GPL-2.0-or-later
// tagreport's command line. Input: argv. Output: Options, or the exit status to leave with at once.
#pragma once

#include "diagnose/diagnose.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace tagreport {

enum Exit : int { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_impaired = 3, exit_findings = 4 };

struct Options {
    std::vector<std::string> files;
    bool json = false;
    bool json_schema = false;
    bool thresholds = false;
    bool check = false; // exit_findings where there are findings of this severity or above
    blktag::diagnose::Severity severity = blktag::diagnose::Severity::warning;
    std::string expect; // file of bounds, empty = none
    std::string html; // file for the page, empty = none
    bool compare = false;
    uint32_t runs = 1; // files that make one side of the comparison
    std::string output; // empty = stdout
    uint64_t from_ns = 0;
    std::optional<uint64_t> to_ns; // both since the recording's start
};

// Prints help, version and usage errors itself.
std::expected<Options, int> parse_options(int argc, char **argv);

} // namespace tagreport
