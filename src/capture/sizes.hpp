// SPDX-License-Identifier: GPL-2.0-or-later
// How large the maps are made. Input: CPUs, devices present, options. Output: the sizes in bt_knobs. Pure.
#pragma once

#include "blktag/knobs.h"
#include "capture/capture.hpp"
#include "capture/sysfs.hpp"

namespace blktag::capture {

inline constexpr uint32_t max_ring_size_bytes = 2U << 20; // the kernel's limit for one array element is 4 MiB
inline constexpr uint32_t min_ring_size_bytes = 4U << 10;

void set_sizes(bt_knobs &knobs, const std::vector<SysQueue> &present, const Options &options, uint32_t possible_cpus);

} // namespace blktag::capture
