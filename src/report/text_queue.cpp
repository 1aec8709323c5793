// SPDX-License-Identifier: GPL-2.0-or-later
// Tag sets and queues in the text report: identity, pools, hctxs, waits by cause. Input: SetStats,
// QueueStats. Output: lines.
#include "base/units.hpp"
#include "diagnose/diagnose.hpp"
#include "report/text_parts.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::report {

namespace {

const SpaceStats *space_of(const Snapshot &snapshot, uint16_t id)
{
    for (const SetStats &set : snapshot.sets)
        for (const SpaceStats &space : set.spaces)
            if (space.space_id == id)
                return &space;
    return nullptr;
}

std::string option(const char *name, std::optional<uint32_t> value)
{
    return value ? fmt::format(", {} {}", name, *value) : std::string();
}

void print_identity(Page &page, const Snapshot &snapshot, const QueueStats &q)
{
    std::string text = q.driver.empty() ? "driver unknown" : "driver " + q.driver;
    text += ", scheduler " + (q.scheduler.empty() ? std::string("unknown") : q.scheduler);
    text += option("nr_requests", q.nr_requests) + option("async_depth", q.async_depth) +
            option("LUN queue_depth", q.lun_depth);
    const size_t hctxs = q.nr_hw_queues.value_or(static_cast<uint32_t>(q.hctxs.size()));
    text += fmt::format(", {} hctx{}", hctxs, hctxs == 1 ? "" : "s");
    if (q.gone)
        text += ", gone before the end";
    page.item("", text, 2, 0);
    if (q.nr_sharing != 0) {
        std::string names = join(q.shares_with);
        if (q.nr_sharing > q.shares_with.size())
            names += fmt::format(" and {} more", q.nr_sharing - q.shares_with.size());
        page.item("", fmt::format("tag set {} shared with {}", q.set_id, names), 2, 0);
    }
    if (!q.slaves.empty())
        page.item("", "on top of " + join(q.slaves), 2, 0);
    if (!q.holders.empty())
        page.item("", "below " + join(q.holders), 2, 0);
    if (const std::string limits = diagnose::limits_text(snapshot, q); !limits.empty())
        page.item("", "limits: " + limits, 2, 0);
    std::string rates = fmt::format("gets {}, issued {}, completed {}", count_text(q.totals.gets),
                                    count_text(q.totals.issued), count_text(q.totals.completed));
    if (q.requests_per_s)
        rates += fmt::format(", {} IOPS", mean_text(*q.requests_per_s));
    if (q.bytes_per_s)
        rates += ", " + rate_text(*q.bytes_per_s);
    page.item("", rates, 2, 0);
}

// The pool that an hctx's gets draw from, and its gauge.
struct Pool {
    std::string name = "-";
    std::optional<uint32_t> depth;
    const SpaceGauge *gauge = nullptr;
};

Pool pool_of(const Snapshot &snapshot, const HctxStats &hctx)
{
    const bool sched = hctx.sched_space_id != BT_NO_ID;
    const SpaceStats *space = space_of(snapshot, sched ? hctx.sched_space_id : hctx.space_id);
    Pool pool;
    pool.depth = sched ? hctx.sched_depth : hctx.depth;
    if (!space) {
        pool.name = hctx.depth ? "driver" : "-";
        return pool;
    }
    // One pool for several hctxs: its gauge stands with the tag set, not with each of them.
    const bool shared = space->hctx_shared || space->hctxs.size() > 1;
    pool.name = shared ? "set" : sched ? "sched" : "driver";
    if (space->depth)
        pool.depth = space->depth;
    if (!shared && space->gauge)
        pool.gauge = &*space->gauge;
    return pool;
}

std::vector<std::string> wait_cells(const Totals &totals, const Waits &waits)
{
    const bool none = waits.count && *waits.count == 0 && waits.time.count == 0;
    const auto time = [&](std::optional<uint64_t> value) {
        return none ? "" : duration_text(value);
    };
    return {count_text(totals.gets),
            count_text(waits.count),
            totals.gets && waits.count ? percent_text(*waits.count, *totals.gets) : "-",
            time(waits.time.quantile_ns(0.5)),
            time(waits.time.quantile_ns(0.99)),
            time(waits.time.quantile_ns(1))};
}

bool silent_hctx(const HctxStats &hctx)
{
    return hctx.totals.gets.value_or(0) == 0 && hctx.totals.issued.value_or(0) == 0 &&
           hctx.waits.time.count == 0 && !hctx.latency && hctx.totals.runs.value_or(0) == 0;
}

void print_hctxs(Page &page, const Snapshot &snapshot, const QueueStats &queue,
                 const TextOptions &options)
{
    page.gap();
    Table table(2, {{"hctx", false, true},
                    {"tags", false, false, 2},
                    {"depth"},
                    {"held"},
                    {"peak"},
                    {"gets"},
                    {"waits"},
                    {"share"},
                    {"p50"},
                    {"p99", true, false, 1},
                    {"max"}});
    size_t shown = 0;
    size_t quiet = 0;
    for (const HctxStats &hctx : queue.hctxs) {
        if (silent_hctx(hctx)) {
            ++quiet;
            continue;
        }
        if (++shown > options.max_hctxs)
            continue;
        const Pool pool = pool_of(snapshot, hctx);
        std::string name =
            hctx.hctx_num == BT_NO_ID ? hctx.label : fmt::format("{}", hctx.hctx_num);
        if (hctx.type == "read" || hctx.type == "poll")
            name += " " + hctx.type;
        std::vector<std::string> cells{name, pool.name,
                                       pool.depth ? fmt::format("{}", *pool.depth) : "-",
                                       pool.gauge ? mean_text(pool.gauge->held_mean) : "-",
                                       pool.gauge ? fmt::format("{}", pool.gauge->held_peak) : "-"};
        for (std::string &cell : wait_cells(hctx.totals, hctx.waits))
            cells.push_back(std::move(cell));
        table.row(std::move(cells));
    }
    if (!table.empty())
        table.print(page);
    if (shown > options.max_hctxs)
        page.line(
            fmt::format("  and {} more hctxs (--json has them all)", shown - options.max_hctxs));
    if (quiet != 0)
        page.line(fmt::format("  {} hctx{} without a request", quiet, quiet == 1 ? "" : "s"));
}

void add_cause_rows(Table &table, const Waits &waits, std::string_view prefix)
{
    for (size_t i = 0; i < waits.by_cause.size(); ++i) {
        const CauseWaits &cause = waits.by_cause[i];
        if (cause.count.value_or(0) == 0 && cause.time.count == 0)
            continue;
        const auto which = static_cast<bt_cause>(i);
        table.row({fmt::format("{}{}", prefix, cause_name(which)),
                   count_text(cause.count ? cause.count : std::optional(cause.time.count)),
                   duration_text(cause.time.quantile_ns(0.5)),
                   duration_text(cause.time.quantile_ns(0.99)),
                   duration_text(cause.time.quantile_ns(1)),
                   cause.at_longest ? moment_text(which, *cause.at_longest) : "not recorded"});
    }
}

void print_set_head(Page &page, const SetStats &set)
{
    const std::string title = set.set_id == BT_NO_ID ? std::string("TAG SPACES OF NO KNOWN SET")
                                                     : fmt::format("TAG SET {}", set.set_id);
    std::string text = join(set.queues);
    if (set.queues.size() > 1)
        text += " share it";
    if (set.hctx_shared)
        text += "; one pool for all hctxs";
    page.item(title + ":", text, 0, title.size() + 2);
}

} // namespace

