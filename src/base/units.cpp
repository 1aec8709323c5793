// SPDX-License-Identifier: GPL-2.0-or-later
// Quantities for people: integer arithmetic only, so the same number gives the same text
// everywhere.
#include "base/units.hpp"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <span>

namespace blktag::base {
namespace {

struct Unit {
    uint64_t size;
    const char *name;
};

// Three significant digits of value / unit, moving to the next unit where rounding reaches it.
std::string three_digits(uint64_t value, std::span<const Unit> units)
{
    if (value < units[1].size)
        return fmt::format("{} {}", value, units[0].name);
    size_t at = 1;
    while (at + 1 < units.size() && value >= units[at + 1].size)
        at++;
    for (;; at++) {
        const uint64_t size = units[at].size;
        const auto scaled = [&](uint64_t by) {
            return static_cast<uint64_t>((static_cast<unsigned __int128>(value) * by + size / 2) /
                                         size);
        };
        const bool next = at + 1 < units.size();
        if (const uint64_t hundredths = scaled(100); hundredths < 1000)
            return fmt::format("{}.{:02} {}", hundredths / 100, hundredths % 100, units[at].name);
        if (const uint64_t tenths = scaled(10); tenths < 1000)
            return fmt::format("{}.{} {}", tenths / 10, tenths % 10, units[at].name);
        const uint64_t whole = scaled(1);
        if (!next || whole < units[at + 1].size / size)
            return fmt::format("{} {}", whole, units[at].name);
    }
}

constexpr std::array<Unit, 4> duration_units{
    {{1, "ns"}, {1'000, "us"}, {1'000'000, "ms"}, {1'000'000'000, "s"}}};
constexpr std::array<Unit, 6> byte_units{{{1, "B"},
                                          {1ULL << 10, "KiB"},
                                          {1ULL << 20, "MiB"},
                                          {1ULL << 30, "GiB"},
                                          {1ULL << 40, "TiB"},
                                          {1ULL << 50, "PiB"}}};

struct Parsed {
    uint64_t whole = 0;
    uint64_t fraction = 0; // in units of 10^-digits
    unsigned digits = 0;
    std::string_view suffix;
};

std::optional<Parsed> parse_number(std::string_view text)
{
    Parsed out;
    const char *end = text.data() + text.size();
    const auto [after, status] = std::from_chars(text.data(), end, out.whole);
    if (status != std::errc{})
        return std::nullopt;
    const char *at = after;
    if (at != end && *at == '.') {
        const char *begin = ++at;
        const auto [stop, error] = std::from_chars(begin, end, out.fraction);
        if (error != std::errc{} || stop - begin > 9)
            return std::nullopt;
        out.digits = static_cast<unsigned>(stop - begin);
        at = stop;
    }
    out.suffix = std::string_view(at, static_cast<size_t>(end - at));
    return out;
}

std::optional<uint64_t> scale(const Parsed &number, uint64_t unit)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < number.digits; i++)
        power *= 10;
    const auto value = static_cast<unsigned __int128>(number.whole) * unit +
                       static_cast<unsigned __int128>(number.fraction) * unit / power;
    if (value > UINT64_MAX)
        return std::nullopt;
    return static_cast<uint64_t>(value);
}

} // namespace

std::string format_duration(uint64_t ns)
{
    return three_digits(ns, duration_units);
}

std::string format_bytes(uint64_t bytes)
{
    return three_digits(bytes, byte_units);
}

std::string format_count(uint64_t value)
{
    std::string digits = fmt::format("{}", value);
    for (size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ' ');
    }
    return digits;
}

std::optional<uint64_t> parse_bytes(std::string_view text)
{
    const auto number = parse_number(text);
    if (!number)
        return std::nullopt;
    std::string_view suffix = number->suffix;
    if (suffix.empty() || suffix == "B")
        return number->digits ? std::nullopt : scale(*number, 1);
    constexpr std::string_view letters = "KMGT";
    const size_t at = letters.find(static_cast<char>(suffix[0] & ~0x20));
    suffix.remove_prefix(1);
    if (at == std::string_view::npos || !(suffix.empty() || suffix == "iB" || suffix == "B"))
        return std::nullopt;
    return scale(*number, 1ULL << (10 * (at + 1)));
}

std::optional<uint64_t> parse_duration_ns(std::string_view text)
{
    const auto number = parse_number(text);
    if (!number)
        return std::nullopt;
    constexpr std::array<Unit, 7> units{{{1, "ns"},
                                         {1'000, "us"},
                                         {1'000'000, "ms"},
                                         {1'000'000'000, "s"},
                                         {1'000'000'000, ""},
                                         {60'000'000'000, "m"},
                                         {3'600'000'000'000, "h"}}};
    for (const Unit &unit : units) {
        if (number->suffix == unit.name)
            return scale(*number, unit.size);
    }
    return std::nullopt;
}

} // namespace blktag::base
