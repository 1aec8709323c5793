// SPDX-License-Identifier: GPL-2.0-or-later
// A queue's sections below its waits: latency, operations, runs, batches, budget, what is not tags;
// and the tables of tasks. Input: QueueStats, Snapshot. Output: lines.
#include "base/units.hpp"
#include "report/text_parts.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace blktag::report {

namespace {

bool any(const Counters &counters, std::initializer_list<bt_counter> list)
{
    return std::any_of(list.begin(), list.end(),
                       [&](bt_counter c) { return counters.get(c).value_or(0) != 0; });
}

// The first of the list stands for the group's being measured.
bool measured(const Counters &counters, std::initializer_list<bt_counter> list)
{
    return counters.get(*list.begin()).has_value();
}

std::string text_of(const Counters &counters, bt_counter counter)
{
    return count_text(counters.get(counter));
}

void section(Page &page, std::string_view label, std::string_view text)
{
    page.item(label, text, 2, label_columns);
}

std::string spread(const Distribution &d)
{
    return fmt::format("p50 {}, p99 {}, max {}", duration_text(d.quantile_ns(0.5)),
                       duration_text(d.quantile_ns(0.99)), duration_text(d.quantile_ns(1)));
}

void print_runs(Page &page, const QueueStats &q, Silent &silent)
{
    const Counters &c = q.counters;
    const auto runs = {BT_C_runs, BT_C_runs_asked, BT_C_runs_delayed};
    if (!any(c, runs)) {
        silent.add(measured(c, runs), "runs");
    } else {
        const auto executed = c.get(BT_C_runs);
        const auto empty = c.get(BT_C_runs_empty);
        const std::string share =
            executed && empty && *empty != 0 ? " (" + percent_text(*empty, *executed) + ")" : "";
        section(page, "runs",
                fmt::format("asked {}, executed {}, empty {}{}, delayed {}, re-armed {}",
                            text_of(c, BT_C_runs_asked), count_text(executed), count_text(empty),
                            share, text_of(c, BT_C_runs_delayed), text_of(c, BT_C_runs_rearmed)));
    }
    const auto restarts = {BT_C_restarts, BT_C_restarts_marked};
    if (!any(c, restarts)) {
        silent.add(measured(c, restarts), "RESTART");
        return;
    }
    std::string text = fmt::format("marked {}, fired {}", text_of(c, BT_C_restarts_marked),
                                   text_of(c, BT_C_restarts));
    if (q.runs.restart_delay.count != 0)
        text += "; marked to fired " + spread(q.runs.restart_delay);
    section(page, "RESTART", text);
}

std::string size_distribution(const Counters &c)
{
    struct Size {
        bt_counter counter;
        const char *label;
    };
    static constexpr std::array<Size, 7> sizes{{{BT_C_batch_size_1, "1"},
                                                {BT_C_batch_size_2, "2"},
                                                {BT_C_batch_size_4, "3-4"},
                                                {BT_C_batch_size_8, "5-8"},
                                                {BT_C_batch_size_16, "9-16"},
                                                {BT_C_batch_size_32, "17-32"},
                                                {BT_C_batch_size_64, "33+"}}};
    std::vector<std::string> parts;
    for (const Size &size : sizes)
        if (c.get(size.counter).value_or(0) != 0)
            parts.push_back(fmt::format("{}: {}", size.label, *c.get(size.counter)));
    return join(parts);
}

std::string task_name(const TaskStats &task)
{
    return task.comm.empty() ? std::string("?") : task.comm;
}

void print_waiters(Page &page, const Snapshot &s)
{
    if (s.top_waiters.empty())
        return;
    page.gap();
    page.line("TOP WAITERS: tasks by time asleep for a tag");
    Table table(2, {{"task", false, true},
                    {"tid"},
                    {"waits"},
                    {"total"},
                    {"longest"},
                    {"causes", false, true}});
    for (const TaskStats &task : s.top_waiters) {
        std::vector<std::string> causes;
        for (size_t i = 0; i < task.waits_by_cause.size(); ++i)
            if (task.waits_by_cause[i] != 0)
                causes.push_back(fmt::format("{} {}", cause_name(static_cast<bt_cause>(i)),
                                             task.waits_by_cause[i]));
        table.row({task_name(task), fmt::format("{}", task.tid), fmt::format("{}", task.waits),
                   base::format_duration(task.wait_ns), base::format_duration(task.wait_longest_ns),
                   join(causes)});
    }
    table.print(page);
}

void print_holders(Page &page, const Snapshot &s)
{
    if (s.top_holders.empty())
        return;
    page.gap();
    page.line("TOP HOLDERS: tasks by tag-time, held = tags held on average");
    Table table(2, {{"task", false, true},
                    {"tid"},
                    {"requests"},
                    {"bytes", true, false, 1},
                    {"held"},
                    {"tag-time"},
                    {"longest"}});
    for (const TaskStats &task : s.top_holders) {
        const uint64_t duration = s.recording.duration_ns;
        table.row(
            {task_name(task), fmt::format("{}", task.tid), fmt::format("{}", task.requests),
             size_text(task.bytes),
             duration ? mean_text(static_cast<double>(task.held_ns) / static_cast<double>(duration))
                      : "-",
             base::format_duration(task.held_ns), base::format_duration(task.held_longest_ns)});
    }
    table.print(page);
}

void print_open(Page &page, const Snapshot &s)
{
    if (s.open_waits.empty())
        return;
    page.gap();
    page.line("STILL WAITING when the recording ended");
    Table table(2, {{"task", false, true},
                    {"tid"},
                    {"hctx", false, true},
                    {"since"},
                    {"cause", false},
                    {"when it began", false}});
    for (const OpenWait &open : s.open_waits)
        table.row({open.dispatch       ? "(dispatch)"
                   : open.comm.empty() ? "?"
                                       : open.comm,
                   open.dispatch ? "" : fmt::format("{}", open.tid), open.hctx,
                   base::format_duration(open.age_ns), std::string(cause_name(open.cause)),
                   moment_text(open.cause, open.began)});
    table.print(page);
}

} // namespace

