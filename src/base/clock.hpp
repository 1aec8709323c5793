// SPDX-License-Identifier: GPL-2.0-or-later
// Clocks as text, the same in every locale and time zone. Input: nanoseconds. Output: text.
// Only programs read clocks (now_*); library code gets its times passed in.
#pragma once

#include <cstdint>
#include <string>

namespace blktag::base {

// "2026-02-03 04:05:06.789012 UTC"; CLOCK_REALTIME nanoseconds.
std::string format_utc(uint64_t real_ns);
// "2026-02-03T04:05:06.789012345Z"
std::string format_iso(uint64_t real_ns);
// "20260203-040506", for file names.
std::string format_file_stamp(uint64_t real_ns);
// "12.345678": seconds with microseconds, from a difference that may be negative.
std::string format_seconds(int64_t ns);

uint64_t now_mono_ns();
uint64_t now_real_ns();

} // namespace blktag::base