std::string moment_text(bt_cause cause, const WaitMoment &m)
{
    switch (cause) {
    case BT_CAUSE_FAIR_SHARE:
    case BT_CAUSE_SCHED_DEPTH:
        return fmt::format("limit {} of {}, held {}", m.limit, m.depth, m.held);
    default:
        return fmt::format("held {} of {}", m.held, m.depth);
    }
}

bool idle(const QueueStats &queue)
{
    const auto zero = [](std::optional<uint64_t> value) {
        return value.value_or(0) == 0;
    };
    return zero(queue.totals.gets) && zero(queue.totals.issued) && zero(queue.totals.completed) &&
           zero(queue.totals.runs) && zero(queue.totals.budget_refused) && !queue.latency &&
           queue.waits.time.count == 0 && queue.waits.open == 0 &&
           queue.dispatch_waits.time.count == 0 &&
           std::all_of(queue.other.begin(), queue.other.end(),
                       [&](const OtherWaits &o) { return zero(o.count) && o.time.count == 0; });
}

void print_set(Page &page, const Snapshot &snapshot, const SetStats &set)
{
    const bool used =
        std::any_of(snapshot.queues.begin(), snapshot.queues.end(),
                    [&](const QueueStats &q) { return q.set_id == set.set_id && !idle(q); });
    const bool held = std::any_of(set.spaces.begin(), set.spaces.end(), [](const SpaceStats &s) {
        return s.gauge && s.gauge->held_peak != 0;
    });
    if (!used && !held)
        return;
    page.gap();
    print_set_head(page, set);
    Table table(2, {{"tags of", false, true},
                    {"kind", false},
                    {"depth"},
                    {"held"},
                    {"first"},
                    {"peak"},
                    {"full"},
                    {"in flight"},
                    {"peak", true, false, 2},
                    {"oldest", true, false, 1}});
    constexpr size_t max_spaces = 16;
    size_t more = 0;
    for (const SpaceStats &space : set.spaces) {
        if (set.spaces.size() > max_spaces && table.rows() >= max_spaces) {
            ++more;
            continue;
        }
        const SpaceGauge *g = space.gauge ? &*space.gauge : nullptr;
        const auto if_gauge = [g](const auto &text) {
            return g ? text(*g) : std::string("-");
        };
        const std::string of =
            space.hctxs.empty() ? fmt::format("space#{}", space.space_id)
            : space.hctxs.size() == 1
                ? space.hctxs[0]
                : fmt::format("{} and {} more", space.hctxs[0], space.hctxs.size() - 1);
        std::string depth = space.depth ? fmt::format("{}", *space.depth) : "-";
        if (space.reserved_depth.value_or(0) != 0)
            depth += fmt::format("+{}", *space.reserved_depth);
        table.row({of, space.sched ? "sched" : "driver", depth,
                   if_gauge([](auto &v) { return mean_text(v.held_mean); }),
                   if_gauge([](auto &v) { return fmt::format("{}", v.held_first); }),
                   if_gauge([](auto &v) { return fmt::format("{}", v.held_peak); }),
                   if_gauge([](auto &v) { return fmt::format("{:.1f} %", 100 * v.full_share); }),
                   if_gauge([](auto &v) { return mean_text(v.in_flight_mean); }),
                   if_gauge([](auto &v) { return fmt::format("{}", v.in_flight_peak); }),
                   if_gauge([](auto &v) {
                       return v.oldest_held_ns ? base::format_duration(v.oldest_held_ns)
                                               : std::string("-");
                   })});
    }
    table.print(page);
    if (more != 0)
        page.line(fmt::format("  and {} more (--json has them all)", more));
}

