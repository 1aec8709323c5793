// SPDX-License-Identifier: GPL-2.0-or-later
// View 2: every tag of one space as a character, what is known of the chosen one, who waits, who
// may hold how many. Input: Facts, UiState. Output: cells.
#include "view/format.hpp"
#include "view/views.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::view {

namespace {

constexpr uint64_t stale_ns = 1'000'000'000; // a request that old is shown as stale
constexpr int side_width = 38;

enum class TagLook : uint8_t { free, cleared, held, in_flight, stale, unknown };

struct Look {
    const char *glyph;
    char ascii;
    Role role;
    const char *name;
};

const Look &look(TagLook which)
{
    static constexpr std::array<Look, 6> looks{{{"·", '.', Role::dim, "free"},
                                                {"∘", ',', Role::dim, "cleared lazily"},
                                                {"▒", 'o', Role::warn, "held, not issued"},
                                                {"█", '#', Role::good, "in flight"},
                                                {"‼", '!', Role::bad, "older than 1 s"},
                                                {"?", '?', Role::warn, "held, holder not seen"}}};
    return looks[static_cast<size_t>(which)];
}

struct Map {
    std::vector<TagLook> tags;
    std::vector<const HeldNow *> holder; // by tag
    bool bits_known = false;
    uint32_t reserved = 0; // the bits are those of the tags from here on
};

Map map_of(const Facts &facts, uint16_t space_id)
{
    Map out;
    const uint32_t count = tags_of_space(facts, space_id);
    out.tags.assign(count, TagLook::free);
    out.holder.assign(count, nullptr);
    if (!facts.under_way())
        return out;
    for (const TagBits &bits : facts.under_way()->bits) {
        if (bits.space_id != space_id)
            continue;
        out.bits_known = true;
        out.reserved = bits.reserved;
        for (uint32_t i = 0; i < bits.depth && i / 64 < bits.held.size(); ++i) {
            const uint32_t tag = i + bits.reserved;
            if (tag >= count)
                break;
            if (bits.held[i / 64] >> i % 64 & 1)
                out.tags[tag] = TagLook::unknown;
            else if (bits.cleared[i / 64] >> i % 64 & 1)
                out.tags[tag] = TagLook::cleared;
        }
    }
    for (const HeldNow &held : facts.under_way()->held) {
        if (held.space_id != space_id || held.tag >= count)
            continue;
        // The bitmap and the slots are read a moment apart: the bitmap is what is true.
        if (out.bits_known && held.tag >= out.reserved && out.tags[held.tag] != TagLook::unknown)
            continue;
        out.holder[held.tag] = &held;
        const bool at_device = (held.issued_for_ns && !held.completed) || held.driver;
        out.tags[held.tag] = held.age_ns >= stale_ns ? TagLook::stale
                             : at_device             ? TagLook::in_flight
                                                     : TagLook::held;
    }
    return out;
}

const SetStats *set_of(const Facts &facts, uint16_t space_id)
{
    for (const SetStats &set : facts.total().sets)
        for (const SpaceStats &space : set.spaces)
            if (space.space_id == space_id)
                return &set;
    return nullptr;
}

std::string space_title(const Facts &facts, uint16_t space_id)
{
    const SpaceStats *space = facts.space(space_id);
    if (!space)
        return "no tag space was seen yet";
    std::string users = space->hctxs.empty() ? fmt::format("space#{}", space_id) : space->hctxs[0];
    if (space->hctxs.size() > 1)
        users += fmt::format(" and {} more", space->hctxs.size() - 1);
    std::string text = fmt::format("{} tags of {}", space->sched ? "scheduler" : "driver", users);
    if (space->gauge)
        text += fmt::format(": {} of {} held", space->gauge->held_last, space->gauge->depth);
    return text;
}

void draw_map(Frame &frame, Rect area, const Facts &facts, const UiState &state, const Map &map,
              uint16_t space_id)
{
    const int per_line = tags_per_line(area, facts, space_id);
    const int lines = (static_cast<int>(map.tags.size()) + per_line - 1) / per_line;
    const int chosen = std::clamp(state.tag, 0, std::max(static_cast<int>(map.tags.size()) - 1, 0));
    const int visible = area.height - 1;
    int top = std::clamp(chosen / per_line - visible / 2, 0, std::max(lines - visible, 0));
    frame.put(area.x, area.y, space_title(facts, space_id), {Role::header, true, false});
    for (int line = 0; line < visible && top + line < lines; ++line) {
        const int first = (top + line) * per_line;
        const int y = area.y + 1 + line;
        frame.put_right(area.x, y, 5, fmt::format("{}", first), {Role::dim, false, false});
        for (int i = 0; i < per_line && first + i < static_cast<int>(map.tags.size()); ++i) {
            const Look &l = look(map.tags[static_cast<size_t>(first + i)]);
            const int x = area.x + 6 + i + i / 8;
            const Style style{l.role, false, first + i == chosen};
            if (frame.ascii())
                frame.fill(x, y, 1, static_cast<char32_t>(l.ascii), style);
            else
                frame.put(x, y, l.glyph, style, 1);
        }
    }
}

// Lines of text beside or below the map.
class Side {
  public:
    Side(Frame &frame, Rect area) : frame_(frame), area_(area) {}
    void line(std::string_view text, Role role = Role::normal, bool bold = false)
    {
        if (used_ < area_.height)
            frame_.put(area_.x, area_.y + used_++, text, {role, bold, false}, area_.width);
    }
    [[nodiscard]] int left() const { return area_.height - used_; }

