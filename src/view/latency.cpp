// SPDX-License-Identifier: GPL-2.0-or-later
// View 4: where a request's time goes: phases as stacked shares by operation, a histogram of one
// phase, a heat map over time. Input: Facts, history. Output: cells.
#include "view/format.hpp"
#include "view/views.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace blktag::view {

namespace {

constexpr std::array<char, nr_phases> phase_letters{'w', 'q', 'p', 'D', 'c'};
constexpr std::array<Role, nr_phases> phase_roles{Role::bad, Role::warn, Role::bad, Role::good,
                                                  Role::normal};

// Of the whole machine, or of the queue that was chosen.
struct Subject {
    std::string name = "all queues";
    const Latency *latency = nullptr;
    const std::vector<OpStats> *ops = nullptr;
};

Subject subject_of(const Facts &facts, const UiState &state)
{
    Subject out;
    out.latency = facts.shown().latency ? &*facts.shown().latency : nullptr;
    out.ops = &facts.shown().ops;
    for (const QueueStats &queue : facts.shown().queues)
        if (queue.name == state.queue) {
            out.name = queue.name;
            out.latency = queue.latency ? &*queue.latency : nullptr;
            out.ops = &queue.ops;
        }
    return out;
}

const Distribution &part(const Latency &latency, size_t phase)
{
    return phase < nr_phases ? latency.phase[phase] : latency.whole;
}

std::string_view part_name(size_t phase)
{
    return phase < nr_phases ? phase_name(static_cast<Phase>(phase)) : "whole";
}

// The phases side by side, each as wide as its share of the time.
void draw_stack(Frame &frame, Rect line, const Latency &latency)
{
    const auto whole = static_cast<double>(latency.whole.sum_ns);
    if (whole <= 0)
        return;
    double sum = 0;
    int x = line.x;
    for (size_t i = 0; i < nr_phases; ++i) {
        sum += static_cast<double>(latency.phase[i].sum_ns);
        const int end = line.x + static_cast<int>(sum / whole * line.width + 0.5);
        const int width = std::min(end, line.x + line.width) - x;
        if (width > 0)
            frame.fill(x, line.y, width, static_cast<char32_t>(phase_letters[i]),
                       {phase_roles[i], false, !frame.ascii()});
        x = std::max(x, end);
    }
}

int draw_phases(Frame &frame, Rect area, const Subject &subject, const UiState &state)
{
    int y = area.y;
    frame.put(area.x, y++,
              fmt::format("{:<15} {:>9} {:>8} {:>8} {:>8} {:>7}", subject.name, "requests", "p50",
                          "p99", "max", "share %"),
              {Role::header, true, false}, area.width);
    if (!subject.latency || subject.latency->whole.count == 0) {
        frame.put(area.x, y++, "no request ended in this interval", {Role::dim, false, false},
                  area.width);
        return y - area.y;
    }
    for (size_t i = 0; i <= nr_phases && y < area.y + area.height; ++i) {
        const Distribution &d = part(*subject.latency, i);
        const auto share =
            ratio(std::optional(d.sum_ns), std::optional(subject.latency->whole.sum_ns));
        const std::string mark = i < nr_phases ? std::string(1, phase_letters[i]) : " ";
        frame.put(area.x, y,
                  fmt::format("{} {:<13} {:>9} {:>8} {:>8} {:>8} {:>7}", mark, part_name(i),
                              amount(static_cast<double>(d.count)), duration(d.quantile_ns(0.5)),
                              duration(d.quantile_ns(0.99)), duration(std::optional(d.max_ns)),
                              percent(share)),
                  {i < nr_phases ? phase_roles[i] : Role::normal, false, i == state.phase},
                  area.width);
        ++y;
    }
    if (y < area.y + area.height)
        draw_stack(frame, {area.x, y++, area.width, 1}, *subject.latency);
    return y - area.y;
}

int draw_ops(Frame &frame, Rect area, const Subject &subject)
{
    if (area.height < 2 || subject.ops->empty())
        return 0;
    int y = area.y;
    frame.put(area.x, y++,
              fmt::format("{:<15} {:>9} {:>8} {:>8} {:>8} {:>8}", "operation", "requests", "size",
                          "p50 dev", "p99 dev", "p99 all"),
              {Role::header, true, false}, area.width);
    for (const OpStats &op : *subject.ops) {
        if (y >= area.y + area.height || op.requests == 0)
            continue;
        frame.put(area.x, y++,
                  fmt::format("{:<15} {:>9} {:>8} {:>8} {:>8} {:>8}", op_name(op.op),
                              amount(static_cast<double>(op.requests)),
                              bytes(op.bytes / op.requests), duration(op.device.quantile_ns(0.5)),
                              duration(op.device.quantile_ns(0.99)),
                              duration(op.whole.quantile_ns(0.99))),
                  {}, area.width);
    }
    return y - area.y;
}

struct Octaves {
    std::array<uint64_t, nr_octaves> count{};
    size_t first = nr_octaves, last = 0;
    uint64_t most = 0;
    void add(size_t octave, uint64_t n)
    {
        count[octave] += n;
        if (count[octave] == 0)
            return;
        first = std::min(first, octave);
        last = std::max(last, octave);
        most = std::max(most, count[octave]);
    }
};

Octaves octaves_of(const Distribution &d)
{
    Octaves out;
    for (const Bin &bin : d.bins) {
        const auto width = static_cast<int>(std::bit_width(bin.low_ns));
        out.add(std::min<size_t>(width > 0 ? static_cast<size_t>(width) - 1 : 0, nr_octaves - 1),
                bin.count);
    }
    return out;
}

void draw_histogram(Frame &frame, Rect area, const Subject &subject, const UiState &state)
{
    if (area.height < 3 || !subject.latency)
        return;
    const Distribution &d = part(*subject.latency, state.phase);
    const Octaves o = octaves_of(d);
    frame.put(area.x, area.y, fmt::format("{}: requests by time", part_name(state.phase)),
              {Role::header, true, false}, area.width);
    if (o.most == 0)
        return;
    const auto lines = static_cast<size_t>(area.height - 1);
    const size_t count = std::min(o.last - o.first + 1, lines);
    const size_t first = o.last + 1 - count; // the long ones are what matters
    for (size_t i = 0; i < count; ++i) {
        const size_t octave = first + i;
        const int y = area.y + 1 + static_cast<int>(i);
        frame.put_right(area.x, y, 8, duration(uint64_t{1} << octave), {Role::dim, false, false});
        const int width = std::max(area.width - 18, 1);
        frame.put(area.x + 9, y,
                  bar(static_cast<double>(o.count[octave]) / static_cast<double>(o.most), width,
                      frame.ascii()),
                  {Role::good, false, false}, width);
        frame.put_right(area.x + 9 + width, y, 8, amount(static_cast<double>(o.count[octave])));
    }
}

// A character by how many of the interval's requests took that long.
void heat_cell(Frame &frame, int x, int y, uint32_t count, uint32_t most)
{
    if (count == 0 || most == 0)
        return;
    constexpr std::u32string_view blocks = U"·░▒▓█";
    constexpr std::u32string_view marks = U".:+*#";
    const size_t level = std::min<size_t>(4, static_cast<size_t>(uint64_t{count} * 5 / most));
    frame.fill(x, y, 1, (frame.ascii() ? marks : blocks)[level],
               {level >= 3 ? Role::warn : Role::normal, false, false});
}

void draw_heat(Frame &frame, Rect area, const Screen &screen, const UiState &state)
{
    if (area.height < 4 || area.width < 20 || !screen.history || screen.history->empty())
        return;
    const std::deque<Slice> &history = *screen.history;
    const int columns = area.width - 9;
    const size_t shown = std::min<size_t>(history.size(), static_cast<size_t>(columns));
    Octaves range;
    uint32_t most = 0;
    for (size_t i = history.size() - shown; i < history.size(); ++i)
        for (size_t o = 0; o < nr_octaves; ++o) {
            const uint32_t n = history[i].count[state.phase][o];
            range.add(o, n);
            most = std::max(most, n);
        }
    frame.put(area.x, area.y,
              fmt::format("{} over time, newest right, all queues", part_name(state.phase)),
              {Role::header, true, false}, area.width);
    if (most == 0)
        return;
    const auto lines = static_cast<size_t>(area.height - 1);
    const size_t count = std::min(range.last - range.first + 1, lines);
    for (size_t line = 0; line < count; ++line) {
        const size_t octave = range.last - line; // long ones on top
        const int y = area.y + 1 + static_cast<int>(line);
        frame.put_right(area.x, y, 8, duration(uint64_t{1} << octave), {Role::dim, false, false});
        for (size_t i = 0; i < shown; ++i) {
            const Slice &slice = history[history.size() - shown + i];
            heat_cell(frame, area.x + 9 + columns - static_cast<int>(shown - i), y,
                      slice.count[state.phase][octave], most);
        }
    }
}

} // namespace

void draw_latency(Frame &frame, Rect area, const Facts &facts, const Screen &screen,
                  const UiState &state)
{
    const Subject subject = subject_of(facts, state);
    const bool side_by_side = area.width >= 120;
    Rect left = area;
    if (side_by_side)
        left.width = 62;
    int used = draw_phases(frame, left, subject, state);
    const Rect below{left.x, left.y + used, left.width, left.height - used};
    used += draw_ops(frame, below, subject);
    if (side_by_side) {
        const Rect right{area.x + 64, area.y, area.width - 64, area.height};
        const int half = right.height / 2;
        draw_histogram(frame, {right.x, right.y, right.width, half}, subject, state);
        draw_heat(frame, {right.x, right.y + half, right.width, right.height - half}, screen,
                  state);
        return;
    }
    const int left_lines = area.height - used;
    const int half = left_lines >= 8 ? (left_lines + 1) / 2 : left_lines;
    draw_histogram(frame, {area.x, area.y + used, area.width, half}, subject, state);
    draw_heat(frame, {area.x, area.y + used + half, area.width, left_lines - half}, screen, state);
}

} // namespace blktag::view
