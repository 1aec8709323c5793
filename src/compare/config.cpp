// SPDX-License-Identifier: GPL-2.0-or-later
// What was set differently. Input: sides (the first run of each stands for its side). Output:
// differences.
#include "compare/parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace blktag::compare {

std::vector<const QueueStats *> active_queues(const Snapshot &snapshot)
{
    std::vector<const QueueStats *> out;
    for (const QueueStats &queue : snapshot.queues)
        if (queue.totals.completed.value_or(0) != 0 || queue.totals.gets.value_or(0) != 0 ||
            queue.latency)
            out.push_back(&queue);
    return out;
}

namespace {

using Read = std::function<std::string(const Snapshot &)>;

std::string text(std::optional<uint32_t> value)
{
    return value ? std::to_string(*value) : std::string("-");
}

// The value of each active queue; equal ones once, so that 8 alike disks are one value.
Read of_queues(std::function<std::string(const Snapshot &, const QueueStats &)> one)
{
    return [one](const Snapshot &s) {
        std::vector<std::string> values;
        for (const QueueStats *queue : active_queues(s)) {
            std::string value = one(s, *queue);
            if (std::find(values.begin(), values.end(), value) == values.end())
                values.push_back(std::move(value));
        }
        return fmt::format("{}", fmt::join(values, ", "));
    };
}

std::string depth_text(const Snapshot &s, const QueueStats &queue, bool sched)
{
    std::set<std::string> depths;
    std::set<uint16_t> spaces;
    for (const HctxStats &hctx : queue.hctxs) {
        const uint16_t id = sched ? hctx.sched_space_id : hctx.space_id;
        const auto depth = sched ? hctx.sched_depth : hctx.depth;
        if (id != BT_NO_ID)
            spaces.insert(id);
        if (depth)
            depths.insert(std::to_string(*depth));
    }
    (void)s;
    if (depths.empty())
        return "-";
    return fmt::format("{} x {}", fmt::join(depths, "/"), std::max<size_t>(1, spaces.size()));
}

std::string shared_text(const Snapshot &s, const QueueStats &queue)
{
    for (const SetStats &set : s.sets)
        if (set.set_id == queue.set_id && set.hctx_shared)
            return fmt::format("one bitmap, of {} disks", queue.nr_sharing + 1);
    return fmt::format("a bitmap per hw queue, of {} disk{}", queue.nr_sharing + 1,
                       queue.nr_sharing ? "s" : "");
}

std::string reads_text(const Snapshot &s)
{
    uint64_t reads = 0;
    uint64_t all = 0;
    for (const OpStats &op : s.ops) {
        all += op.requests;
        reads += op.op == BT_OP_READ ? op.requests : 0;
    }
    return all ? fmt::format("{:.0f} % reads",
                             static_cast<double>(reads) * 100 / static_cast<double>(all))
               : std::string("none");
}

std::vector<std::pair<std::string, Read>> readers()
{
    using S = const Snapshot &;
    using Q = const QueueStats &;
    return {
        {"kernel",
         [](S s) {
             return s.recording.kernel_release;
         }},
        {"machine",
         [](S s) {
             return fmt::format("{}, {} CPUs", s.recording.machine, s.recording.nr_cpus);
         }},
        {"command",
         [](S s) {
             return s.recording.command;
         }},
        {"filters",
         [](S s) {
             return fmt::format("{}", fmt::join(s.recording.filters, " "));
         }},
        {"queues",
         [](S s) {
             return std::to_string(active_queues(s).size());
         }},
        {"driver", of_queues([](S, Q q) { return q.driver.empty() ? "-" : q.driver; })},
        {"scheduler", of_queues([](S, Q q) { return q.scheduler.empty() ? "-" : q.scheduler; })},
        {"hw queues", of_queues([](S, Q q) { return text(q.nr_hw_queues); })},
        {"driver depth", of_queues([](S s, Q q) { return depth_text(s, q, false); })},
        {"sched depth", of_queues([](S s, Q q) { return depth_text(s, q, true); })},
        {"nr_requests", of_queues([](S, Q q) { return text(q.nr_requests); })},
        {"async_depth", of_queues([](S, Q q) { return text(q.async_depth); })},
        {"LUN depth", of_queues([](S, Q q) { return text(q.lun_depth); })},
        {"tag set", of_queues([](S s, Q q) { return shared_text(s, q); })},
        {"queue_rqs", of_queues([](S, Q q) {
             return q.offers_queue_rqs
                        ? q.batches_unused_why.empty() ? "used" : "unused: " + q.batches_unused_why
                        : std::string("none");
         })},
        {"poll queues", of_queues([](S, Q q) {
             return std::to_string(
                 std::count_if(q.hctxs.begin(), q.hctxs.end(),
                               [](const HctxStats &h) { return h.type == "poll"; }));
         })},
        {"load", reads_text},
    };
}

} // namespace

std::vector<Difference> config_differences(const std::vector<Side> &sides)
{
    std::vector<Difference> out;
    for (const auto &[what, read] : readers()) {
        Difference difference{what, {}};
        for (const Side &side : sides)
            difference.values.push_back(read(*side.runs.front()));
        const bool same =
            std::all_of(difference.values.begin(), difference.values.end(),
                        [&](const std::string &v) { return v == difference.values.front(); });
        if (!same)
            out.push_back(std::move(difference));
    }
    return out;
}

} // namespace blktag::compare