  private:
    Frame &frame_;
    Rect area_;
    int used_ = 0;
};

void draw_chosen(Side &side, const Map &map, const UiState &state, const Facts &facts)
{
    if (map.tags.empty())
        return;
    const auto tag =
        static_cast<size_t>(std::clamp(state.tag, 0, static_cast<int>(map.tags.size()) - 1));
    const HeldNow *held = map.holder[tag];
    side.line(fmt::format("tag {}: {}", tag, look(map.tags[tag]).name), Role::header, true);
    if (!held)
        return;
    side.line(fmt::format("by {} pid {}", task_text(held->task),
                          held->task.tgid ? fmt::format("{}", held->task.tgid) : "?"));
    side.line(fmt::format("held {}{}", duration(held->age_ns),
                          held->issued_for_ns
                              ? fmt::format(", issued {} ago", duration(*held->issued_for_ns))
                              : ", not issued"));
    if (held->issued_for_ns && !held->driver)
        side.line(
            fmt::format("{} {} at sector {}", op_name(held->op), bytes(held->bytes), held->sector));
    side.line(fmt::format("for {}{}", facts.hctx_name(held->hctx_id),
                          held->driver ? ", driver tag of a scheduled request" : ""),
              Role::dim);
}

void draw_shares(Side &side, const Facts &facts, uint16_t space_id)
{
    const SetStats *set = set_of(facts, space_id);
    const SpaceStats *space = facts.space(space_id);
    if (!set || !space || space->sched || set->queues.size() < 2 || !space->depth)
        return;
    std::optional<uint32_t> users;
    for (const QueueStats &queue : facts.total().queues)
        for (const HctxStats &hctx : queue.hctxs)
            if (hctx.space_id == space_id && hctx.gauge)
                users = users.value_or(0) + ((hctx.gauge->flags_last & BT_HG_TAG_ACTIVE) ? 1U : 0U);
    const uint32_t limit = fair_share(*space->depth, users.value_or(0));
    side.line(fmt::format("shared: {} active users, {} tags each", users.value_or(0), limit),
              Role::header, true);
    for (const QueueStats &queue : facts.total().queues)
        for (const HctxStats &hctx : queue.hctxs) {
            if (hctx.space_id != space_id || !hctx.gauge || side.left() <= 0)
                continue;
            const uint32_t active = hctx.gauge->active_last;
            const bool at_limit = users.value_or(0) > 1 && active >= limit;
            side.line(fmt::format("  {:<14} {:>4} of {}{}", hctx.label, active, limit,
                                  at_limit ? " at its share" : ""),
                      at_limit ? Role::warn : Role::normal);
        }
}

void draw_waiters(Side &side, const Facts &facts, uint16_t space_id)
{
    if (!facts.under_way()) {
        side.line("waiters: not measured", Role::dim);
        return;
    }
    uint64_t count = 0;
    for (const WaitNow &wait : facts.under_way()->waits)
        count += wait.space_id == space_id;
    side.line(fmt::format("waiting for these tags: {}", count), Role::header, true);
    for (const WaitNow &wait : facts.under_way()->waits)
        if (wait.space_id == space_id && side.left() > 0)
            side.line(fmt::format("  {:<16} {:>7} {}",
                                  wait.dispatch ? facts.hctx_name(wait.hctx_id) + " parked"
                                                : task_text(wait.task),
                                  duration(wait.age_ns), cause_name(wait.cause)),
                      Role::warn);
}

void draw_legend(Side &side, const Map &map, bool ascii)
{
    for (size_t i = 0; i < 6; ++i) {
        const Look &l = look(static_cast<TagLook>(i));
        if (!map.bits_known && (static_cast<TagLook>(i) == TagLook::cleared ||
                                static_cast<TagLook>(i) == TagLook::unknown))
            continue; // the bitmap is not in a recording
        const auto count = std::count(map.tags.begin(), map.tags.end(), static_cast<TagLook>(i));
        side.line(
            fmt::format("{} {:>5} {}", ascii ? std::string(1, l.ascii) : l.glyph, count, l.name),
            l.role);
    }
}

} // namespace

