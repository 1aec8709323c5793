// SPDX-License-Identifier: GPL-2.0-or-later
// Head, body, last line, boxes over them. Input: Screen, UiState. Output: Frame.
#include "view/draw.hpp"

#include "view/format.hpp"
#include "view/views.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::view {

namespace {

constexpr int tabs_from_height = 14;

struct Badge {
    std::string text;
    Role role;
};

uint64_t blind_probes(const Snapshot &snapshot)
{
    return static_cast<uint64_t>(
        std::count_if(snapshot.recording.rungs.begin(), snapshot.recording.rungs.end(),
                      [](const ProbeRung &rung) { return rung.rung == "none"; }));
}

uint64_t fallback_probes(const Snapshot &snapshot)
{
    return static_cast<uint64_t>(std::count_if(
        snapshot.recording.rungs.begin(), snapshot.recording.rungs.end(),
        [](const ProbeRung &rung) {
            return rung.rung == "kprobe" || rung.rung == "kretprobe" || rung.rung == "raw_tp";
        }));
}

void replay_badge(const ReplayStatus &replay, std::vector<Badge> &out)
{
    std::string text = position(replay.position_ns);
    if (replay.length_ns)
        text += "/" + position(replay.length_ns);
    text += replay.ended     ? " END"
            : replay.playing ? fmt::format(" x{:g}", replay.speed)
                             : " PAUSED";
    out.push_back({text, Role::key});
}

// What must be known before a number is trusted, the worst first.
std::vector<Badge> badges(const Screen &screen, const UiState &state)
{
    std::vector<Badge> out;
    const Status &status = screen.status;
    if (screen.total && screen.total->books.lost)
        out.push_back(
            {fmt::format("LOST {}", amount(static_cast<double>(screen.total->books.lost))),
             Role::bad});
    if (screen.total && screen.total->books.missed)
        out.push_back(
            {fmt::format("MISSED {}", amount(static_cast<double>(screen.total->books.missed))),
             Role::bad});
    if (screen.total && !screen.total->damage.empty())
        out.push_back({"DAMAGED", Role::bad});
    if (status.replay)
        replay_badge(*status.replay, out);
    else if (state.paused)
        out.push_back({"PAUSED", Role::key});
    if (status.stale_ns)
        out.push_back({"STALE " + duration(status.stale_ns), Role::bad});
    if (!status.recording_to.empty())
        out.push_back({"REC " + status.recording_to, Role::bad});
    if (screen.total && blind_probes(*screen.total))
        out.push_back({fmt::format("BLIND {}", blind_probes(*screen.total)), Role::warn});
    if (screen.total && fallback_probes(*screen.total))
        out.push_back({fmt::format("RUNG {}", fallback_probes(*screen.total)), Role::warn});
    if (!state.filter.empty())
        out.push_back({"FILTER " + base::escape_terminal(state.filter), Role::warn});
    if (!status.filters.empty())
        out.push_back({status.filters, Role::dim});
    return out;
}

void draw_title(Frame &frame, const Screen &screen, const UiState &state)
{
    frame.fill(0, 0, frame.width(), U' ', {Role::title, true, true});
    int x = frame.put(0, 0, "tagtop ", {Role::title, true, true});
    for (const Badge &badge : badges(screen, state)) {
        const std::string text = " " + badge.text + " ";
        if (x + static_cast<int>(base::display_width(text)) > frame.width())
            break;
        x += frame.put(x, 0, text, {badge.role, true, false});
        x += frame.put(x, 0, " ", {Role::title, true, true});
    }
    const Status &status = screen.status;
    std::string right = fmt::format(" {}s", static_cast<double>(status.interval_ns) / 1e9);
    if (status.now_real_ns)
        right += "  " + clock(status.now_real_ns) + "Z";
    std::string left = status.source;
    if (screen.total && !screen.total->recording.kernel_release.empty())
        left += "  " + screen.total->recording.kernel_release;
    const int need = static_cast<int>(base::display_width(right));
    if (x + need <= frame.width())
        frame.put(frame.width() - need, 0, right, {Role::title, true, true});
    const int room = frame.width() - need - x - 1;
    if (room >= static_cast<int>(base::display_width(left)))
        frame.put(x + 1, 0, left, {Role::title, true, true}, room);
}

void draw_tabs(Frame &frame, const UiState &state, Size size)
{
    const int y = tabs_line(size);
    if (y < 0)
        return;
    for (size_t i = 0; i < nr_views; ++i) {
        const auto view = static_cast<ViewId>(i);
        const Tab tab = tab_of(view, size);
        frame.put(
            tab.x, y,
            fmt::format("{}{}", i + 1, tab.width > 2 ? std::string(" ") + view_name(view) : ""),
            {view == state.view ? Role::title : Role::dim, view == state.view, view == state.view},
            tab.width);
    }
}

// The keys that matter here, as many as fit.
void draw_hints(Frame &frame, const Screen &screen, const UiState &state)
{
    const int y = frame.height() - 1;
    if (!screen.status.message.empty()) {
        frame.put(0, y, screen.status.message, {Role::key, false, false});
        return;
    }
    std::vector<std::pair<const char *, const char *>> hints = {
        {"?", "help"},   {"Tab", "view"}, {"q", "quit"},      {"Space", "pause"}, {"s", "sort"},
        {"f", "filter"}, {"/", "search"}, {"+-", "interval"}, {"y", "save text"}, {"a", "record"}};
    if (screen.status.replay)
        hints = {{"?", "help"},     {"Tab", "view"}, {"q", "quit"},
                 {"Space", "play"}, {"[ ]", "step"}, {", .", "speed"},
                 {"b", "go to"},    {"f", "filter"}, {"y", "save text"}};
    if (state.view == ViewId::tags)
        hints.insert(hints.begin() + 2, {"{ }", "space"});
    if (state.view == ViewId::latency)
        hints.insert(hints.begin() + 2, {"{ }", "queue"});
    int x = 0;
    for (const auto &[key, what] : hints) {
        const int need =
            static_cast<int>(std::string_view(key).size() + std::string_view(what).size()) + 2;
        if (x + need > frame.width())
            break;
        x += frame.put(x, y, key, {Role::key, true, false}) + 1;
        x += frame.put(x, y, what, {Role::dim, false, false}) + 1;
    }
}

void draw_last_line(Frame &frame, const Screen &screen, const UiState &state)
{
    const int y = frame.height() - 1;
    const char *prompt = state.mode == Mode::search    ? "search: "
                         : state.mode == Mode::filter  ? "filter: "
                         : state.mode == Mode::command ? ":"
                                                       : nullptr;
    if (!prompt)
        return draw_hints(frame, screen, state);
    const int x = frame.put(0, y, prompt, {Role::key, true, false});
    const int end = frame.put(x, y, base::escape_terminal(state.input), {});
    frame.fill(x + end, y, 1, U' ', {Role::normal, false, true});
}

void draw_box(Frame &frame, const std::string &title, const std::vector<std::string> &lines,
              int top)
{
    const int width = std::min(frame.width() - 2, 76);
    const int height = std::min(frame.height() - 2, static_cast<int>(lines.size()) + 2);
    const int x = (frame.width() - width) / 2;
    const int y = (frame.height() - height) / 2;
    for (int row = 0; row < height; ++row)
        frame.fill(x, y + row, width, U' ', {});
    frame.fill(x, y, width, frame.ascii() ? U'-' : U'─', {Role::header, true, false});
    frame.put(x + 2, y, " " + title + " ", {Role::header, true, false}, width - 4);
    const int page = height - 2;
    const int first = std::clamp(top, 0, std::max(static_cast<int>(lines.size()) - page, 0));
    for (int row = 0; row < page; ++row) {
        const auto i = static_cast<size_t>(first + row);
        if (i < lines.size())
            frame.put(x + 1, y + 1 + row, lines[i], {}, width - 2);
    }
    frame.fill(x, y + height - 1, width, frame.ascii() ? U'-' : U'─', {Role::header, true, false});
    const bool more = first + page < static_cast<int>(lines.size());
    frame.put(x + 2, y + height - 1, more ? " Down: more, Esc: close " : " Esc: close ",
              {Role::key, false, false}, width - 4);
}

std::vector<std::string> split_lines(const std::string &text)
{
    std::vector<std::string> out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        out.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

void draw_boxes(Frame &frame, const UiState &state)
{
    if (state.mode == Mode::popup)
        return draw_box(frame, state.popup_title, state.popup, state.popup_top);
    if (state.mode != Mode::help)
        return;
    std::vector<std::string> lines = split_lines(keys_text());
    lines.insert(lines.end(),
                 {"", "n/m  not measured here      -  nothing happened to have a value",
                  "LOST      records that found no room; counters stay exact",
                  "MISSED    program runs that the kernel skipped: those events are in "
                  "no number",
                  "BLIND     probes that this kernel does not offer: n/m",
                  "RUNG      probes that stand on a fallback (kprobe)",
                  "STALE     nothing new came although it should have"});
    draw_box(frame, "keys", lines, state.popup_top);
}

void draw_view(Frame &frame, Rect area, const Screen &screen, const UiState &state)
{
    const Facts facts(screen);
    if (state.view == ViewId::tags)
        return draw_tags(frame, area, facts, state);
    if (state.view == ViewId::latency)
        return draw_latency(frame, area, facts, screen, state);
    if (state.view == ViewId::tasks)
        area.height -= draw_blame(frame, area, facts);
    draw_table(frame, area, table_of(state.view, facts, state), state.table(), state.search);
}

Frame too_small(Size size, bool ascii)
{
    Frame frame(size.width, size.height, ascii);
    frame.put(0, 0, fmt::format("tagtop needs {}x{}", least_width, least_height),
              {Role::warn, true, false});
    frame.put(0, 1, fmt::format("this is {}x{}", size.width, size.height));
    return frame;
}

} // namespace

const char *view_name(ViewId view)
{
    static constexpr std::array<const char *, nr_views> names{
        "Overview", "Tags", "Tasks", "Latency", "Runs", "Batches", "Topology"};
    return names[static_cast<size_t>(view)];
}

Rect body_area(Size size)
{
    const int head = size.height >= tabs_from_height ? 3 : 2;
    return {0, head, size.width, size.height - head - 1};
}

int tabs_line(Size size)
{
    return size.height >= tabs_from_height ? 2 : -1;
}

Tab tab_of(ViewId view, Size size)
{
    int x = 0;
    const bool names = size.width >= 72;
    for (size_t i = 0; i < nr_views; ++i) {
        const int width =
            names ? 2 + static_cast<int>(std::string_view(view_name(static_cast<ViewId>(i))).size())
                  : 1;
        if (static_cast<ViewId>(i) == view)
            return {x, width};
        x += width + 2;
    }
    return {};
}

Table table_of(ViewId view, const Facts &facts, const UiState &state)
{
    Table table;
    switch (view) {
    case ViewId::overview:
        table = overview_table(facts, state);
        break;
    case ViewId::tasks:
        table = tasks_table(facts, state);
        break;
    case ViewId::runs:
        table = runs_table(facts, state);
        break;
    case ViewId::batches:
        table = batches_table(facts, state);
        break;
    case ViewId::topology:
        table = topology_table(facts, state);
        break;
    case ViewId::tags:
    case ViewId::latency:
        break;
    }
    arrange(table, state.tables[static_cast<size_t>(view)], state.filter);
    return table;
}

Frame draw(const Screen &screen, const UiState &state, Size size)
{
    if (size.width < least_width || size.height < least_height)
        return too_small(size, state.ascii);
    Frame frame(size.width, size.height, state.ascii);
    draw_title(frame, screen, state);
    draw_tabs(frame, state, size);
    if (!screen.total) {
        frame.put(0, 1, "starting: nothing was measured yet", {Role::dim, false, false});
    } else {
        const Verdict verdict = verdict_of(Facts(screen));
        frame.put(0, 1, verdict.text, {verdict.role, true, false});
        draw_view(frame, body_area(size), screen, state);
    }
    draw_last_line(frame, screen, state);
    draw_boxes(frame, state);
    return frame;
}

std::string fields_text()
{
    Screen screen;
    screen.total = std::make_shared<const Snapshot>();
    const Facts facts(screen);
    const UiState state;
    std::string out;
    for (const ViewId view :
         {ViewId::overview, ViewId::tasks, ViewId::runs, ViewId::batches, ViewId::topology})
        for (const Column &column : table_of(view, facts, state).columns)
            out += fmt::format("{}\t{}\t{}\n", view_name(view), column.header, column.help);
    return out;
}

} // namespace blktag::view