void print_waits(Page &page, const QueueStats &queue, Silent &silent)
{
    Table table(2, {{"waits by cause", false},
                    {"count"},
                    {"p50"},
                    {"p99"},
                    {"max"},
                    {"at the longest", false}});
    add_cause_rows(table, queue.waits, "submit_wait ");
    add_cause_rows(table, queue.dispatch_waits, "dispatch_wait ");
    if (!table.empty()) {
        page.gap();
        table.print(page);
    }
    if (queue.waits.count.value_or(0) == 0 && queue.waits.time.count == 0)
        silent.add(queue.waits.count.has_value(), "submit_waits");
    else
        page.item(
            "",
            fmt::format("all submit_waits took {}, of which {} woken but not yet running; {} ended "
                        "on another hctx",
                        duration_text(queue.waits.total_ns),
                        duration_text(queue.counters.get(BT_C_submit_runnable_ns)),
                        count_text(queue.counters.get(BT_C_waits_moved))),
            2, 0);
    if (queue.dispatch_waits.count.value_or(0) == 0 && queue.dispatch_waits.time.count == 0)
        silent.add(queue.dispatch_waits.count.has_value(), "dispatch_waits");
    else
        page.item("",
                  fmt::format("{} dispatch_waits took {}", count_text(queue.dispatch_waits.count),
                              duration_text(queue.dispatch_waits.total_ns)),
                  2, 0);
    const auto nowait = queue.counters.get(BT_C_nowait_fails);
    const auto won = queue.counters.get(BT_C_retries_won);
    if (nowait.value_or(0) != 0 || won.value_or(0) != 0)
        page.item(
            "",
            fmt::format("without sleeping: {} allocations failed (nowait), {} won at a second try",
                        count_text(nowait), count_text(won)),
            2, 0);
}

void print_queue(Page &page, const Snapshot &snapshot, const QueueStats &queue,
                 const TextOptions &options)
{
    page.gap();
    page.line(
        fmt::format("QUEUE {}{}", queue.name, queue.dev.empty() ? "" : " (" + queue.dev + ")"));
    print_identity(page, snapshot, queue);
    print_hctxs(page, snapshot, queue, options);
    Silent silent;
    print_waits(page, queue, silent);
    if (queue.latency) {
        page.gap();
        print_latency(page, *queue.latency, 2);
        page.gap();
        print_operations(page, queue.ops, 2);
    } else {
        silent.not_measured.emplace_back("latency");
    }
    page.gap();
    print_dispatch(page, queue, silent);
    print_batches(page, queue, silent);
    print_budget(page, queue, silent);
    print_not_tags(page, queue, silent);
    silent.print(page, 2);
}

} // namespace blktag::report
