// SPDX-License-Identifier: GPL-2.0-or-later
// tagtop's command line and remembered settings. Input: argv, the settings file. Output: Options,
// or the exit status to leave with at once.
#pragma once

#include "capture/capture.hpp"
#include "view/state.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace tagtop {

enum Exit : int { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_impaired = 3 };

struct Options {
    blktag::capture::Options capture;
    std::string replay; // a recording; empty = live
    uint64_t interval_ns = 1'000'000'000;
    std::optional<uint64_t> seek_ns;
    double speed = 1;
    bool batch = false;
    uint64_t frames = 0; // batch: how many, 0 = until the end
    bool json = false;
    bool colour = true;
    bool mouse = true;
    std::optional<blktag::view::Size> size; // batch
    blktag::view::UiState state;            // what the screen begins with
};

// Prints help, version and usage errors itself.
std::expected<Options, int> parse_options(int argc, char **argv);

// What was chosen on the screen last time, kept in $XDG_CONFIG_HOME/blktag/tagtop.json. A file that
// is not there or not readable changes nothing.
void load_settings(Options &options);
// Only where something differs; failures are nobody's concern at the end of a program.
void save_settings(const blktag::view::UiState &state, uint64_t interval_ns);

} // namespace tagtop
