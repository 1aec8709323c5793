// SPDX-License-Identifier: GPL-2.0-or-later
// Which program feeds what, on which rung. Input: Capabilities, options, rungs that turned out not to attach. Output:
// the chosen rung of every probe. Pure functions; by presence, never by kernel version.
#pragma once

#include "capture/capabilities.hpp"
#include "capture/capture.hpp"

#include <set>
#include <string>
#include <vector>

namespace blktag::capture {

// How a program hooks on.
enum class Attach : uint8_t { automatic, kprobe, kretprobe };

struct ProgramUse {
    const char *program; // name in the skeleton
    Attach attach = Attach::automatic;
    const char *function = nullptr; // for kprobe and kretprobe
};

// One way to feed a probe.
struct Rung {
    const char *name;      // "fexit"
    const char *hook;      // function or tracepoint that must exist
    bool tracepoint;
    int arguments;         // the function must have so many, -1 = any
    std::vector<ProgramUse> programs;
};

struct Probe {
    const char *name;
    uint32_t groups;        // any of these wants it
    bool required;          // without it there is no recording
    std::vector<Rung> rungs;// best first
    std::vector<const char *> feeds; // counters or records that are not measured without it
};

// Every probe of the main object.
const std::vector<Probe> &all_probes();

// All hooks that all_probes() and the drivers' probes can use.
Wanted wanted_hooks();

struct Choice {
    const Probe *probe;
    const Rung *rung;  // null = not measured
    std::string why;   // of a null rung
};

// `refused` and options.no_probe hold "probe" or "probe/rung".
std::vector<Choice> choose(const Capabilities &capabilities, const Options &options, const std::set<std::string> &refused);

// What outputs print.
ProbeRung describe(const Choice &choice);

} // namespace blktag::capture
