// SPDX-License-Identifier: GPL-2.0-or-later
// A task's name from /proc. Input: tid. Output: bt_task without its header.
#pragma once

#include "blktag/wire.h"

namespace blktag::capture {

// false: no such task any more. cgroup_id is 0 without cgroup2; start_ns has the clock tick's resolution.
bool read_task(uint32_t tid, bt_task &out);

} // namespace blktag::capture
