// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes from outside made safe to show: a strict UTF-8 decoder and what may pass it.
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <iterator>

namespace blktag::base {
namespace {

struct Range {
    uint32_t first, last;
};

// Characters without a column of their own, or that change their neighbours: Unicode categories Mn,
// Me, Cf, Zl, Zp, Cc (C1), Cs, Co and the unassigned planes, joined to coarse blocks: a letter lost
// in a block is shown as its number.
constexpr std::array<Range, 33> not_shown{
    {{0x80, 0x9f},     {0xad, 0xad},     {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
     {0x5bf, 0x5c7},   {0x600, 0x605},   {0x610, 0x61c},   {0x64b, 0x65f},   {0x670, 0x670},
     {0x6d6, 0x6ed},   {0x70f, 0x74a},   {0x7a6, 0x7b0},   {0x7eb, 0x7f3},   {0x816, 0x902},
     {0x93a, 0x957},   {0x962, 0x963},   {0x981, 0x983},   {0x9bc, 0xe4e},   {0xeb1, 0xfc6},
     {0x102b, 0x109d}, {0x1160, 0x11ff}, {0x135d, 0x135f}, {0x1712, 0x1dff}, {0x200b, 0x200f},
     {0x2028, 0x202e}, {0x2060, 0x206f}, {0x20d0, 0x20ff}, {0x302a, 0x302f}, {0x3099, 0x309a},
     {0xd7b0, 0xf8ff}, {0xfb1e, 0xfe2f}, {0xfe70, 0xfeff}}};
constexpr std::array<Range, 16> wide{{{0x1100, 0x115f},
                                      {0x231a, 0x231b},
                                      {0x23e9, 0x23ec},
                                      {0x2614, 0x2615},
                                      {0x26a1, 0x26a1},
                                      {0x2e80, 0x303e},
                                      {0x3041, 0x33ff},
                                      {0x3400, 0x4dbf},
                                      {0x4e00, 0xa4cf},
                                      {0xa960, 0xa97c},
                                      {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff},
                                      {0xfe30, 0xfe6f},
                                      {0xff01, 0xff60},
                                      {0xffe0, 0xffe6},
                                      {0x1f300, 0x1faff}}};

bool in_ranges(uint32_t code, const Range *begin, const Range *end)
{
    const Range *at =
        std::lower_bound(begin, end, code, [](const Range &r, uint32_t c) { return r.last < c; });
    return at != end && at->first <= code;
}

bool shown(uint32_t code)
{
    if (code < 0x20 || code == 0x7f || (code >= 0xfff0 && code <= 0xffff))
        return false;
    if (code >= 0x10000)
        return (code >= 0x1f300 && code <= 0x1f3fa) || (code >= 0x1f400 && code <= 0x1faff) ||
               (code >= 0x20000 && code <= 0x323af);
    return !in_ranges(code, std::begin(not_shown), std::end(not_shown));
}

size_t columns_of(uint32_t code)
{
    return code >= 0x20000 || in_ranges(code, std::begin(wide), std::end(wide)) ? 2 : 1;
}

struct Decoded {
    uint32_t code = 0;
    size_t length = 0; // 0 = not UTF-8
};

// Strict: no overlong forms, surrogates or values above U+10FFFF.
Decoded decode_utf8(std::string_view bytes)
{
    const auto byte = [&](size_t i) {
        return static_cast<unsigned char>(bytes[i]);
    };
    const uint32_t lead = byte(0);
    if (lead < 0x80)
        return {lead, 1};
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length)
        return {};
    uint32_t code = lead & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte(i) & 0xc0) != 0x80)
            return {};
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::array<uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return {};
    return {code, length};
}

// One character (or bad byte) of `bytes` as it may be shown.
struct Piece {
    std::string text;
    size_t columns = 0;
    size_t length = 0; // bytes taken
};

Piece next_piece(std::string_view bytes)
{
    const Decoded d = decode_utf8(bytes);
    Piece piece;
    piece.length = std::max<size_t>(d.length, 1);
    if (d.length == 0 || d.code < 0x20 || d.code == 0x7f)
        piece.text = fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    else if (d.code == '\\')
        piece.text = "\\\\";
    else if (!shown(d.code))
        piece.text = fmt::format("\\u{{{:04x}}}", d.code);
    else {
        piece.text = bytes.substr(0, d.length);
        piece.columns = columns_of(d.code);
        return piece;
    }
    piece.columns = piece.text.size();
    return piece;
}

bool plain(std::string_view bytes)
{
    return std::all_of(bytes.begin(), bytes.end(),
                       [](char c) { return c >= 0x20 && c < 0x7f && c != '\\'; });
}

} // namespace

std::string escape_terminal(std::string_view bytes)
{
    if (plain(bytes))
        return std::string(bytes);
    std::string out;
    while (!bytes.empty()) {
        const Piece piece = next_piece(bytes);
        out += piece.text;
        bytes.remove_prefix(piece.length);
    }
    return out;
}

std::string escape_terminal(std::string_view bytes, size_t max_columns)
{
    std::string out;
    size_t columns = 0;
    size_t cut_at = 0; // bytes of `out` that leave a column for the mark
    while (!bytes.empty()) {
        const Piece piece = next_piece(bytes);
        if (columns + piece.columns > max_columns) {
            out.resize(cut_at);
            return max_columns ? out + "~" : out;
        }
        out += piece.text;
        columns += piece.columns;
        if (columns < max_columns)
            cut_at = out.size();
        bytes.remove_prefix(piece.length);
    }
    return out;
}

Glyph first_glyph(std::string_view escaped)
{
    if (escaped.empty())
        return {};
    const Decoded d = decode_utf8(escaped);
    if (d.length <= 1)
        return {d.length ? static_cast<char32_t>(d.code) : U'?', 1, 1};
    return {static_cast<char32_t>(d.code), columns_of(d.code), d.length};
}

size_t display_width(std::string_view escaped)
{
    size_t columns = 0;
    while (!escaped.empty()) {
        const Decoded d = decode_utf8(escaped);
        columns += d.length > 1 ? columns_of(d.code) : 1;
        escaped.remove_prefix(std::max<size_t>(d.length, 1));
    }
    return columns;
}

std::string pad(std::string_view escaped, size_t columns, bool right)
{
    const size_t width = display_width(escaped);
    const std::string fill(columns > width ? columns - width : 0, ' ');
    return right ? fill + std::string(escaped) : std::string(escaped) + fill;
}

void append_json_string(std::string &out, std::string_view bytes)
{
    out += '"';
    while (!bytes.empty()) {
        const Decoded d = decode_utf8(bytes);
        if (d.length == 0)
            out += "\xef\xbf\xbd";
        else if (d.code == '"' || d.code == '\\')
            (out += '\\') += static_cast<char>(d.code);
        else if (d.code < 0x20 || (d.code >= 0x7f && d.code <= 0x9f))
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", d.code);
        else
            out += bytes.substr(0, d.length);
        bytes.remove_prefix(std::max<size_t>(d.length, 1));
    }
    out += '"';
}

std::string json_string(std::string_view bytes)
{
    std::string out;
    append_json_string(out, bytes);
    return out;
}

std::string_view fixed_string(const unsigned char *bytes, size_t size)
{
    const auto *text = reinterpret_cast<const char *>(bytes);
    return {text, ::strnlen(text, size)};
}

} // namespace blktag::base
