// SPDX-License-Identifier: GPL-2.0-or-later
// View 3: who waits, who holds, and across devices that share a set, who holds what whom makes
// wait. Input: Facts. Output: Table, blame matrix.
#include "view/format.hpp"
#include "view/views.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace blktag::view {

namespace {

std::vector<Column> columns()
{
    return {
        {"task", "task",
         "Name as the task set it, and its tid. A parked hctx has no task asleep. "
         "From /proc, or the recording.",
         22, false, 0},
        {"pid", "pid", "Process (thread group) of the task.", 7, true, 9},
        {"cgroup", "cgroup", "Id of its cgroup (v2): the inode number of its folder.", 8, true, 11},
        {"where", "hctx", "Where it waits, or where its tags are.", 14, false, 2},
        {"pool", "pool", "driver, sched (an I/O scheduler's) or reserved tags.", 8, false, 6},
        {"what", "what",
         "Waiting: the cause (exhausted: no free tag; fair_share: the queue's "
         "share of a shared set is used up; sched_depth: the scheduler's limit; reserved; stuck: "
         "free tags, no rule in the way, for long). Holding: how many tags.",
         16, false, 1},
        {"since", "since", "Age of the wait, or of the longest held tag.", 7, true, 3},
        {"began", "then",
         "Of a wait: tags in use of how many when it began, and the limit where "
         "a rule denied it.",
         14, false, 8},
        {"flight", "flight", "Of a holder: tags of requests that are at the device.", 6, true, 7},
    };
}

std::string pool_text(const WaitNow &wait)
{
    if (wait.flags & BT_W_RESERVED)
        return "reserved";
    return wait.flags & BT_W_SCHED ? "sched" : "driver";
}

std::string began_text(const WaitNow &wait)
{
    std::string text = fmt::format("{}/{}", wait.began.held, wait.began.depth);
    if (wait.began.limit && wait.began.limit < wait.began.depth)
        text += fmt::format(" limit {}", wait.began.limit);
    return text;
}

TableRow heading(std::string key, std::string text)
{
    TableRow row;
    row.key = std::move(key);
    row.heading = true;
    row.has_children = true;
    row.cells.push_back(text_cell(std::move(text), Role::title));
    row.cells.resize(9);
    return row;
}

TableRow wait_row(const WaitNow &wait, const Facts &facts)
{
    TableRow row;
    row.depth = 1;
    row.key = wait.dispatch ? fmt::format("p{}", wait.hctx_id) : fmt::format("w{}", wait.task.tid);
    row.search = facts.queue_name(wait.queue_id);
    row.cells.push_back({wait.dispatch ? "(parked hctx)" : task_text(wait.task), Role::normal,
                         static_cast<double>(wait.task.tid)});
    row.cells.push_back(wait.task.tgid ? TableCell{fmt::format("{}", wait.task.tgid), Role::normal,
                                                   static_cast<double>(wait.task.tgid)}
                                       : text_cell(nothing_text, Role::dim));
    row.cells.push_back(wait.task.cgroup_id
                            ? TableCell{fmt::format("{}", wait.task.cgroup_id), Role::normal,
                                        static_cast<double>(wait.task.cgroup_id)}
                            : text_cell(nothing_text, Role::dim));
    row.cells.push_back(
        {facts.hctx_name(wait.hctx_id), Role::normal, -static_cast<double>(wait.hctx_id)});
    row.cells.push_back(text_cell(pool_text(wait)));
    row.cells.push_back({std::string(cause_name(wait.cause)),
                         wait.cause == BT_CAUSE_STUCK ? Role::bad : Role::warn,
                         -static_cast<double>(wait.cause)});
    row.cells.push_back(time_cell(wait.age_ns, true, 1'000'000'000));
    row.cells.push_back(text_cell(began_text(wait)));
    row.cells.push_back(text_cell(""));
    return row;
}

struct Holder {
    const TaskName *task = nullptr;
    uint16_t hctx_id = BT_NO_ID;
    bool sched = false;
    bool several = false; // hctxs
    uint64_t tags = 0, in_flight = 0, oldest_ns = 0;
};

// By task; a request on a scheduler tag also has a driver tag, which is counted by itself.
std::vector<Holder> holders_of(const Facts &facts)
{
    std::map<std::tuple<uint32_t, uint16_t, bool>, Holder> by_task;
    for (const HeldNow &tag : facts.under_way()->held) {
        const bool sched = (tag.flags & BT_IO_SCHED) && !tag.driver;
        Holder &h = by_task[{tag.task.tid, tag.queue_id, sched}];
        h.several |= h.task && h.hctx_id != tag.hctx_id;
        h.task = &tag.task;
        h.hctx_id = tag.hctx_id;
        h.sched = sched;
        ++h.tags;
        h.in_flight += tag.issued_for_ns && !tag.completed;
        h.oldest_ns = std::max(h.oldest_ns, tag.age_ns);
    }
    std::vector<Holder> out;
    for (const auto &[key, holder] : by_task)
        out.push_back(holder);
    std::stable_sort(out.begin(), out.end(), [](const Holder &a, const Holder &b) {
        return std::pair(a.tags, a.oldest_ns) > std::pair(b.tags, b.oldest_ns);
    });
    return out;
}

TableRow holder_row(const Holder &holder, const Facts &facts)
{
    TableRow row;
    row.depth = 1;
    row.key = fmt::format("t{}.{}.{}", holder.task->tid, holder.hctx_id, holder.sched);
    row.cells.push_back(
        {task_text(*holder.task), Role::normal, static_cast<double>(holder.task->tid)});
    row.cells.push_back(holder.task->tgid
                            ? TableCell{fmt::format("{}", holder.task->tgid), Role::normal,
                                        static_cast<double>(holder.task->tgid)}
                            : text_cell(nothing_text, Role::dim));
    row.cells.push_back(holder.task->cgroup_id
                            ? TableCell{fmt::format("{}", holder.task->cgroup_id), Role::normal,
                                        static_cast<double>(holder.task->cgroup_id)}
                            : text_cell(nothing_text, Role::dim));
    const std::string label = facts.hctx_name(holder.hctx_id);
    row.cells.push_back({holder.several ? label.substr(0, label.find('/')) : label, Role::normal,
                         -static_cast<double>(holder.hctx_id)});
    row.cells.push_back(text_cell(holder.sched ? "sched" : "driver"));
    row.cells.push_back({fmt::format("{} tag{}", holder.tags, holder.tags == 1 ? "" : "s"),
                         Role::normal, static_cast<double>(holder.tags)});
    row.cells.push_back(time_cell(holder.oldest_ns, true, 1'000'000'000));
    row.cells.push_back(text_cell(""));
    row.cells.push_back(
        {fmt::format("{}", holder.in_flight), Role::normal, static_cast<double>(holder.in_flight)});
    return row;
}

// Sets that several queues share and on which somebody waits.
struct Blame {
    std::vector<uint16_t> queues;                           // by id
    std::map<std::pair<uint16_t, uint16_t>, uint64_t> tags; // (holder, waiter) -> tags held
    std::map<uint16_t, uint64_t> waiting;
};

Blame blame_of(const Facts &facts)
{
    Blame out;
    std::map<uint16_t, std::map<uint16_t, uint64_t>> held; // space -> queue -> tags
    for (const HeldNow &tag : facts.under_way()->held)
        ++held[tag.space_id][tag.queue_id];
    std::set<uint16_t> queues;
    std::set<std::pair<uint16_t, uint16_t>> done;
    for (const WaitNow &wait : facts.under_way()->waits) {
        const QueueStats *queue = facts.total_queue(wait.queue_id);
        if (!queue || queue->nr_sharing == 0)
            continue;
        ++out.waiting[wait.queue_id];
        queues.insert(wait.queue_id);
        if (!done.insert({wait.space_id, wait.queue_id}).second)
            continue;
        for (const auto &[holder, tags] : held[wait.space_id]) {
            out.tags[{holder, wait.queue_id}] += tags;
            queues.insert(holder);
        }
    }
    out.queues.assign(queues.begin(), queues.end());
    return out;
}

} // namespace

Table tasks_table(const Facts &facts, const UiState &)
{
    Table table;
    table.columns = columns();
    if (!facts.under_way()) {
        table.empty = "what is under way is not measured here";
        return table;
    }
    const UnderWay &now = *facts.under_way();
    const std::vector<Holder> holders = holders_of(facts);
    table.rows.push_back(heading("waiting", fmt::format("waiting: {}", now.waits.size())));
    for (const WaitNow &wait : now.waits)
        table.rows.push_back(wait_row(wait, facts));
    table.rows.push_back(heading("holding", fmt::format("holding: {} tags", now.held.size())));
    for (const Holder &holder : holders)
        table.rows.push_back(holder_row(holder, facts));
    if (now.held_left_out)
        table.rows.push_back(
            heading("left_out", fmt::format("and {} tags not listed", now.held_left_out)));
    return table;
}

int draw_blame(Frame &frame, Rect area, const Facts &facts)
{
    if (!facts.under_way() || area.height < 10 || area.width < 40)
        return 0;
    const Blame blame = blame_of(facts);
    if (blame.queues.empty())
        return 0;
    constexpr int name_width = 12;
    const size_t columns = std::min<size_t>(
        blame.queues.size(), static_cast<size_t>((area.width - name_width - 1) / (name_width + 1)));
    const size_t rows = std::min<size_t>(blame.queues.size(), static_cast<size_t>(area.height / 3));
    const int lines = static_cast<int>(rows) + 2;
    const int top = area.y + area.height - lines;
    frame.put(area.x, top, "tags held (row) of the space that others wait for (column)",
              {Role::header, true, false}, area.width);
    for (size_t c = 0; c < columns; ++c) {
        const auto waiting = blame.waiting.find(blame.queues[c]);
        const std::string text = fmt::format("{}:{}", facts.queue_name(blame.queues[c]),
                                             waiting == blame.waiting.end() ? 0 : waiting->second);
        frame.put_right(area.x + name_width + static_cast<int>(c) * (name_width + 1), top + 1,
                        name_width, text, {Role::title, false, false});
    }
    for (size_t r = 0; r < rows; ++r) {
        const int y = top + 2 + static_cast<int>(r);
        frame.put(area.x, y, facts.queue_name(blame.queues[r]), {Role::title, false, false},
                  name_width);
        for (size_t c = 0; c < columns; ++c) {
            const auto found = blame.tags.find({blame.queues[r], blame.queues[c]});
            const bool any = found != blame.tags.end();
            frame.put_right(area.x + name_width + static_cast<int>(c) * (name_width + 1), y,
                            name_width, any ? fmt::format("{}", found->second) : nothing_text,
                            {any && r != c ? Role::bad : Role::normal, false, false});
        }
    }
    return lines;
}

} // namespace blktag::view
