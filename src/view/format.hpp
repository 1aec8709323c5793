// SPDX-License-Identifier: GPL-2.0-or-later
// Values in few columns. Input: numbers. Output: text.
//
// "n/m" is not measured, "-" is that nothing happened to have a value; neither is ever a zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace blktag::view {

inline constexpr const char *not_measured_text = "n/m";
inline constexpr const char *nothing_text = "-";

// "6.48ms", "812ns", "12.0s"; at most six columns below 1000 s.
std::string duration(uint64_t ns);
std::string duration(std::optional<uint64_t> ns);
// "0", "0.42", "12.3", "508", "12.3k", "1.23M".
std::string amount(double value);
// Of a whole: "52.8", "<0.1" for less than that and more than nothing, "100".
std::string percent(double share);
std::string percent(std::optional<double> share);
// "4.0K", "512", "1.5M": bytes, powers of 1024.
std::string bytes(uint64_t value);
// A bar of `width` columns, filled to `share` (0 to 1): blocks with eighths, or "###...".
std::string bar(double share, int width, bool ascii);
// Five columns for a clock: "12:34:56" of CLOCK_REALTIME in UTC.
std::string clock(uint64_t real_ns);
// "0:12.3", "1:02:03.4": a position in a recording.
std::string position(uint64_t ns);

} // namespace blktag::view
