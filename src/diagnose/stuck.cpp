// SPDX-License-Identifier: GPL-2.0-or-later
// Requests and waiters that do not move, and tags, counters and budgets that nobody gives back.
// Input: gauges, open waits, counters. Output: findings.
#include "base/units.hpp"
#include "diagnose/context.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::diagnose {

namespace {

using base::format_duration;

// Tasks whose open wait began on one of these hctxs.
struct OpenOn {
    uint64_t tasks = 0;
    uint64_t longest_ns = 0;
    const OpenWait *oldest = nullptr;
    bool stuck = false;
    bool by_rule = false; // fair share, scheduler depth or the reserved pool
};

OpenOn open_on(const Context &c, const std::vector<const HctxStats *> &hctxs)
{
    OpenOn out;
    for (const OpenWait &wait : c.s.open_waits) {
        const bool here = std::any_of(hctxs.begin(), hctxs.end(), [&wait](const HctxStats *h) {
            return h->label == wait.hctx;
        });
        if (!here || wait.dispatch)
            continue;
        ++out.tasks;
        out.stuck |= wait.cause == BT_CAUSE_STUCK;
        out.by_rule |= wait.cause != BT_CAUSE_STUCK && wait.cause != BT_CAUSE_EXHAUSTED;
        if (wait.age_ns > out.longest_ns) {
            out.longest_ns = wait.age_ns;
            out.oldest = &wait;
        }
    }
    return out;
}

uint64_t sum(const std::vector<const HctxStats *> &hctxs, bt_counter counter)
{
    uint64_t out = 0;
    for (const HctxStats *hctx : hctxs)
        out += count_of(hctx->counters, counter);
    return out;
}

std::string tasks_text(const OpenOn &open, const SpaceGauge &gauge)
{
    if (open.tasks == 0)
        return fmt::format("{} asleep", plural(gauge.waiters_last, "wait queue"));
    return fmt::format("{} waiting, oldest {}", plural(open.tasks, "task"),
                       format_duration(open.longest_ns));
}

uint32_t free_tags(const SpaceGauge &gauge)
{
    return gauge.depth > gauge.held_last ? gauge.depth - gauge.held_last : 0;
}

// A rule of the kernel may keep tasks waiting although tags are free: that is not stuck.
bool rule_in_the_way(const std::vector<const HctxStats *> &hctxs, const OpenOn &open)
{
    uint64_t by_rule = 0;
    for (const HctxStats *hctx : hctxs)
        for (const bt_cause cause : {BT_CAUSE_FAIR_SHARE, BT_CAUSE_SCHED_DEPTH, BT_CAUSE_RESERVED})
            by_rule += hctx->waits.by_cause[cause].count.value_or(0);
    return by_rule != 0 || open.by_rule;
}

void describe_waiters(Finding &f, const SpaceGauge &g, const OpenOn &open,
                      const std::vector<const HctxStats *> &hctxs)
{
    f.since_ns = g.waiters_while_free.on_at_end ? g.waiters_while_free.last_from_ns
                                                : g.waiters_while_free.longest_from_ns;
    f.evidence = {{"free_tags", to_double(free_tags(g)), "tags"},
                  {"depth", to_double(g.depth), "tags"},
                  {"tasks_waiting", to_double(open.tasks), "tasks"},
                  {"oldest_wait", to_double(open.longest_ns), "ns"},
                  {"waiters_while_free", to_double(g.waiters_while_free.longest_ns), "ns"},
                  {"wake_batch", to_double(g.wake_batch), "tags"},
                  {"in_flight", to_double(g.in_flight_last), "requests"},
                  {"tags_freed",
                   to_double(sum(hctxs, BT_C_puts_single) + sum(hctxs, BT_C_puts_batch)), "tags"}};
    if (g.wakes_due_last)
        f.evidence.push_back({"wakes_due", to_double(*g.wakes_due_last), "tags"});
    if (g.cleared_last != 0)
        f.evidence.push_back({"freed_lazily", to_double(g.cleared_last), "tags"});
    f.remedies.push_back("any request that gets and frees a tag on this hctx may wake them: "
                         "dd if=/dev/" +
                         f.where.queues.front() + " of=/dev/null count=1");
}

void waiters_of(Context &c, const SpaceStats &space)
{
    const SpaceGauge &g = *space.gauge;
    const auto hctxs = c.hctxs_of(space);
    if (hctxs.empty() || to_double(g.waiters_while_free.longest_ns) < c.t.stall_ns)
        return;
    const OpenOn open = open_on(c, hctxs);
    Where where = c.at_set(space.set_id);
    if (hctxs.size() == 1)
        where.hctx = hctxs.front()->label;
    if (where.queues.empty())
        return;
    const std::string state = fmt::format("{} of {} tag{} free, {}", free_tags(g), g.depth,
                                          g.depth == 1 ? "" : "s", tasks_text(open, g));
    if (g.wake_batch > g.depth) {
        Finding &f = c.add("wake_batch_above_depth", where, 0.98);
        describe_waiters(f, g, open, hctxs);
        f.summary = fmt::format("{}, wake batch {} > depth {}: waiters cannot be woken. Device in "
                                "flight {}.",
                                state, g.wake_batch, g.depth, g.in_flight_last);
        return;
    }
    const bool marked = open.stuck || sum(hctxs, BT_C_waits_stuck) != 0;
    if (!marked && rule_in_the_way(hctxs, open))
        return;
    Finding &f = c.add("stuck_waiters", where, marked ? 0.95 : 0.8);
    describe_waiters(f, g, open, hctxs);
    const std::string due =
        g.wakes_due_last && *g.wakes_due_last != 0
            ? fmt::format(", {} freed tags not yet passed on as wake-ups", *g.wakes_due_last)
            : std::string();
    f.summary = fmt::format("{}, in flight {}: nothing in the way and nobody wakes them (lost "
                            "wake-up; wake batch {}{}).",
                            state, g.in_flight_last, g.wake_batch, due);
    if (open.oldest && open.tasks == 1)
        f.where.task = fmt::format("{} {}", open.oldest->comm, open.oldest->tid);
    if (const uint64_t moved = sum(hctxs, BT_C_waits_moved))
        f.evidence.push_back({"waits_moved", to_double(moved), "waits"});
}

uint64_t longest_device_ns(const std::vector<const HctxStats *> &hctxs)
{
    uint64_t out = 0;
    for (const HctxStats *hctx : hctxs)
        if (hctx->latency)
            out = std::max(out, hctx->latency->at(Phase::device).max_ns);
    return out;
}

bool parked_somewhere(const std::vector<const HctxStats *> &hctxs)
{
    return std::any_of(hctxs.begin(), hctxs.end(), [](const HctxStats *h) {
        return h->gauge && (h->gauge->flags_last & (BT_HG_DISPATCH | BT_HG_REQUEUE |
                                                    BT_HG_CTX_PENDING | BT_HG_PARKED)) != 0;
    });
}

std::string victims_text(const Context &c, const std::vector<const QueueStats *> &queues)
{
    uint64_t waiting = 0;
    uint64_t throttled = 0;
    for (const QueueStats *queue : queues) {
        waiting += queue->waits.open;
        throttled += queue->other[BT_OTHER_THROTTLE].count.value_or(0);
    }
    std::string out;
    if (waiting != 0)
        out += fmt::format("; {} behind it for a tag", plural(waiting, "task"));
    if (throttled != 0)
        out +=
            fmt::format("; {} in write-back throttle are its victims", plural(throttled, "wait"));
    (void)c;
    return out;
}

void request_of(Context &c, const SetStats &set)
{
    const SpaceStats *oldest = nullptr;
    for (const SpaceStats &space : set.spaces)
        if (space.gauge && space.gauge->in_flight_last != 0 &&
            (!oldest || space.gauge->oldest_held_last_ns > oldest->gauge->oldest_held_last_ns))
            oldest = &space;
    if (!oldest)
        return;
    const SpaceGauge &g = *oldest->gauge;
    const auto hctxs = c.hctxs_of(*oldest);
    const uint64_t others = longest_device_ns(hctxs);
    if (hctxs.empty() || to_double(g.oldest_held_last_ns) < c.t.stuck_request_ns ||
        to_double(g.oldest_held_last_ns) < c.t.stuck_request_ratio * to_double(others) ||
        parked_somewhere(hctxs))
        return;
    Where where = c.at_set(set.set_id);
    if (hctxs.size() == 1)
        where.hctx = hctxs.front()->label;
    const auto queues = c.queues_of(set.set_id);
    Finding &f = c.add("stuck_request", where, 0.9);
    f.since_ns = c.end_ns() > g.oldest_held_last_ns ? c.end_ns() - g.oldest_held_last_ns : 0;
    f.summary = fmt::format(
        "the driver holds {} for {} and does not complete {}; others took at "
        "most {}{}.",
        plural(g.in_flight_last, "request"), format_duration(g.oldest_held_last_ns),
        g.in_flight_last == 1 ? "it" : "them", format_duration(others), victims_text(c, queues));
    f.evidence = {{"in_flight", to_double(g.in_flight_last), "requests"},
                  {"oldest_age", to_double(g.oldest_held_last_ns), "ns"},
                  {"longest_other_device_time", to_double(others), "ns"},
                  {"held", to_double(g.held_last), "tags"},
                  {"depth", to_double(g.depth), "tags"}};
    f.remedies.push_back("look at the device and its driver: /sys/kernel/debug/block/" +
                         (where.queues.empty() ? std::string("<disk>") : where.queues.front()) +
                         "/hctx*/busy names the request");
}

// Lowest and highest of the last and the first quarter of a space's sampled slices.
struct Quarters {
    uint32_t unissued_first = 0, unissued_last = 0;
    uint32_t held_max_last = 0;
    uint32_t samples_last = 0;
    uint64_t from_ns = 0; // of the last quarter, since the recording's start
};

std::optional<Quarters> quarters_of(const Context &c, uint16_t space_id)
{
    for (const SpaceTimeline &line : c.s.timeline.spaces) {
        if (line.space_id != space_id)
            continue;
        const uint64_t slices = std::max<uint64_t>(c.s.timeline.nr_slices, line.slices.size());
        SpaceSlice first;
        SpaceSlice last;
        for (size_t i = 0; i < line.slices.size(); ++i) {
            if (i < slices / 4)
                first.add(line.slices[i]);
            if (i >= slices - slices / 4)
                last.add(line.slices[i]);
        }
        if (first.samples < 2 || last.samples < 2)
            return std::nullopt;
        return Quarters{first.unissued_min, last.unissued_min, last.held_max, last.samples,
                        (slices - slices / 4) * c.s.timeline.slice_ns + c.s.timeline.start_ns};
    }
    return std::nullopt;
}

void tag_leak_of(Context &c, const SpaceStats &space)
{
    const SpaceGauge &g = *space.gauge;
    const auto hctxs = c.hctxs_of(space);
    const auto q = quarters_of(c, space.space_id);
    const bool scheduled = std::any_of(hctxs.begin(), hctxs.end(), [](const HctxStats *h) {
        return h->sched_space_id != BT_NO_ID;
    });
    // Below a scheduler a request may rest on its scheduler tag; there only driver tags tell.
    if (!q || hctxs.empty() || (scheduled && space.sched) || q->unissued_last == 0 ||
        parked_somewhere(hctxs))
        return;
    const bool grew = q->unissued_last > q->unissued_first;
    const bool old = to_double(g.oldest_held_last_ns) >= c.t.stuck_request_ns;
    if (!grew && !old)
        return;
    Where where = c.at_set(space.set_id);
    if (hctxs.size() == 1)
        where.hctx = hctxs.front()->label;
    Finding &f = c.add("leaked_tag", where, grew && old ? 0.9 : 0.7);
    f.since_ns =
        old && c.end_ns() > g.oldest_held_last_ns ? c.end_ns() - g.oldest_held_last_ns : q->from_ns;
    const uint64_t completes = sum(hctxs, BT_C_completes);
    const uint64_t issues = sum(hctxs, BT_C_issues);
    f.summary = fmt::format("{} of {} tags stay held with no request at the driver, {} more than "
                            "at the start; issued {}, completed {}, held {} at the end: lost after "
                            "the driver, or a put that was skipped.",
                            q->unissued_last, g.depth,
                            q->unissued_last - std::min(q->unissued_last, q->unissued_first),
                            issues, completes, g.held_last);
    f.evidence = {{"held_without_request", to_double(q->unissued_last), "tags"},
                  {"held_without_request_at_start", to_double(q->unissued_first), "tags"},
                  {"oldest_age", to_double(g.oldest_held_last_ns), "ns"},
                  {"issued", to_double(issues), "requests"},
                  {"completed", to_double(completes), "requests"},
                  {"samples", to_double(q->samples_last), "samples"}};
    f.remedies.push_back("none at run time: the tag is gone until the device is removed");
}

void active_leak_of(Context &c, const QueueStats &queue, const HctxStats &hctx)
{
    const auto q = quarters_of(c, hctx.space_id);
    if (!q || !hctx.queue_shared)
        return;
    for (const HctxTimeline &line : c.s.timeline.hctxs) {
        if (line.hctx_id != hctx.hctx_id)
            continue;
        const uint64_t slices = std::max<uint64_t>(c.s.timeline.nr_slices, line.active.size());
        ActiveSlice last;
        for (size_t i = slices - slices / 4; i < line.active.size(); ++i)
            last.add(line.active[i]);
        if (last.samples < 2 || last.active_min <= q->held_max_last)
            continue;
        const uint32_t leaked = last.active_min - q->held_max_last;
        Finding &f = c.add("leaked_active", c.at(queue, hctx), 0.85);
        f.since_ns = q->from_ns;
        f.summary = fmt::format("nr_active stays at {} or more while at most {} tags are held: {} "
                                "too many, so fair share denies tags that are free.",
                                last.active_min, q->held_max_last, leaked);
        f.evidence = {{"active_min", to_double(last.active_min), "requests"},
                      {"held_max", to_double(q->held_max_last), "tags"},
                      {"leaked", to_double(leaked), "requests"},
                      {"samples", to_double(last.samples), "samples"}};
        f.remedies.push_back("none at run time: the counter is right again after the queue is made "
                             "anew");
    }
}

void budget_leak_of(Context &c, const QueueStats &queue)
{
    const uint64_t taken = count_of(queue.counters, BT_C_budget_taken);
    const uint64_t given = count_of(queue.counters, BT_C_budget_returned) +
                           count_of(queue.counters, BT_C_budget_completed);
    const BudgetMoment &b = queue.budget;
    if (!queue.has_budget || taken <= given || !b.last_refused_ns || b.limit == 0 ||
        b.in_use_last < b.limit)
        return;
    uint64_t in_flight = 0;
    bool sampled = false;
    for (const SetStats &set : c.s.sets)
        for (const SpaceStats &space : set.spaces)
            if (set.set_id == queue.set_id && !space.sched && space.gauge) {
                in_flight += space.gauge->held_last;
                sampled = true;
            }
    const uint64_t end = c.end_ns();
    std::optional<uint64_t> last_put;
    for (const HctxStats &hctx : queue.hctxs)
        last_put = std::max(last_put, hctx.events.last_put_ns);
    if (!sampled || in_flight != 0 ||
        to_double(end - std::min(end, last_put.value_or(0))) < c.t.stall_ns)
        return;
    Finding &f = c.add("leaked_budget", c.at(queue), 0.85);
    f.since_ns = last_put;
    f.summary = fmt::format("budget {} of {} in use with no driver tag held: {} taken, {} given "
                            "back; refused {} times.",
                            b.in_use_last, b.limit, taken, given,
                            count_of(queue.counters, BT_C_budget_refused));
    f.evidence = {{"in_use", to_double(b.in_use_last), "budgets"},
                  {"limit", to_double(b.limit), "budgets"},
                  {"taken", to_double(taken), "budgets"},
                  {"given_back", to_double(given), "budgets"}};
    f.remedies.push_back("none at run time: the device has to be removed and added");
}

} // namespace

void find_stuck(Context &c)
{
    for (const SetStats &set : c.s.sets) {
        for (const SpaceStats &space : set.spaces)
            if (space.gauge)
                waiters_of(c, space);
        request_of(c, set);
    }
}

void find_leaks(Context &c)
{
    for (const SetStats &set : c.s.sets)
        for (const SpaceStats &space : set.spaces)
            if (space.gauge)
                tag_leak_of(c, space);
    for (const QueueStats &queue : c.s.queues) {
        for (const HctxStats &hctx : queue.hctxs)
            active_leak_of(c, queue, hctx);
        budget_leak_of(c, queue);
    }
}

} // namespace blktag::diagnose
