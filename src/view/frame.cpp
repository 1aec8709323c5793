// SPDX-License-Identifier: GPL-2.0-or-later
// The grid. Input: text. Output: cells and lines.
#include "view/frame.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace blktag::view {

namespace {

void append_utf8(std::string &out, char32_t c)
{
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | c >> 6);
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | c >> 12);
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | c >> 18);
        out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    }
}

void trim_line(std::string &out, size_t from)
{
    while (out.size() > from && out.back() == ' ')
        out.pop_back();
    out += '\n';
}

} // namespace

Frame::Frame(int width, int height, bool ascii)
    : width_(std::max(width, 0)), height_(std::max(height, 0)), ascii_(ascii),
      cells_(static_cast<size_t>(width_) * static_cast<size_t>(height_))
{}

Cell *Frame::cell(int x, int y)
{
    if (x < 0 || y < 0 || x >= width_ || y >= height_)
        return nullptr;
    return &cells_[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)];
}

const Cell &Frame::at(int x, int y) const
{
    static const Cell blank;
    const Cell *c = const_cast<Frame *>(this)->cell(x, y);
    return c ? *c : blank;
}

int Frame::put(int x, int y, std::string_view text, Style style, int limit)
{
    int written = 0;
    while (!text.empty()) {
        const base::Glyph glyph = base::first_glyph(text);
        text.remove_prefix(glyph.bytes);
        const int columns = static_cast<int>(glyph.columns);
        if (written + columns > limit || x + written + columns > width_)
            break;
        const bool shown = !ascii_ || glyph.code < 0x80;
        for (int i = 0; i < columns; ++i)
            if (Cell *c = cell(x + written + i, y))
                *c = {shown ? (i == 0 ? glyph.code : U'\0') : U'?', style};
        written += columns;
    }
    return written;
}

void Frame::put_right(int x, int y, int width, std::string_view text, Style style)
{
    const int columns = static_cast<int>(base::display_width(text));
    put(x + std::max(width - columns, 0), y, text, style, width);
}

void Frame::fill(int x, int y, int width, char32_t ch, Style style)
{
    for (int i = 0; i < width; ++i)
        if (Cell *c = cell(x + i, y))
            *c = {ascii_ && ch >= 0x80 ? U'?' : ch, style};
}

void Frame::reverse(int x, int y, int width)
{
    for (int i = 0; i < width; ++i)
        if (Cell *c = cell(x + i, y))
            c->style.reverse = true;
}

std::string Frame::text() const
{
    std::string out;
    for (int y = 0; y < height_; ++y) {
        const size_t from = out.size();
        for (int x = 0; x < width_; ++x)
            if (const char32_t ch = at(x, y).ch)
                append_utf8(out, ch);
        trim_line(out, from);
    }
    return out;
}

} // namespace blktag::view