void print_latency(Page &page, const Latency &latency, size_t indent)
{
    Table table(indent, {{"latency", false}, {"p50"}, {"p99"}, {"max"}, {"mean"}, {"share"}});
    const auto row = [&](std::string_view name, const Distribution &d) {
        table.row({std::string(name), duration_text(d.quantile_ns(0.5)),
                   duration_text(d.quantile_ns(0.99)), duration_text(d.quantile_ns(1)),
                   duration_text(d.mean_ns()), percent_text(d.sum_ns, latency.whole.sum_ns)});
    };
    for (size_t i = 0; i < nr_phases; ++i) {
        const auto phase = static_cast<Phase>(i);
        if (latency.at(phase).max_ns != 0 || phase == Phase::device)
            row(phase_name(phase), latency.at(phase));
    }
    row("whole", latency.whole);
    table.print(page);
}

void print_operations(Page &page, const std::vector<OpStats> &ops, size_t indent)
{
    Table table(indent, {{"operation", false},
                         {"requests"},
                         {"size"},
                         {"sequential"},
                         {"device p50"},
                         {"p99"},
                         {"whole p50"},
                         {"p99"}});
    for (const OpStats &op : ops)
        table.row(
            {std::string(op_name(op.op)), fmt::format("{}", op.requests),
             size_text(op.requests ? op.bytes / op.requests : 0),
             op.bytes && op.sequential ? percent_text(*op.sequential, op.requests) : "-",
             duration_text(op.device.quantile_ns(0.5)), duration_text(op.device.quantile_ns(0.99)),
             duration_text(op.whole.quantile_ns(0.5)), duration_text(op.whole.quantile_ns(0.99))});
    if (!table.empty())
        table.print(page);
}

void print_dispatch(Page &page, const QueueStats &q, Silent &silent)
{
    const Counters &c = q.counters;
    const auto driver = {BT_C_driver_gets, BT_C_driver_fails};
    if (any(c, driver))
        section(page, "driver tags",
                fmt::format("got in dispatch {}, none free {}, parked hctx woken {}",
                            text_of(c, BT_C_driver_gets), text_of(c, BT_C_driver_fails),
                            text_of(c, BT_C_dispatch_wakes)));
    print_runs(page, q, silent);
    const auto refused = {BT_C_status_resource, BT_C_status_dev_resource, BT_C_status_other};
    if (!any(c, refused)) {
        silent.add(measured(c, refused), "refused dispatches");
    } else {
        const std::string idle_promise =
            c.get(BT_C_dev_resource_idle).value_or(0) != 0
                ? fmt::format(" ({} with nothing in flight)", *c.get(BT_C_dev_resource_idle))
                : "";
        section(page, "refused",
                fmt::format("RESOURCE {}, DEV_RESOURCE {}{}, other {}",
                            text_of(c, BT_C_status_resource), text_of(c, BT_C_status_dev_resource),
                            idle_promise, text_of(c, BT_C_status_other)));
    }
    const auto requeues = {BT_C_requeues};
    if (any(c, requeues))
        section(page, "requeues",
                fmt::format("{}, issued again {}", text_of(c, BT_C_requeues),
                            text_of(c, BT_C_reissues)));
    else
        silent.add(measured(c, requeues), "requeues");
    const auto errors = {BT_C_errors};
    if (any(c, errors))
        section(page, "errors",
                fmt::format("{} of {} completed", text_of(c, BT_C_errors),
                            count_text(q.totals.completed)));
    else
        silent.add(measured(c, errors), "errors");
    const auto flushes = {BT_C_flush_issues, BT_C_flush_completes};
    if (any(c, flushes))
        section(page, "flushes",
                fmt::format("issued {}, completed {}", text_of(c, BT_C_flush_issues),
                            text_of(c, BT_C_flush_completes)));
}

