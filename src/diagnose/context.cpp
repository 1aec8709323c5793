// SPDX-License-Identifier: GPL-2.0-or-later
// Questions that several rules ask. Input: Snapshot. Output: see context.hpp.
#include "diagnose/context.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace blktag::diagnose {

uint64_t count_of(const Counters &counters, bt_counter counter)
{
    return counters.get(counter).value_or(0);
}

double ratio(uint64_t part, uint64_t whole)
{
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double share)
{
    const double p = share * 100;
    return p < 9.95 && p > 0 ? fmt::format("{:.1f} %", p) : fmt::format("{:.0f} %", p);
}

std::string number(double value)
{
    if (value < 9.95)
        return fmt::format("{:.1f}", value);
    return fmt::format("{:.0f}", value);
}

std::string plural(uint64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Finding &Context::add(std::string_view id, Where where, double confidence)
{
    Finding &f = out_.emplace_back();
    f.id = id;
    f.where = std::move(where);
    f.confidence = confidence;
    for (const Kind &kind : kinds())
        if (kind.id == id) {
            f.severity = kind.severity;
            f.confirm = kind.confirm;
            f.kernel_change = kind.kernel_change;
        }
    return f;
}

const SetStats *Context::set(uint16_t set_id) const
{
    for (const SetStats &set : s.sets)
        if (set.set_id == set_id && set_id != BT_NO_ID)
            return &set;
    return nullptr;
}

const SpaceStats *Context::space(uint16_t space_id) const
{
    if (space_id == BT_NO_ID)
        return nullptr;
    for (const SetStats &set : s.sets)
        for (const SpaceStats &space : set.spaces)
            if (space.space_id == space_id)
                return &space;
    return nullptr;
}

std::vector<const QueueStats *> Context::queues_of(uint16_t set_id) const
{
    std::vector<const QueueStats *> out;
    for (const QueueStats &queue : s.queues)
        if (queue.set_id == set_id && set_id != BT_NO_ID)
            out.push_back(&queue);
    return out;
}

std::vector<const HctxStats *> Context::hctxs_of(const SpaceStats &space) const
{
    std::vector<const HctxStats *> out;
    for (const QueueStats &queue : s.queues)
        for (const HctxStats &hctx : queue.hctxs)
            if (hctx.space_id == space.space_id || hctx.sched_space_id == space.space_id)
                out.push_back(&hctx);
    return out;
}

Where Context::at(const QueueStats &queue) const
{
    return {{queue.name}, {}, {}, queue.set_id};
}

Where Context::at(const QueueStats &queue, const HctxStats &hctx) const
{
    return {{queue.name}, hctx.label, {}, queue.set_id};
}

Where Context::at_set(uint16_t set_id) const
{
    Where where;
    where.set_id = set_id;
    for (const QueueStats *queue : queues_of(set_id))
        where.queues.push_back(queue->name);
    return where;
}

WaitLoad Context::load(const QueueStats &queue, std::optional<bt_cause> cause) const
{
    WaitLoad out;
    const Waits &waits = queue.waits;
    const Distribution &time = cause ? waits.by_cause[*cause].time : waits.time;
    out.waits = (cause ? waits.by_cause[*cause].count : waits.count).value_or(time.count);
    out.gets = queue.totals.gets.value_or(0);
    out.total_ns = time.sum_ns;
    // Exact where all waits have this cause; else the records' mean stands for those lost.
    if (time.count != 0 && out.waits > time.count)
        out.total_ns = static_cast<uint64_t>(*time.mean_ns() * static_cast<double>(out.waits));
    out.share = ratio(out.waits, out.gets);
    if (queue.latency)
        out.latency_share = ratio(time.sum_ns, queue.latency->whole.sum_ns);
    return out;
}

bool Context::matters(const WaitLoad &load) const
{
    return static_cast<double>(load.waits) >= t.min_waits && load.share >= t.min_wait_share &&
           load.latency_share >= t.min_latency_share;
}

std::optional<uint64_t> Context::since(const std::vector<const QueueStats *> &queues,
                                       const std::function<uint64_t(const Slice &)> &count) const
{
    std::optional<size_t> first;
    for (const QueueStats *queue : queues)
        for (const HctxStats &hctx : queue->hctxs)
            for (const HctxTimeline &line : s.timeline.hctxs) {
                if (line.hctx_id != hctx.hctx_id)
                    continue;
                for (size_t i = 0; i < std::min(line.slices.size(), first.value_or(SIZE_MAX)); ++i)
                    if (count(line.slices[i]) != 0)
                        first = i;
            }
    if (!first)
        return std::nullopt;
    return s.timeline.start_ns + *first * s.timeline.slice_ns;
}

uint64_t Context::end_ns() const
{
    return s.recording.from_ns.value_or(0) + s.recording.duration_ns;
}

namespace {

struct Point {
    double in_flight, device_ns, rate;
};

// Slices of these queues with enough requests to be a measurement.
std::vector<Point> points(const Snapshot &s, const std::vector<const QueueStats *> &queues)
{
    std::vector<Slice> sums(s.timeline.nr_slices);
    for (const HctxTimeline &line : s.timeline.hctxs)
        for (const QueueStats *queue : queues)
            for (const HctxStats &hctx : queue->hctxs)
                if (hctx.hctx_id == line.hctx_id)
                    for (size_t i = 0; i < line.slices.size(); ++i)
                        sums[i].add(line.slices[i]);
    std::vector<Point> out;
    const auto length = static_cast<double>(s.timeline.slice_ns);
    for (const Slice &slice : sums) {
        if (slice.requests < 10 || slice.device_ns == 0)
            continue;
        const auto device = static_cast<double>(slice.device_ns);
        out.push_back({device / length, device / slice.requests, slice.requests / length * 1e9});
    }
    std::sort(out.begin(), out.end(),
              [](const Point &a, const Point &b) { return a.in_flight < b.in_flight; });
    return out;
}

Point mean(std::vector<Point>::const_iterator from, std::vector<Point>::const_iterator to)
{
    Point sum{};
    for (auto at = from; at != to; ++at) {
        sum.in_flight += at->in_flight;
        sum.device_ns += at->device_ns;
        sum.rate += at->rate;
    }
    const auto n = static_cast<double>(to - from);
    return {sum.in_flight / n, sum.device_ns / n, sum.rate / n};
}

} // namespace

std::optional<DepthResponse> depth_response(const Snapshot &snapshot,
                                            const std::vector<const QueueStats *> &queues)
{
    const std::vector<Point> all = points(snapshot, queues);
    const auto third = static_cast<std::ptrdiff_t>(all.size() / 3);
    if (third < 4)
        return std::nullopt;
    const Point low = mean(all.begin(), all.begin() + third);
    const Point high = mean(all.end() - third, all.end());
    if (high.in_flight < 1.5 * low.in_flight)
        return std::nullopt;
    DepthResponse out;
    out.slope = std::log(high.device_ns / low.device_ns) / std::log(high.in_flight / low.in_flight);
    out.in_flight_low = low.in_flight;
    out.in_flight_high = high.in_flight;
    out.device_low_ns = low.device_ns;
    out.device_high_ns = high.device_ns;
    out.rate_low = low.rate;
    out.rate_high = high.rate;
    return out;
}

std::string depth_remedy(const QueueStats &queue, uint64_t depth)
{
    struct Parameter {
        std::string_view driver, text; // {} = depth
    };
    static constexpr Parameter parameters[] = {
        {"null_blk", "module parameter null_blk.hw_queue_depth={}"},
        {"ref_null", "module parameter ref_null.hw_queue_depth={}"},
        {"virtio_blk", "module parameter virtio_blk.queue_depth={} (a deeper virtqueue in the VM's "
                       "configuration)"},
        {"nvme", "module parameter nvme.io_queue_depth={}"},
        {"loop", "module parameter loop.hw_queue_depth={}"},
        {"scsi_debug", "module parameter scsi_debug.max_queue={}"},
    };
    for (const Parameter &p : parameters)
        if (p.driver == queue.driver)
            return fmt::format(fmt::runtime(p.text), depth);
    return fmt::format("a driver depth of {} (driver {}: its own parameter, or can_queue of the "
                       "host)",
                       depth, queue.driver.empty() ? "unknown" : queue.driver);
}

} // namespace blktag::diagnose
