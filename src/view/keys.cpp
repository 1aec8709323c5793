// SPDX-License-Identifier: GPL-2.0-or-later
// The key table. Input: a key. Output: an action.
#include "view/keys.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace blktag::view {

namespace {

constexpr uint32_t f(uint32_t n)
{
    return key_f1 + n - 1;
}

constexpr std::array table{
    Binding{Action::quit, {'q', f(10), 3}, "q F10", "quit"},
    Binding{Action::help, {'?', 'h', f(1)}, "? h F1", "this help"},
    Binding{Action::view_1, {'1'}, "1", "overview: tag sets, queues and hctxs"},
    Binding{Action::view_2, {'2'}, "2", "tag map: every tag of one space"},
    Binding{Action::view_3, {'3'}, "3", "waiters and holders"},
    Binding{Action::view_4, {'4'}, "4", "latency: phases, histogram, heat map"},
    Binding{Action::view_5, {'5'}, "5", "runs and budget"},
    Binding{Action::view_6, {'6'}, "6", "batches and polling"},
    Binding{Action::view_7, {'7'}, "7", "topology and limits"},
    Binding{Action::next_view, {key_tab}, "Tab", "next view"},
    Binding{Action::previous_view, {key_back_tab}, "Shift-Tab", "previous view"},
    Binding{Action::up, {key_up, 'k'}, "Up k", "up; from the first row to the column headers"},
    Binding{Action::down, {key_down, 'j'}, "Down j", "down"},
    Binding{
        Action::left, {key_left}, "Left", "more columns to the left; tag, phase or header left"},
    Binding{Action::right, {key_right, 'l'}, "Right l", "the same to the right"},
    Binding{Action::page_up, {key_page_up}, "PgUp", "a page up"},
    Binding{Action::page_down, {key_page_down}, "PgDn", "a page down"},
    Binding{Action::first, {key_home, 'g'}, "Home g", "to the first row"},
    Binding{Action::last, {key_end, 'G'}, "End G", "to the last row"},
    Binding{Action::enter,
            {key_enter, '\n', '\r'},
            "Enter",
            "open or close a queue, show an hctx's tags, a waiter's stack, explain a column"},
    Binding{Action::back, {key_escape}, "Esc", "back; drop search and filter"},
    Binding{Action::search, {'/', f(3)}, "/ F3", "search in the rows"},
    Binding{Action::search_next, {'n'}, "n", "next row that matches"},
    Binding{Action::filter, {'f', '\\', f(4)}, "f \\ F4", "show only rows with this text"},
    Binding{Action::sort_choose, {'s', f(6)}, "s F6", "sort by the column chosen in the headers"},
    Binding{Action::sort_left, {'<'}, "<", "sort by the column to the left"},
    Binding{Action::sort_right, {'>'}, ">", "sort by the column to the right"},
    Binding{Action::reverse, {'r', 'I'}, "r I", "reverse the order"},
    Binding{Action::next_space, {'}'}, "}", "next tag space (tag map), next queue (latency)"},
    Binding{Action::previous_space, {'{'}, "{", "previous tag space or queue"},
    Binding{Action::pause,
            {' '},
            "Space",
            "freeze what is shown, never what is measured; stop or go on with a replay"},
    Binding{Action::faster, {'-'}, "-", "shorter interval"},
    Binding{Action::slower, {'+', '='}, "+", "longer interval"},
    Binding{Action::reset, {'c'}, "c", "count peaks and maxima from now on"},
    Binding{Action::record, {'a', 'R'}, "a R", "record to a file (tagtrace's format); again: stop"},
    Binding{Action::save_text, {'y', 'w'}, "y w", "write this screen as text to a file"},
    Binding{Action::step_back, {'['}, "[", "one interval back", true},
    Binding{Action::step, {']'}, "]", "one interval on", true},
    Binding{Action::speed_down, {','}, ",", "half the speed", true},
    Binding{Action::speed_up, {'.'}, ".", "twice the speed", true},
    Binding{Action::seek, {'b'}, "b", "go to a time in the recording", true},
    Binding{Action::theme, {'t'}, "t", "next colour theme"},
    Binding{Action::command, {':'}, ":", "command line: view, sort, filter, interval, seek, quit"},
};

} // namespace

std::span<const Binding> bindings()
{
    return table;
}

Action action_of(uint32_t key)
{
    if (key == 0)
        return Action::none;
    for (const Binding &binding : table)
        if (std::find(std::begin(binding.keys), std::end(binding.keys), key) !=
            std::end(binding.keys))
            return binding.action;
    return Action::none;
}

std::string keys_text()
{
    std::string out;
    for (const Binding &binding : table)
        out += fmt::format("{:<9}  {}{}\n", binding.shown, binding.help,
                           binding.replay ? " (replay)" : "");
    return out;
}

} // namespace blktag::view