void print_batches(Page &page, const QueueStats &q, Silent &silent)
{
    const Counters &c = q.counters;
    const auto batches = {BT_C_batches, BT_C_batch_requests};
    if (any(c, batches)) {
        const auto calls = c.get(BT_C_batches);
        const auto requests = c.get(BT_C_batch_requests);
        std::string text = fmt::format("{} calls of queue_rqs with {} requests", count_text(calls),
                                       count_text(requests));
        if (calls && requests && *calls != 0)
            text += fmt::format(", {} each", mean_text(static_cast<double>(*requests) /
                                                       static_cast<double>(*calls)));
        if (const std::string sizes = size_distribution(c); !sizes.empty())
            text += fmt::format("; calls by size {}", sizes);
        text += fmt::format("; left over {}, order inversions {}", text_of(c, BT_C_batch_left),
                            text_of(c, BT_C_batch_inversions));
        section(page, "batches", text);
    } else if (!measured(c, batches)) {
        silent.add(false, "batches");
    } else if (!q.batches_unused_why.empty()) {
        section(page, "batches", "queue_rqs not used: " + q.batches_unused_why);
    } else {
        silent.add(true, "batches");
    }
    const auto direct = {BT_C_direct_issues, BT_C_plug_flushes_sched};
    if (any(c, direct))
        section(page, "direct issue",
                fmt::format("{} requests one by one; {} plugs flushed by sleeping",
                            text_of(c, BT_C_direct_issues), text_of(c, BT_C_plug_flushes_sched)));
    const auto polls = {BT_C_poll_calls, BT_C_polled};
    if (any(c, polls))
        section(page, "polling",
                fmt::format("{} requests polled; {} polls, {} found completions",
                            text_of(c, BT_C_polled), text_of(c, BT_C_poll_calls),
                            text_of(c, BT_C_poll_hits)));
    const auto completed = {BT_C_complete_batches};
    if (any(c, completed))
        section(page, "completion",
                fmt::format("{} batches returned {} tags", text_of(c, BT_C_complete_batches),
                            text_of(c, BT_C_puts_batch)));
    const auto unused = {BT_C_puts_unused};
    if (any(c, unused))
        section(page, "unused tags",
                fmt::format("{} put back without an issue", text_of(c, BT_C_puts_unused)));
}

void print_budget(Page &page, const QueueStats &q, Silent &silent)
{
    const Counters &c = q.counters;
    const auto budget = {BT_C_budget_taken, BT_C_budget_refused, BT_C_budget_returned};
    if (!any(c, budget)) {
        // Only SCSI has one: silence about others is not a zero worth a line.
        if (q.has_budget)
            silent.add(measured(c, budget), "budget");
        return;
    }
    std::string text =
        fmt::format("taken {}, refused {}, returned unused {}", text_of(c, BT_C_budget_taken),
                    text_of(c, BT_C_budget_refused), text_of(c, BT_C_budget_returned));
    if (q.budget.refused_recorded != 0)
        text += fmt::format("; refused at {} of {} in use, {} times the driver had said busy",
                            q.budget.in_use_peak, q.budget.limit, q.budget.blocked);
    section(page, "budget", text);
}

void print_not_tags(Page &page, const QueueStats &q, Silent &silent)
{
    static constexpr std::array<const char *, 3> what{"throttle", "queue entry", "freeze"};
    for (size_t i = 0; i < q.other.size(); ++i) {
        const OtherWaits &other = q.other[i];
        if (other.count.value_or(0) == 0 && other.time.count == 0) {
            silent.add(other.count.has_value(), fmt::format("{} waits", what[i]));
            continue;
        }
        std::string text = fmt::format("{} {} waits, {} in all", count_text(other.count), what[i],
                                       duration_text(other.total_ns));
        if (other.time.count != 0)
            text += "; " + spread(other.time);
        section(page, "not tags", text);
    }
}

void print_tasks(Page &page, const Snapshot &snapshot)
{
    print_open(page, snapshot);
    print_waiters(page, snapshot);
    print_holders(page, snapshot);
}

} // namespace blktag::report
