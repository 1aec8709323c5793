// SPDX-License-Identifier: GPL-2.0-or-later
// What a key does. Input: key, state, what is on the screen. Output: state, effects.
#include "view/state.hpp"

#include "view/draw.hpp"
#include "view/views.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace blktag::view {

namespace {

constexpr size_t max_input = 200;
constexpr std::array<uint64_t, 9> intervals_ms{50, 100, 200, 500, 1000, 2000, 5000, 10000, 60000};

// One key press: what it looks at, and what it gathers.
class Press {
  public:
    Press(UiState &state, const Screen &screen, Size size)
        : state_(state), screen_(screen), size_(size)
    {}
    void key(uint32_t key);
    std::vector<Effect> effects;

  private:
    void type(uint32_t key);
    void enter_text();
    void run_command(const std::string &line);
    void act(Action action);
    bool act_everywhere(Action action);
    bool act_on_list(Action action);
    bool act_on_program(Action action);
    void move(int rows);
    void move_to(size_t row, const Table &table);
    void sideways(int by);
    void enter();
    void explain(const Table &table);
    void back();
    void search_on();
    void sort_beside(int by);
    void next_space(int by);
    void interval(int by);
    void say(Effect::Kind kind, int64_t value = 0) { effects.push_back({kind, value}); }
    void change_view(ViewId view);
    [[nodiscard]] Table table() const;
    [[nodiscard]] bool is_table() const
    {
        return state_.view != ViewId::tags && state_.view != ViewId::latency;
    }

