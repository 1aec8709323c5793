// SPDX-License-Identifier: GPL-2.0-or-later
// What a screen shows, before any terminal: a grid of styled characters. Input: text and styles.
// Output: cells; plain text for files, tests and screen readers.
//
// A style says what something means (Role), never a colour: the terminal chooses that, and nothing
// is told by it alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blktag::view {

enum class Role : uint8_t { normal, dim, title, header, good, warn, bad, key, mark };

struct Style {
    Role role = Role::normal;
    bool bold = false;
    bool reverse = false;
    bool operator==(const Style &) const = default;
};

struct Cell {
    char32_t ch = U' '; // 0 = the right half of the wide character before it
    Style style;
    bool operator==(const Cell &) const = default;
};

class Frame {
  public:
    Frame(int width, int height, bool ascii = false);
    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }
    [[nodiscard]] bool ascii() const { return ascii_; }
    // Outside of the grid: a blank.
    [[nodiscard]] const Cell &at(int x, int y) const;
    // Writes escaped text from (x, y) on, at most `limit` columns and never over the edge. Returns
    // the columns written.
    int put(int x, int y, std::string_view text, Style style = {}, int limit = INT32_MAX);
    // Ends at column x + width - 1.
    void put_right(int x, int y, int width, std::string_view text, Style style = {});
    void fill(int x, int y, int width, char32_t ch, Style style = {});
    void reverse(int x, int y, int width);

    // A line each, blanks at line ends left away.
    [[nodiscard]] std::string text() const;
    bool operator==(const Frame &) const = default;

  private:
    Cell *cell(int x, int y);
    int width_, height_;
    bool ascii_;
    std::vector<Cell> cells_;
};

} // namespace blktag::view
