// SPDX-License-Identifier: GPL-2.0-or-later
// What the user has chosen, and how a key changes it. Input: keys. Output: the new state, and what
// the program is to do beyond the screen.
#pragma once

#include "view/keys.hpp"
#include "view/screen.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace blktag::view {

enum class ViewId : uint8_t { overview, tags, tasks, latency, runs, batches, topology };
inline constexpr size_t nr_views = 7;
const char *view_name(ViewId view);

// Of one view's table. The selection is an object's key, so it stays with the object when rows
// move.
struct TableState {
    std::string selected;   // empty = the first row
    size_t selected_at = 0; // where it was, for when it goes away
    int top = 0;            // first row on screen
    bool in_header = false;
    std::string column; // chosen in the header
    std::string sort;   // empty = the view's own order
    bool reverse = false;
    int first_column = 0; // columns scrolled away after the first
};

enum class Mode : uint8_t { normal, search, filter, command, help, popup };

struct UiState {
    ViewId view = ViewId::overview;
    std::array<TableState, nr_views> tables;
    std::set<std::string> toggled; // queues not in their usual state of open or closed
    Mode mode = Mode::normal;
    std::string input; // typed in search, filter, command
    std::string search, filter;
    std::string popup_title;
    std::vector<std::string> popup;
    int popup_top = 0;
    uint16_t space_id = BT_NO_ID; // of the tag map; BT_NO_ID = the one that hurts most
    int tag = 0;
    std::string queue; // of the latency view; empty = all
    size_t phase = 3;  // of the latency view: Phase, or nr_phases = the whole
    bool paused = false;
    unsigned theme = 0;
    bool ascii = false;

    [[nodiscard]] TableState &table() { return tables[static_cast<size_t>(view)]; }
    [[nodiscard]] const TableState &table() const { return tables[static_cast<size_t>(view)]; }
};

// What is not the screen's own business.
struct Effect {
    enum class Kind : uint8_t {
        quit,
        pause,    // value: 1 = paused
        interval, // value: the new one in ns
        reset,
        record, // start or stop
        save_text,
        step,  // value: intervals, negative = back
        speed, // value: 1 = twice, -1 = half
        seek,  // value: ns since the start
        stack, // value: tid
    } kind;
    int64_t value = 0;
};

struct Size {
    int width = 80;
    int height = 24;
};

// Moves are by what is on the screen, so it takes part.
std::vector<Effect> press(UiState &state, uint32_t key, const Screen &screen, Size size);
// A click on the screen: selects a row, a column's header or a view's name.
void click(UiState &state, int x, int y, const Screen &screen, Size size);
void show_popup(UiState &state, std::string title, std::vector<std::string> lines);

} // namespace blktag::view