uint16_t shown_space(const Facts &facts, const UiState &state)
{
    if (state.space_id != BT_NO_ID && facts.space(state.space_id))
        return state.space_id;
    return worst_space(facts);
}

uint32_t tags_of_space(const Facts &facts, uint16_t space_id)
{
    const SpaceStats *space = facts.space(space_id);
    if (!space)
        return 0;
    const uint32_t depth = space->depth.value_or(space->gauge ? space->gauge->depth : 0);
    return std::min(depth + space->reserved_depth.value_or(0), 65535U);
}

Rect map_area(Rect area)
{
    if (area.width >= 70)
        area.width -= side_width + 1;
    else if (area.height >= 6)
        area.height = std::max(area.height / 2, 3);
    return area;
}

int tags_per_line(Rect area, const Facts &facts, uint16_t space_id)
{
    int per_line = 64;
    while (per_line > 8 && 6 + per_line + per_line / 8 > area.width)
        per_line /= 2;
    const int tags = static_cast<int>(tags_of_space(facts, space_id));
    while (per_line > 8 && per_line / 2 >= tags)
        per_line /= 2;
    return per_line;
}

void draw_tags(Frame &frame, Rect area, const Facts &facts, const UiState &state)
{
    const uint16_t space_id = shown_space(facts, state);
    const Map map = map_of(facts, space_id);
    const Rect left = map_area(area);
    draw_map(frame, left, facts, state, map, space_id);
    Rect rest = area;
    if (left.width != area.width) {
        rest.x += left.width + 1;
        rest.width -= left.width + 1;
        ++rest.y; // the title is as wide as it needs to be
        --rest.height;
    } else {
        rest.y += left.height;
        rest.height -= left.height;
    }
    if (space_id == BT_NO_ID || rest.height <= 0)
        return;
    Side side(frame, rest);
    draw_chosen(side, map, state, facts);
    draw_waiters(side, facts, space_id);
    if (rest.height >= 12) {
        draw_shares(side, facts, space_id);
        draw_legend(side, map, frame.ascii());
    }
}

} // namespace blktag::view
