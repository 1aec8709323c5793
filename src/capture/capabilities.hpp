// SPDX-License-Identifier: GPL-2.0-or-later
// What the running kernel offers, found out once. Input: its BTF, /sys, /proc. Output: plain data, so that choosing
// programs is a pure function of it (plan.hpp) and can be tested with invented kernels.
#pragma once

#include "blktag/knobs.h"
#include "blktag/records.hpp"

#include <cstdint>
#include <expected>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace blktag::capture {

struct Capabilities {
    std::map<std::string, int> functions;     // in BTF, of those asked for: number of arguments
    std::set<std::string> tracepoints;        // in BTF, of those asked for
    std::map<std::string, int64_t> enumerators; // in BTF by name, whatever enum they sit in
    uint32_t possible_cpus = 1;
};

// Names that a look-up should find; everything else in BTF is skipped.
struct Wanted {
    std::set<std::string> functions;
    std::set<std::string> tracepoints;
};

// Reads /sys/kernel/btf/vmlinux, or `btf_path` where given. Error: no BTF, or not allowed to read it.
std::expected<Capabilities, Error> find_capabilities(const Wanted &wanted, const std::string &btf_path = {});

// The settings that depend on the kernel's enumerators. Sizes and filters are left at zero.
bt_knobs knobs_for(const Capabilities &capabilities);

} // namespace blktag::capture
