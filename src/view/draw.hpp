// SPDX-License-Identifier: GPL-2.0-or-later
// A whole screen. Input: Screen, UiState, size. Output: Frame. Pure: the same input gives the same
// cells.
#pragma once

#include "view/frame.hpp"
#include "view/state.hpp"
#include "view/table.hpp"

#include <string>

namespace blktag::view {

inline constexpr int least_width = 40;
inline constexpr int least_height = 10;

Frame draw(const Screen &screen, const UiState &state, Size size);

// Where the view is, between the head and the last line.
Rect body_area(Size size);
// Line of the views' names, -1 where there is no room for it.
int tabs_line(Size size);
// Where each view's name begins and ends in that line; asked by clicks too.
struct Tab {
    int x = 0, width = 0;
};
Tab tab_of(ViewId view, Size size);

// The manual's FIELDS: every column of every table view, "VIEW  column  explanation" a line.
std::string fields_text();

} // namespace blktag::view
