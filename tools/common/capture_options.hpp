// SPDX-License-Identifier: GPL-2.0-or-later
// Options that every program that captures has, in the same words. Input: CLI11 app, where the
// values go. Output: options of the app.
#pragma once

#include "capture/capture.hpp"

#include <CLI/CLI.hpp>

namespace blktag::tools {

// Whose I/O: -d, -p, -c. `capture` must live until the app has parsed.
inline void add_target_options(CLI::App &app, capture::Options &capture)
{
    app.add_option("-d,--device", capture.devices,
                   "only this device (name, path or major:minor); repeatable")
        ->type_name("DEV")
        ->allow_extra_args(false);
    app.add_option("-p,--pid", capture.tgid, "only I/O of this process")->type_name("PID");
    app.add_option("-c,--cgroup", capture.cgroup, "only I/O of tasks in this cgroup (v2)")
        ->type_name("PATH");
}

inline void add_probe_options(CLI::App &app, capture::Options &capture)
{
    app.add_option("--no-probe", capture.no_probe,
                   "do without a probe (NAME or NAME/RUNG); repeatable")
        ->type_name("NAME")
        ->allow_extra_args(false);
}

} // namespace blktag::tools
