// SPDX-License-Identifier: GPL-2.0-or-later
// What a reader must know before trusting the numbers. Input: Snapshot without notes, Aggregate.
// Output: its notes.
#include "agg/build.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

namespace blktag::agg {

namespace {

void note(Snapshot &out, std::string id, std::string text)
{
    out.notes.push_back({std::move(id), std::move(text)});
}

uint64_t lost_of(const Books &books, std::initializer_list<bt_kind> kinds)
{
    uint64_t lost = 0;
    for (const bt_kind kind : kinds)
        if (static_cast<size_t>(kind) < books.lost_by_kind.size())
            lost += books.lost_by_kind[static_cast<size_t>(kind)];
    return lost;
}

// One kind of event that both a counter and records tell of.
struct Pair {
    const char *id;
    const char *what;
    std::optional<uint64_t> counted;
    uint64_t recorded;
    uint64_t lost;
    uint64_t slack; // in the middle of its life when the recording began or ended
};

void compare(Snapshot &out, const Pair &pair)
{
    if (!pair.counted || (pair.recorded == 0 && pair.lost == 0))
        return; // this kind was not recorded at all, which not_measured or the options say
    const uint64_t told = pair.recorded + pair.lost;
    if (told <= *pair.counted + pair.slack && *pair.counted <= told + pair.slack)
        return;
    note(out, fmt::format("disagree_{}", pair.id),
         fmt::format("{}: the kernel counted {}, records tell of {} ({} seen + {} lost): "
                     "trust the count",
                     pair.what, *pair.counted, told, pair.recorded, pair.lost));
}

void compare_all(Snapshot &out, const Aggregate &aggregate)
{
    const RecordCounts &counts = aggregate.counts();
    const Books &books = out.books;
    uint64_t requests = 0;
    for (const IoCell &cell : aggregate.io_cells())
        requests += cell.requests;
    uint64_t in_flight = 0; // may be complete but not put, or put but counted before the recording
    for (const SetStats &set : out.sets)
        for (const SpaceStats &space : set.spaces)
            in_flight += space.depth.value_or(0);
    const Pair pairs[] = {
        {"requests", "completed requests", out.totals.completed, requests,
         lost_of(books, {BT_K_IO, BT_K_IO_LONG}), in_flight},
        {"waits", "submit_waits", out.totals.submit_waits, counts.waits,
         lost_of(books, {BT_K_WAIT}), 0},
        {"dispatch_waits", "dispatch_waits", out.totals.dispatch_waits, counts.dwaits,
         lost_of(books, {BT_K_DWAIT}), 0},
        {"restarts", "restarts", out.totals.restarts, counts.restarts,
         lost_of(books, {BT_K_RESTART}), 0},
        {"budget", "refused budgets", out.totals.budget_refused, counts.budget_refused,
         lost_of(books, {BT_K_BUDGET}), lost_of(books, {BT_K_BUDGET})},
    };
    for (const Pair &pair : pairs)
        compare(out, pair);
}

void note_anomalies(Snapshot &out)
{
    const Anomalies &a = out.anomalies;
    const auto line = [&out](uint64_t count, const char *id, const char *text) {
        if (count != 0)
            note(out, id, fmt::format("{} {}", count, text));
    };
    line(a.time_backwards, "time_backwards",
         "times ran backwards and were taken as no time passed");
    line(a.counter_backwards, "counter_backwards", "counter values fell; the larger one was kept");
    line(a.absurd, "absurd", "records with impossible ids or times were left out");
    line(a.malformed, "malformed", "records were refused: their fields are impossible");
    line(a.unknown, "unknown_kinds", "records are of kinds that this version does not know");
    line(a.orphans, "orphans", "requests whose end was not seen are not in the latencies");
    line(a.undetailed, "memory_limit", "durations were counted but not binned: too many queues");
    line(a.tasks_summed, "tasks_summed", "tasks with little tag time were not kept apart");
    line(a.unparsed_topology, "topology", "device descriptions could not be read");
}

void note_books(Snapshot &out)
{
    const Books &books = out.books;
    if (books.produced != books.recorded + books.lost)
        note(out, "books_unbalanced",
             fmt::format("the books do not balance: produced {} is not recorded {} + lost {}",
                         books.produced, books.recorded, books.lost));
    if (books.missed != 0)
        note(
            out, "missed",
            fmt::format("{} program runs were skipped by the kernel: those events are in no number",
                        books.missed));
    if (out.recording.cut)
        note(out, "cut", "the recording has no end: it was cut, or is still being written");
}

} // namespace

void build_notes(Snapshot &out, const Aggregate &aggregate)
{
    const RecordCounts &counts = aggregate.counts();
    const bool windowed = out.recording.from_ns || out.recording.to_ns;
    note_books(out);
    if (counts.counters_inside == 0 && counts.all != 0)
        note(out, "no_counters",
             windowed ? "no counters were written in that part: totals are not measured"
                      : "no counters in the file: totals are not measured");
    else if (out.recording.cut && aggregate.last_ns() > aggregate.last_counters_ns())
        note(
            out, "old_counters",
            fmt::format("totals stop {} before the end: counters were not written again",
                        base::format_duration(aggregate.last_ns() - aggregate.last_counters_ns())));
    if (windowed && counts.counters_inside != 0)
        note(out, "window",
             "a part was asked for: totals go from one counter snapshot to another, "
             "which lie up to a second off its ends");
    if (!windowed && !out.recording.cut && out.damage.empty())
        compare_all(out, aggregate);
    note_anomalies(out);
}

} // namespace blktag::agg