    UiState &state_;
    const Screen &screen_;
    Size size_;
};

Table Press::table() const
{
    if (!screen_.total || !is_table())
        return {};
    return table_of(state_.view, Facts(screen_), state_);
}

void Press::change_view(ViewId view)
{
    state_.view = view;
    state_.table().in_header = false;
}

void Press::move_to(size_t row, const Table &table)
{
    TableState &t = state_.table();
    if (table.rows.empty())
        return;
    row = std::min(row, table.rows.size() - 1);
    t.selected = table.rows[row].key;
    t.selected_at = row;
    t.top = first_row(table, t, body_area(size_).height);
}

// Above the first row are the headers.
void Press::move(int rows)
{
    if (state_.view == ViewId::latency) {
        const int phase = static_cast<int>(state_.phase) + rows;
        state_.phase = static_cast<size_t>(std::clamp(phase, 0, static_cast<int>(nr_phases)));
        return;
    }
    if (state_.view == ViewId::tags) {
        if (!screen_.total)
            return;
        const Facts facts(screen_);
        const uint16_t space = shown_space(facts, state_);
        const int per_line = tags_per_line(map_area(body_area(size_)), facts, space);
        const int tags = static_cast<int>(tags_of_space(facts, space));
        const int64_t tag = state_.tag + static_cast<int64_t>(rows) * per_line;
        if (tag >= 0 && tag < tags)
            state_.tag = static_cast<int>(tag);
        return;
    }
    const Table all = table();
    TableState &t = state_.table();
    if (t.in_header) {
        if (rows > 0)
            t.in_header = false;
        return;
    }
    const size_t at = selected_row(all, t);
    if (rows < 0 && at == 0) {
        t.in_header = rows == -1 && !all.columns.empty();
        if (t.in_header && t.column.empty())
            t.column = all.columns[0].id;
        return;
    }
    const int64_t to = static_cast<int64_t>(at) + rows;
    move_to(to < 0 ? 0 : static_cast<size_t>(to), all);
}

void Press::sideways(int by)
{
    if (state_.view == ViewId::tags) {
        if (!screen_.total)
            return;
        const Facts facts(screen_);
        const int tags = static_cast<int>(tags_of_space(facts, shown_space(facts, state_)));
        state_.tag = std::clamp(state_.tag + by, 0, std::max(tags - 1, 0));
        return;
    }
    if (state_.view == ViewId::latency)
        return move(by);
    const Table all = table();
    TableState &t = state_.table();
    if (!t.in_header) {
        const int most = std::max(static_cast<int>(all.columns.size()) - 2, 0);
        t.first_column = std::clamp(t.first_column + by, 0, most);
        return;
    }
    const std::vector<size_t> shown = fitting_columns(all, t, size_.width);
    if (shown.empty())
        return;
    for (size_t i = 0; i < shown.size(); ++i)
        if (all.columns[shown[i]].id == t.column) {
            const int64_t to = static_cast<int64_t>(i) + by;
            if (to >= 0 && to < static_cast<int64_t>(shown.size()))
                t.column = all.columns[shown[static_cast<size_t>(to)]].id;
            return;
        }
    t.column = all.columns[shown[0]].id;
}

void Press::explain(const Table &table)
{
    for (const Column &column : table.columns) {
        if (state_.table().column != column.id)
            continue;
        std::vector<std::string> lines;
        std::string line;
        const std::string help = std::string(column.help) + " ";
        const size_t width = static_cast<size_t>(std::clamp(size_.width - 6, 20, 70));
        for (size_t at = 0; at < help.size();) {
            const size_t end = help.find(' ', at);
            const std::string word = help.substr(at, end - at);
            if (!line.empty() && line.size() + 1 + word.size() > width) {
                lines.push_back(line);
                line.clear();
            }
            line += (line.empty() ? "" : " ") + word;
            at = end + 1;
        }
        lines.push_back(line);
        show_popup(state_, column.header, lines);
    }
}

void Press::enter()
{
    if (!is_table() || !screen_.total)
        return;
    const Table all = table();
    if (state_.table().in_header)
        return explain(all);
    if (all.rows.empty())
        return;
    const TableRow &row = all.rows[selected_row(all, state_.table())];
    const std::string key = row.key;
    if (key.starts_with('q')) {
        if (!state_.toggled.erase(key))
            state_.toggled.insert(key);
        return;
    }
    unsigned id = 0;
    std::from_chars(key.data() + 1, key.data() + key.size(), id);
    if (key.starts_with('h')) {
        const Facts facts(screen_);
        if (const HctxStats *hctx = facts.total_hctx(static_cast<uint16_t>(id))) {
            state_.space_id = hctx->space_id;
            state_.tag = 0;
            change_view(ViewId::tags);
        }
    } else if ((key.starts_with('w') || key.starts_with('t')) && id != 0 &&
               state_.view == ViewId::tasks && !row.heading) {
        say(Effect::Kind::stack, id);
    }
}

void Press::back()
{
    TableState &t = state_.table();
    if (t.in_header)
        t.in_header = false;
    else if (!state_.search.empty())
        state_.search.clear();
    else if (!state_.filter.empty())
        state_.filter.clear();
    else if (t.first_column != 0)
        t.first_column = 0;
    else if (state_.view != ViewId::overview)
        change_view(ViewId::overview);
}

void Press::search_on()
{
    const Table all = table();
    if (state_.search.empty() || all.rows.empty())
        return;
    const size_t at = selected_row(all, state_.table());
    for (size_t i = 1; i <= all.rows.size(); ++i) {
        const size_t row = (at + i) % all.rows.size();
        if (row_matches(all.rows[row], state_.search))
            return move_to(row, all);
    }
}

void Press::sort_beside(int by)
{
    const Table all = table();
    if (all.columns.empty())
        return;
    TableState &t = state_.table();
    int at = -1;
    for (size_t i = 0; i < all.columns.size(); ++i)
        if (all.columns[i].id == t.sort)
            at = static_cast<int>(i);
    at = std::clamp(at + by, -1, static_cast<int>(all.columns.size()) - 1);
    t.sort = at < 0 ? "" : all.columns[static_cast<size_t>(at)].id;
}

void Press::next_space(int by)
{
    if (!screen_.total)
        return;
    const Facts facts(screen_);
    if (state_.view == ViewId::latency) {
        std::vector<std::string> names{""};
        for (const QueueStats &queue : facts.total().queues)
            names.push_back(queue.name);
        const auto at = std::find(names.begin(), names.end(), state_.queue) - names.begin();
        const auto count = static_cast<int64_t>(names.size());
        state_.queue = names[static_cast<size_t>((at + by + count) % count)];
        return;
    }
    std::vector<uint16_t> spaces;
    for (const SetStats &set : facts.total().sets)
        for (const SpaceStats &space : set.spaces)
            spaces.push_back(space.space_id);
    if (spaces.empty())
        return;
    const auto at =
        std::find(spaces.begin(), spaces.end(), shown_space(facts, state_)) - spaces.begin();
    const auto count = static_cast<int64_t>(spaces.size());
    state_.space_id = spaces[static_cast<size_t>((at + by + count) % count)];
    state_.tag = 0;
}

void Press::interval(int by)
{
    const uint64_t now_ms = screen_.status.interval_ns / 1'000'000;
    auto at = std::lower_bound(intervals_ms.begin(), intervals_ms.end(), now_ms);
    if (by > 0)
        at = std::upper_bound(intervals_ms.begin(), intervals_ms.end(), now_ms);
    else if (at != intervals_ms.begin())
        --at;
    if (at != intervals_ms.end())
        say(Effect::Kind::interval, static_cast<int64_t>(*at * 1'000'000));
}

bool Press::act_on_list(Action action)
{
    const int page = table_page(body_area(size_).height);
    switch (action) {
    case Action::up:
        move(-1);
        return true;
    case Action::down:
        move(1);
        return true;
    case Action::left:
        sideways(-1);
        return true;
    case Action::right:
        sideways(1);
        return true;
    case Action::page_up:
        move(-std::max(page, 2));
        return true;
    case Action::page_down:
        move(std::max(page, 2));
        return true;
    case Action::first:
        state_.tag = 0;
        move_to(0, table());
        return true;
    case Action::last:
        move_to(SIZE_MAX, table());
        sideways(state_.view == ViewId::tags ? 65535 : 0);
        return true;
    case Action::enter:
        enter();
        return true;
    case Action::back:
        back();
        return true;
    case Action::search_next:
        search_on();
        return true;
    case Action::sort_left:
        sort_beside(-1);
        return true;
    case Action::sort_right:
        sort_beside(1);
        return true;
    case Action::sort_choose:
        if (state_.table().in_header)
            state_.table().sort = state_.table().column;
        else
            sort_beside(1);
        return true;
    case Action::reverse:
        state_.table().reverse = !state_.table().reverse;
        return true;
    case Action::next_space:
        next_space(1);
        return true;
    case Action::previous_space:
        next_space(-1);
        return true;
    default:
        return false;
    }
}

bool Press::act_on_program(Action action)
{
    const bool replay = screen_.status.replay.has_value();
    switch (action) {
    case Action::quit:
        say(Effect::Kind::quit);
        return true;
    case Action::pause:
        state_.paused = !state_.paused;
        say(Effect::Kind::pause, state_.paused);
        return true;
    case Action::slower:
        interval(1);
        return true;
    case Action::faster:
        interval(-1);
        return true;
    case Action::reset:
        say(Effect::Kind::reset);
        return true;
    case Action::record:
        say(Effect::Kind::record);
        return true;
    case Action::save_text:
        say(Effect::Kind::save_text);
        return true;
    case Action::step_back:
    case Action::step:
        if (replay)
            say(Effect::Kind::step, action == Action::step ? 1 : -1);
        return true;
    case Action::speed_down:
    case Action::speed_up:
        if (replay)
            say(Effect::Kind::speed, action == Action::speed_up ? 1 : -1);
        return true;
    default:
        return false;
    }
}

bool Press::act_everywhere(Action action)
{
    const auto into = [this](Mode mode, std::string text) {
        state_.mode = mode;
        state_.input = std::move(text);
    };
    switch (action) {
    case Action::next_view:
    case Action::previous_view: {
        const size_t by = action == Action::next_view ? 1 : nr_views - 1;
        change_view(static_cast<ViewId>((static_cast<size_t>(state_.view) + by) % nr_views));
        return true;
    }
    case Action::search:
        into(Mode::search, "");
        return true;
    case Action::filter:
        into(Mode::filter, state_.filter);
        return true;
    case Action::command:
        into(Mode::command, "");
        return true;
    case Action::seek:
        if (screen_.status.replay)
            into(Mode::command, "seek ");
        return true;
    case Action::theme:
        ++state_.theme;
        return true;
    case Action::help:
        state_.mode = Mode::help;
        state_.popup_top = 0;
        return true;
    default:
        return false;
    }
}

void Press::act(Action action)
{
    if (action >= Action::view_1 && action <= Action::view_7)
        return change_view(static_cast<ViewId>(static_cast<uint8_t>(action) -
                                               static_cast<uint8_t>(Action::view_1)));
    if (!act_everywhere(action) && !act_on_list(action))
        act_on_program(action);
}

void Press::run_command(const std::string &line)
{
    const size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = space < line.size() ? line.substr(space + 1) : "";
    if (word == "q" || word == "quit")
        return say(Effect::Kind::quit);
    if (word == "filter") {
        state_.filter = rest;
        return;
    }
    if (word == "sort") {
        for (const Column &column : table().columns)
            if (rest == column.id || rest == column.header)
                state_.table().sort = column.id;
        return;
    }
    if (word == "view")
        for (size_t i = 0; i < nr_views; ++i)
            if (rest == std::to_string(i + 1) || rest == view_name(static_cast<ViewId>(i)))
                return change_view(static_cast<ViewId>(i));
    const auto time = base::parse_duration_ns(rest);
    if (word == "interval" && time && *time >= 50'000'000)
        return say(Effect::Kind::interval, static_cast<int64_t>(*time));
    if (word == "seek" && time && screen_.status.replay)
        return say(Effect::Kind::seek, static_cast<int64_t>(*time));
    show_popup(state_, "command line",
               {"view N or NAME", "sort COLUMN", "filter TEXT", "interval TIME (50ms or more)",
                "seek TIME (in a replay)", "quit"});
}

void Press::enter_text()
{
    const Mode mode = state_.mode;
    const std::string text = std::move(state_.input);
    state_.mode = Mode::normal;
    state_.input.clear();
    if (mode == Mode::search) {
        state_.search = text;
        search_on();
    } else if (mode == Mode::filter) {
        state_.filter = text;
    } else if (!text.empty()) {
        run_command(text);
    }
}

void Press::type(uint32_t key)
{
    if (key == key_enter || key == '\n' || key == '\r')
        return enter_text();
    if (key == key_escape) {
        state_.mode = Mode::normal;
        state_.input.clear();
    } else if (key == key_backspace || key == 127 || key == 8) {
        if (!state_.input.empty())
            state_.input.pop_back();
    } else if (key >= 0x20 && key < 0x7f && state_.input.size() < max_input) {
        state_.input += static_cast<char>(key);
    }
}

void Press::key(uint32_t key)
{
    switch (state_.mode) {
    case Mode::search:
    case Mode::filter:
    case Mode::command:
        return type(key);
    case Mode::help:
    case Mode::popup: {
        const Action action = action_of(key);
        const int page = std::max(size_.height - 5, 1);
        const int by = action == Action::down        ? 1
                       : action == Action::up        ? -1
                       : action == Action::page_down ? page
                       : action == Action::page_up   ? -page
                                                     : 0;
        if (by == 0)
            state_.mode = Mode::normal;
        state_.popup_top = std::clamp(state_.popup_top + by, 0, 1000);
        return;
    }
    case Mode::normal:
        return act(action_of(key));
    }
}

} // namespace

