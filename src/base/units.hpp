// SPDX-License-Identifier: GPL-2.0-or-later
// Quantities for people: numbers with units to text and back. Input: numbers, or what a user typed.
// Output: the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blktag::base {

// Three significant digits: "0 ns", "812 ns", "1.23 us", "45.6 ms", "12.0 s". Rounded half up,
// exactly (no floats).
std::string format_duration(uint64_t ns);
// "0 B", "812 B", "1.23 KiB", "45.6 MiB".
std::string format_bytes(uint64_t bytes);
// "1 234 567"
std::string format_count(uint64_t value);

// "4096", "64K", "64KiB", "2M", "1G", "1T": powers of 1024. nullopt where it is none or too large.
std::optional<uint64_t> parse_bytes(std::string_view text);
// "10" (seconds), "10s", "1.5s", "500ms", "20us", "3m", "1h" -> nanoseconds.
std::optional<uint64_t> parse_duration_ns(std::string_view text);

} // namespace blktag::base
