// SPDX-License-Identifier: GPL-2.0-or-later
// Text, units, clocks and descriptors. Input: literals and random bytes. Output: verdicts.
#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>
#include <unistd.h>

namespace blktag::base {
namespace {

TEST(Text, control_bytes_never_pass)
{
    EXPECT_EQ(escape_terminal("plain name-1"), "plain name-1");
    EXPECT_EQ(escape_terminal("a\x1b[31mb\n\t\x7f"), "a\\x1b[31mb\\x0a\\x09\\x7f");
    EXPECT_EQ(escape_terminal(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(escape_terminal("back\\slash"), "back\\\\slash");
    EXPECT_EQ(escape_terminal("\xc2\x9b"
                              "31m"),
              "\\u{009b}31m")
        << "C1 control sequence introducer";
    EXPECT_EQ(escape_terminal("\xe2\x80\xae"
                              "gpj"),
              "\\u{202e}gpj")
        << "right-to-left override";
    EXPECT_EQ(escape_terminal("e\xcc\x81"), "e\\u{0301}") << "combining accent";
    EXPECT_EQ(escape_terminal("\xef\xbb\xbf"), "\\u{feff}");
    EXPECT_EQ(escape_terminal("\xf3\xa0\x80\xa0"), "\\u{e0020}");
}

TEST(Text, utf8_is_checked_strictly)
{
    EXPECT_EQ(escape_terminal("caf\xc3\xa9"), "caf\xc3\xa9");
    EXPECT_EQ(escape_terminal("\xc3"), "\\xc3") << "cut";
    EXPECT_EQ(escape_terminal("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
    EXPECT_EQ(escape_terminal("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
    EXPECT_EQ(escape_terminal("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
    EXPECT_EQ(escape_terminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "above U+10FFFF";
    EXPECT_EQ(escape_terminal("\x80"), "\\x80");
}

TEST(Text, widths)
{
    EXPECT_EQ(display_width("abc"), 3U);
    EXPECT_EQ(display_width("caf\xc3\xa9"), 4U);
    EXPECT_EQ(display_width("\xe6\xbc\xa2\xe5\xad\x97"), 4U) << "two wide characters";
    EXPECT_EQ(pad("ab", 4), "ab  ");
    EXPECT_EQ(pad("ab", 4, true), "  ab");
    EXPECT_EQ(pad("abcdef", 4), "abcdef");
    EXPECT_EQ(pad("\xe6\xbc\xa2", 4), "\xe6\xbc\xa2  ");
}

TEST(Text, cutting_keeps_the_width_and_marks_it)
{
    EXPECT_EQ(escape_terminal("abcdef", 6), "abcdef");
    EXPECT_EQ(escape_terminal("abcdefg", 6), "abcde~");
    EXPECT_EQ(escape_terminal("abc\x1b", 5), "abc~") << "an escape is not cut in two";
    EXPECT_EQ(escape_terminal("abc", 0), "");
    EXPECT_EQ(escape_terminal("\xe6\xbc\xa2\xe6\xbc\xa2", 3), "\xe6\xbc\xa2~");
}

RC_GTEST_PROP(Text, any_bytes_become_harmless, (const std::string &bytes, uint8_t columns))
{
    for (const std::string &shown : {escape_terminal(bytes), escape_terminal(bytes, columns)}) {
        for (const char c : shown)
            RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
        // What passed is valid: escaping it again changes backslashes only.
        std::string without = shown;
        std::erase(without, '\\');
        RC_ASSERT(escape_terminal(without) == without);
    }
    RC_ASSERT(display_width(escape_terminal(bytes, columns)) <= columns);
}

RC_GTEST_PROP(Text, json_strings_are_json, (const std::string &bytes))
{
    const std::string text = json_string(bytes);
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    RC_ASSERT(parsed.is_string());
    for (const char c : text)
        RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

TEST(Text, json_keeps_good_text)
{
    EXPECT_EQ(json_string("a\"b\\c\n\x1b"), R"("a\"b\\c\u000a\u001b")");
    EXPECT_EQ(nlohmann::json::parse(json_string("caf\xc3\xa9 \xf0\x9f\x98\x80")).get<std::string>(),
              "caf\xc3\xa9 \xf0\x9f\x98\x80");
    EXPECT_EQ(json_string("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(Text, fixed_names_end_at_nul)
{
    const unsigned char name[4] = {'f', 'i', 0, 'o'};
    EXPECT_EQ(fixed_string(name, 4), "fi");
    EXPECT_EQ(fixed_string(name, 2), "fi");
}

TEST(Units, durations)
{
    EXPECT_EQ(format_duration(0), "0 ns");
    EXPECT_EQ(format_duration(999), "999 ns");
    EXPECT_EQ(format_duration(1000), "1.00 us");
    EXPECT_EQ(format_duration(9'994), "9.99 us");
    EXPECT_EQ(format_duration(9'995), "10.0 us");
    EXPECT_EQ(format_duration(99'950), "100 us");
    EXPECT_EQ(format_duration(999'499), "999 us");
    EXPECT_EQ(format_duration(999'500), "1.00 ms");
    EXPECT_EQ(format_duration(12'000'000'000), "12.0 s");
    EXPECT_EQ(format_duration(UINT64_MAX), "18446744074 s");
}

TEST(Units, bytes_and_counts)
{
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(1024), "1.00 KiB");
    EXPECT_EQ(format_bytes(4096), "4.00 KiB");
    EXPECT_EQ(format_bytes(1536ULL << 20), "1.50 GiB");
    EXPECT_EQ(format_bytes(UINT64_MAX), "16384 PiB");
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1000), "1 000");
    EXPECT_EQ(format_count(1234567), "1 234 567");
}

TEST(Units, sizes_are_parsed)
{
    EXPECT_EQ(parse_bytes("4096"), 4096U);
    EXPECT_EQ(parse_bytes("64K"), 65536U);
    EXPECT_EQ(parse_bytes("64k"), 65536U);
    EXPECT_EQ(parse_bytes("1.5MiB"), 1572864U);
    EXPECT_EQ(parse_bytes("2G"), 2147483648U);
    for (const char *bad :
         {"", "K", "-1", "1.5", "1X", "1KK", "99999999999999999999", "20000000T", "1 K"})
        EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(Units, times_are_parsed)
{
    EXPECT_EQ(parse_duration_ns("10"), 10'000'000'000U);
    EXPECT_EQ(parse_duration_ns("1.5s"), 1'500'000'000U);
    EXPECT_EQ(parse_duration_ns("500ms"), 500'000'000U);
    EXPECT_EQ(parse_duration_ns("20us"), 20'000U);
    EXPECT_EQ(parse_duration_ns("3m"), 180'000'000'000U);
    EXPECT_EQ(parse_duration_ns("1h"), 3'600'000'000'000U);
    for (const char *bad : {"", "s", "-1", "1.", "1d", "1e3", "99999999999h"})
        EXPECT_FALSE(parse_duration_ns(bad)) << bad;
}

TEST(Clock, moments_as_text)
{
    constexpr uint64_t moment_ns = 1'770'091'506'789'012'345;
    EXPECT_EQ(format_utc(moment_ns), "2026-02-03 04:05:06.789012 UTC");
    EXPECT_EQ(format_iso(moment_ns), "2026-02-03T04:05:06.789012345Z");
    EXPECT_EQ(format_file_stamp(moment_ns), "20260203-040506");
    EXPECT_EQ(format_utc(0), "1970-01-01 00:00:00.000000 UTC");
    EXPECT_EQ(format_utc(1'709'164'800'000'000'000), "2024-02-29 00:00:00.000000 UTC");
    EXPECT_EQ(format_seconds(12'345'678'901), "12.345678");
    EXPECT_EQ(format_seconds(-1'500'000'000), "-1.500000");
    EXPECT_EQ(format_seconds(INT64_MIN), "-9223372036.854775");
    const uint64_t earlier = now_mono_ns();
    EXPECT_LE(earlier, now_mono_ns());
}

TEST(Fd, closes_once_and_moves)
{
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    Fd read_end(ends[0]);
    {
        Fd write_end(ends[1]);
        Fd moved(std::move(write_end));
        EXPECT_TRUE(moved.valid());
        size_t written = 0;
        const std::string text = "abc";
        EXPECT_EQ(write_all(moved.get(), std::as_bytes(std::span(text)), written), 0);
        EXPECT_EQ(written, 3U);
    }
    std::array<std::byte, 8> got{};
    EXPECT_EQ(read_full(read_end.get(), got).value(), 3U)
        << "the end came: the descriptor was closed";
    EXPECT_EQ(read_end.close_now(), 0);
    EXPECT_FALSE(read_end.valid());
    EXPECT_EQ(read_full(ends[0], got).error(), EBADF);
}

TEST(Fd, errors_say_what_and_why)
{
    const Error error = errno_error("cannot open x", ENOENT, "make it");
    EXPECT_EQ(error.what, "cannot open x: No such file or directory");
    EXPECT_EQ(error.remedy, "make it");
    EXPECT_EQ(errno_text(99999), "error 99999");
}

} // namespace
} // namespace blktag::base
