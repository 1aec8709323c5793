// SPDX-License-Identifier: GPL-2.0-or-later
// Every key once: what input, the help screen and the man page's KEYS are all made from. Input:
// none. Output: the table, and look-ups in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace blktag::view {

// A key as a terminal tells it: a character, or one of these.
enum Key : uint32_t {
    key_up = 0x110000, // beyond Unicode
    key_down,
    key_left,
    key_right,
    key_page_up,
    key_page_down,
    key_home,
    key_end,
    key_enter,
    key_escape,
    key_tab,
    key_back_tab,
    key_backspace,
    key_delete,
    key_f1, // to key_f1 + 11
    key_f12 = key_f1 + 11,
    key_none,
};

enum class Action : uint8_t {
    none,
    view_1,
    view_2,
    view_3,
    view_4,
    view_5,
    view_6,
    view_7,
    next_view,
    previous_view,
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    first,
    last,
    enter,
    back,
    search,
    search_next,
    filter,
    sort_choose,
    sort_left,
    sort_right,
    reverse,
    next_space,
    previous_space,
    pause,
    slower,
    faster,
    reset,
    record,
    save_text,
    step_back,
    step,
    speed_down,
    speed_up,
    seek,
    theme,
    command,
    help,
    quit,
};

struct Binding {
    Action action = Action::none;
    uint32_t keys[4]{};     // unused ones 0
    const char *shown = ""; // "q F10"
    const char *help = "";
    bool replay = false; // only while a recording is replayed
};

std::span<const Binding> bindings();
Action action_of(uint32_t key);
// The table as lines "KEYS  what they do", for help and manual.
std::string keys_text();

} // namespace blktag::view