std::vector<Effect> press(UiState &state, uint32_t key, const Screen &screen, Size size)
{
    Press p(state, screen, size);
    p.key(key);
    return std::move(p.effects);
}

void click(UiState &state, int x, int y, const Screen &screen, Size size)
{
    if (state.mode != Mode::normal) {
        state.mode = Mode::normal;
        return;
    }
    if (y == tabs_line(size)) {
        for (size_t i = 0; i < nr_views; ++i) {
            const Tab tab = tab_of(static_cast<ViewId>(i), size);
            if (x >= tab.x && x < tab.x + tab.width)
                state.view = static_cast<ViewId>(i);
        }
        return;
    }
    const Rect body = body_area(size);
    if (!screen.total || y < body.y || y >= body.y + body.height)
        return;
    const Facts facts(screen);
    const Table table = table_of(state.view, facts, state);
    TableState &t = state.table();
    if (table.columns.empty())
        return;
    if (y == body.y) {
        int at = 0;
        for (const size_t i : fitting_columns(table, t, size.width)) {
            const int width = table.columns[i].width;
            if (x >= at && x <= at + width) {
                t.reverse = t.sort == table.columns[i].id ? !t.reverse : false;
                t.sort = table.columns[i].id;
            }
            at += width + 1;
        }
        return;
    }
    const auto row = static_cast<size_t>(first_row(table, t, body.height) + y - body.y - 1);
    if (row < table.rows.size()) {
        t.selected = table.rows[row].key;
        t.selected_at = row;
        t.in_header = false;
    }
}

void show_popup(UiState &state, std::string title, std::vector<std::string> lines)
{
    state.mode = Mode::popup;
    state.popup_title = std::move(title);
    state.popup = std::move(lines);
    state.popup_top = 0;
}

} // namespace blktag::view
