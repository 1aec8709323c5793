// SPDX-License-Identifier: GPL-2.0-or-later
// Short forms. Input: numbers. Output: text.
#include "view/format.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace blktag::view {

std::string duration(uint64_t ns)
{
    std::string text = base::format_duration(ns);
    std::erase(text, ' ');
    return text;
}

std::string duration(std::optional<uint64_t> ns)
{
    return ns ? duration(*ns) : nothing_text;
}

std::string amount(double value)
{
    if (value <= 0)
        return "0";
    constexpr std::array<const char *, 5> suffixes{"", "k", "M", "G", "T"};
    size_t i = 0;
    while (value >= 9999.5 && i + 1 < suffixes.size()) {
        value /= 1000;
        ++i;
    }
    if (i == 0 && value >= 99.5)
        return fmt::format("{:.0f}", value);
    if (value >= 99.95)
        return fmt::format("{:.0f}{}", value, suffixes[i]);
    if (value >= 9.995)
        return fmt::format("{:.1f}{}", value, suffixes[i]);
    return value < 0.005 ? "<.01" : fmt::format("{:.2f}{}", value, suffixes[i]);
}

std::string percent(double share)
{
    if (share <= 0)
        return "0";
    if (share < 0.0005)
        return "<0.1";
    if (share >= 0.9995)
        return "100";
    return fmt::format("{:.1f}", share * 100);
}

std::string percent(std::optional<double> share)
{
    return share ? percent(*share) : not_measured_text;
}

std::string bytes(uint64_t value)
{
    constexpr std::array<const char *, 6> suffixes{"", "K", "M", "G", "T", "P"};
    double scaled = static_cast<double>(value);
    size_t i = 0;
    while (scaled >= 1023.5 && i + 1 < suffixes.size()) {
        scaled /= 1024;
        ++i;
    }
    return i == 0 || scaled >= 9.95 ? fmt::format("{:.0f}{}", scaled, suffixes[i])
                                    : fmt::format("{:.1f}{}", scaled, suffixes[i]);
}

std::string bar(double share, int width, bool ascii)
{
    const double filled = std::clamp(share, 0.0, 1.0) * width;
    std::string out;
    if (ascii) {
        const int full = static_cast<int>(std::lround(filled));
        out.assign(static_cast<size_t>(full), '#');
        out.append(static_cast<size_t>(width - full), '.');
        return out;
    }
    constexpr std::array<const char *, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int parts = static_cast<int>(std::lround(filled * 8));
    for (int i = 0; i < parts / 8; ++i)
        out += "█";
    out += eighths[static_cast<size_t>(parts % 8)];
    for (int i = parts / 8 + (parts % 8 ? 1 : 0); i < width; ++i)
        out += "·";
    return out;
}

std::string clock(uint64_t real_ns)
{
    const uint64_t s = real_ns / 1'000'000'000 % 86400;
    return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string position(uint64_t ns)
{
    const uint64_t tenths = ns / 100'000'000;
    const uint64_t s = tenths / 10;
    if (s >= 3600)
        return fmt::format("{}:{:02}:{:02}.{}", s / 3600, s / 60 % 60, s % 60, tenths % 10);
    return fmt::format("{}:{:02}.{}", s / 60, s % 60, tenths % 10);
}

} // namespace blktag::view
