// SPDX-License-Identifier: GPL-2.0-or-later
// View 7: tag sets, the queues on them, their hctxs and CPUs, and which limit binds. Input: Facts.
// Output: Table.
#include "view/format.hpp"
#include "view/views.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace blktag::view {

namespace {

std::vector<Column> columns()
{
    return {
        {"object", "set/queue/hctx",
         "Tag set, the request queues that share it, their hardware "
         "contexts.",
         20, false, 0},
        {"type", "type", "Of an hctx: default, read or poll. Of a queue: its driver.", 12, false,
         2},
        {"sched", "scheduler", "The queue's I/O scheduler. From sysfs.", 11, false, 4},
        {"depth", "tags", "Driver tags, reserved ones not counted.", 5, true, 1},
        {"reserved", "rsvd", "Tags of the reserved pool.", 4, true, 7},
        {"schedtags", "sched", "Scheduler tags of the hctx; of a queue nr_requests.", 5, true, 5},
        {"binds", "limit that binds",
         "The smallest limit in force now: driver tags, the fair "
         "share of a shared set, scheduler tags, the LUN's queue_depth.",
         24, false, 3},
        {"cpus", "CPUs", "CPUs that submit to the hctx. From sysfs.", 24, false, 6},
    };
}

// "0-3,8"
std::string cpus_text(const std::vector<uint32_t> &cpus)
{
    std::string out;
    for (size_t i = 0; i < cpus.size();) {
        size_t j = i;
        while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1)
            ++j;
        out += (out.empty() ? "" : ",") + fmt::format("{}", cpus[i]);
        if (j != i)
            out += fmt::format("-{}", cpus[j]);
        i = j + 1;
    }
    return out;
}

TableCell count_cell(const std::optional<uint32_t> &n)
{
    return n ? TableCell{fmt::format("{}", *n), Role::normal, static_cast<double>(*n)}
             : TableCell{nothing_text, Role::dim, -1};
}

uint32_t active_users(const Facts &facts, uint16_t space_id)
{
    uint32_t users = 0;
    for (const QueueStats &queue : facts.total().queues)
        for (const HctxStats &hctx : queue.hctxs)
            users += hctx.space_id == space_id && hctx.gauge && !hctx.gone &&
                     (hctx.gauge->flags_last & BT_HG_TAG_ACTIVE);
    return users;
}

std::string binding_limit(const Facts &facts, const QueueStats &queue, const HctxStats &hctx)
{
    struct Limit {
        uint32_t tags;
        std::string name;
    };
    std::vector<Limit> limits;
    if (hctx.depth) {
        limits.push_back({*hctx.depth, "driver tags"});
        const uint32_t users = active_users(facts, hctx.space_id);
        const uint32_t share = fair_share(*hctx.depth, hctx.queue_shared ? users : 0);
        if (share < *hctx.depth)
            limits.push_back({share, fmt::format("fair share of {}", users)});
    }
    if (hctx.sched_depth)
        limits.push_back({*hctx.sched_depth, "scheduler tags"});
    if (queue.lun_depth)
        limits.push_back({*queue.lun_depth, "LUN queue_depth"});
    const auto least =
        std::min_element(limits.begin(), limits.end(),
                         [](const Limit &a, const Limit &b) { return a.tags < b.tags; });
    return least == limits.end() ? nothing_text : fmt::format("{}: {}", least->tags, least->name);
}

TableRow row_of(const Facts &facts, const QueueStats &queue, const HctxStats &hctx)
{
    TableRow row = hctx_row(queue, hctx);
    row.depth = 2;
    row.cells = {
        {fmt::format("hctx{}{}", hctx.hctx_num, hctx.gone ? " (gone)" : ""),
         hctx.gone ? Role::dim : Role::normal, static_cast<double>(hctx.hctx_num)},
        text_cell(hctx.type),
        text_cell(""),
        count_cell(hctx.depth),
        count_cell(hctx.reserved_depth),
        count_cell(hctx.sched_depth),
        text_cell(binding_limit(facts, queue, hctx)),
        text_cell(cpus_text(hctx.cpus)),
    };
    return row;
}

TableRow row_of(const QueueStats &queue, const UiState &state)
{
    TableRow row = queue_row(queue, state, queue.dev);
    row.depth = 1;
    row.cells = {
        {queue.name + (queue.gone ? " (gone)" : ""), queue.gone ? Role::dim : Role::title, 0},
        text_cell(queue.driver),
        text_cell(queue.scheduler),
        text_cell(""),
        text_cell(""),
        count_cell(queue.nr_requests),
        text_cell(queue.async_depth ? fmt::format("async_depth {}", *queue.async_depth)
                  : queue.lun_depth ? fmt::format("LUN queue_depth {}", *queue.lun_depth)
                                    : ""),
        text_cell(queue.dev),
    };
    return row;
}

} // namespace

Table topology_table(const Facts &facts, const UiState &state)
{
    Table table;
    table.columns = columns();
    table.empty = no_queue_text;
    std::map<uint16_t, std::vector<const QueueStats *>> by_set;
    for (const QueueStats &queue : facts.total().queues)
        by_set[queue.set_id].push_back(&queue);
    double place = 0;
    for (const auto &[set_id, queues] : by_set) {
        TableRow &set = table.rows.emplace_back();
        set.key = fmt::format("s{}", set_id);
        set.has_children = true;
        set.cells.push_back({set_id == BT_NO_ID ? "no known set" : fmt::format("set {}", set_id),
                             Role::header, place++});
        set.cells.push_back(text_cell(queues.size() > 1 ? fmt::format("shared by {}", queues.size())
                                                        : std::string("one queue")));
        set.cells.resize(table.columns.size());
        for (const QueueStats *queue : queues) {
            table.rows.push_back(row_of(*queue, state));
            const bool open = table.rows.back().open;
            for (const HctxStats &hctx : queue->hctxs)
                if (open)
                    table.rows.push_back(row_of(facts, *queue, hctx));
        }
    }
    return table;
}

} // namespace blktag::view
