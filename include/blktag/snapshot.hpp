// SPDX-License-Identifier: GPL-2.0-or-later
// The result of looking at records: one immutable value tree that text, JSON, HTML, screen and
// diagnosis all read. Input: none (agg::make_snapshot builds it). Output: types and a few pure
// questions about them.
//
// Rules: a number that nothing measured is std::nullopt, never 0. Counts come from the kernel's
// exact counters; distributions come from records and carry their own count, which is lower where
// records were lost. Every string is already safe to show (control bytes and bad UTF-8 escaped).
// Once built it is shared between threads as const.
//
//     const Snapshot s = agg::make_snapshot(aggregate, recording);
//     for (const QueueStats &queue : s.queues)
//         if (queue.totals.submit_waits) ...
#pragma once

#include "blktag/records.hpp"
#include "blktag/timeline.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blktag {

// One histogram bin: durations in [low_ns, high_ns).
struct Bin {
    uint64_t low_ns = 0;
    uint64_t high_ns = 0;
    uint64_t count = 0;
    bool operator==(const Bin &) const = default;
};

// Durations seen in records. Only bins that hold something are kept, in ascending order; a bin is
// at most 6.25 % wide. count may exceed the bins' sum where the memory for bins had run out
// (Snapshot::notes says so).
struct Distribution {
    uint64_t count = 0;
    uint64_t sum_ns = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;
    std::vector<Bin> bins;

    [[nodiscard]] std::optional<double> mean_ns() const;
    // 0 <= q <= 1, interpolated inside a bin, never outside [min, max]. nullopt without data.
    [[nodiscard]] std::optional<uint64_t> quantile_ns(double q) const;
    void merge(const Distribution &other);
    bool operator==(const Distribution &) const = default;
};

// The parts of a request's life; they sum exactly to put - start.
enum class Phase : uint8_t { submit_wait, queued, dispatch_wait, device, completion };
inline constexpr size_t nr_phases = 5;
std::string_view phase_name(Phase phase);
std::string_view cause_name(bt_cause cause); // "exhausted", "fair_share", ...
std::string_view op_name(bt_op op);          // "read", "write", ...
std::string_view other_name(bt_other what);  // "throttle", "enter", "freeze"
std::string_view counter_name(bt_counter counter);
char counter_scope(bt_counter counter); // 'H' or 'Q'

struct Counters {
    std::array<std::optional<uint64_t>, BT_NR_COUNTERS> value{};
    [[nodiscard]] std::optional<uint64_t> get(bt_counter counter) const { return value[counter]; }
    // Adds what both measured; a counter is measured if either side measured it.
    void add(const Counters &other);
};

// The headline counts. gets = gets_single + gets_batch - inactive_retries; the rest are counters of
// that name.
struct Totals {
    std::optional<uint64_t> gets, issued, completed, submit_waits, dispatch_waits, restarts, runs,
        budget_refused, batches;
};
Totals totals_of(const Counters &counters);

// The pool at the moment a wait began.
struct WaitMoment {
    uint32_t depth = 0;
    uint32_t held = 0;
    uint32_t active = 0; // the queue's active requests, 0 where the set is not shared
    uint32_t limit = 0;
    uint32_t users = 0; // active queues on the set
};

struct CauseWaits {
    std::optional<uint64_t> count; // exact
    Distribution time;             // from records
    std::optional<WaitMoment> at_longest;
    uint64_t free_sum = 0;          // over those records: tags that were free when it began
    uint64_t reads = 0, writes = 0; // of those records, by the waiting request's operation
};

struct Waits {
    std::array<CauseWaits, BT_NR_CAUSES> by_cause;
    std::optional<uint64_t> count;    // exact, all causes
    std::optional<uint64_t> total_ns; // exact
    Distribution time;                // all causes
    uint64_t open = 0;                // still waiting when the recording ended
    uint64_t open_longest_ns = 0;
};

// One request population's life, from records of requests that were issued and completed.
struct Latency {
    std::array<Distribution, nr_phases> phase;
    Distribution whole;
    [[nodiscard]] const Distribution &at(Phase p) const { return phase[static_cast<size_t>(p)]; }
};

struct OpStats {
    bt_op op = BT_OP_READ;
    uint64_t requests = 0; // recorded and completed
    uint64_t bytes = 0;
    // Of requests: began where another of the same kind ended, or the reverse. Only records tell.
    std::optional<uint64_t> sequential;
    Distribution device;
    Distribution whole;
};

// How long a sampled state lasted without a break. From its first sample to its last one, so it is
// less than the truth by up to two sampling periods. Times since the recording's start.
struct Streak {
    uint64_t longest_ns = 0;
    uint64_t longest_from_ns = 0;
    bool on_at_end = false;
    uint64_t last_ns = 0; // of the one that still lasted at the last sample, else 0
    uint64_t last_from_ns = 0;
};

// A tag space or hctx sampled over time; means are weighted by the time each sample was the newest.
struct SpaceGauge {
    uint64_t samples = 0;
    double held_mean = 0;
    uint32_t held_first = 0;
    uint32_t held_last = 0;
    uint32_t held_peak = 0; // at any sample, or when any wait began
    uint32_t depth = 0;     // newest
    double full_share = 0;  // of the time: every tag held
    uint32_t in_flight_peak = 0;
    double in_flight_mean = 0;
    uint32_t waiters_peak = 0; // wait queues with sleepers
    uint32_t users_peak = 0;   // active queues on the set
    uint32_t wake_batch = 0;
    std::optional<uint32_t> wakes_due_last; // not in every kernel
    uint64_t oldest_held_ns = 0;      // longest age of a held tag at any sample, 0 = none seen
    uint64_t oldest_held_last_ns = 0; // the same at the last sample
    uint32_t in_flight_last = 0, waiters_last = 0, cleared_last = 0;
    Streak waiters_while_free; // tasks slept for a tag although one was free
};

struct HctxGauge {
    uint64_t samples = 0;
    double active_mean = 0;
    uint32_t active_last = 0;
    uint32_t active_peak = 0;
    uint32_t dispatch_busy_peak = 0;
    std::array<double, 11> flag_share{}; // of the time, by BT_HG_* bit number
    uint32_t flags_last = 0;
    std::array<Streak, 11> flag_streak{}; // by BT_HG_* bit number
};
std::string_view hctx_flag_name(size_t bit);

struct RunStats {
    Distribution duration;       // executed runs
    Distribution restart_delay;  // RESTART marked -> fired, where the marking was seen
    Distribution asked_delay;    // delays asked for when a run was armed
    uint64_t issued_by_runs = 0; // recorded
};

// From a refused dispatch to the hctx's next run; from_ns since the recording's start.
struct RerunGap {
    uint64_t from_ns = 0;
    uint64_t length_ns = 0;
    bt_status status = BT_ST_UNKNOWN; // that it was refused with
    uint64_t restarts_here = 0;       // RESTARTs meanwhile
    uint64_t restarts_elsewhere = 0;  // the same on the queue's other hctxs
};

struct MovedTo {
    std::string hctx;
    uint64_t waits = 0;
};

// What followed what on one hctx, from records. Times since the recording's start.
struct HctxEvents {
    std::optional<uint64_t> last_run_ns, last_restart_ns, last_put_ns;
    std::optional<RerunGap> rerun_longest; // ended by a run
    std::optional<RerunGap> rerun_open;    // not run again until the end
    uint64_t requeued = 0;                 // requeues recorded
    uint64_t requeues_most = 0;            // of one request
    std::optional<uint64_t> requeue_first_ns, requeue_last_ns;
    Distribution requeue_gap;      // between two requeues of one request
    std::vector<MovedTo> moved_to; // submit_waits that began here and ended there, most first
};

struct HctxStats {
    uint16_t hctx_id = BT_NO_ID;
    uint16_t hctx_num = BT_NO_ID; // BT_NO_ID = unknown
    std::string label;            // "nullb0/0" or "hctx#12 (unknown)"
    std::string type;             // "default", "read", "poll", empty = unknown
    std::vector<uint32_t> cpus;
    uint16_t space_id = BT_NO_ID;
    uint16_t sched_space_id = BT_NO_ID;
    std::optional<uint32_t> depth; // driver tags, reserved ones not counted
    std::optional<uint32_t> reserved_depth;
    std::optional<uint32_t> sched_depth;
    bool queue_shared = false; // several queues on the tag set
    bool gone = false;
    Counters counters;
    Totals totals;
    Waits waits; // submit_waits that began here
    Waits dispatch_waits;
    std::optional<Latency> latency;
    std::vector<OpStats> ops;
    std::optional<HctxGauge> gauge;
    RunStats runs;
    HctxEvents events;
};

struct BudgetMoment {
    uint64_t refused_recorded = 0;
    uint64_t returned_recorded = 0;
    uint64_t blocked = 0; // of refused: the driver had said busy
    uint32_t in_use_peak = 0;
    uint32_t limit = 0;       // newest
    uint32_t in_use_last = 0; // newest, at a refusal or an unused return
    std::optional<uint64_t> last_refused_ns, last_returned_ns; // since the recording's start
};

struct OtherWaits {
    std::optional<uint64_t> count;    // exact
    std::optional<uint64_t> total_ns; // exact
    Distribution time;
    // Who waited longest; tid 0 = nobody did.
    uint32_t longest_tid = 0;
    std::string longest_comm;
};

struct QueueStats {
    uint16_t queue_id = BT_NO_ID;
    std::string
        name; // "nullb0", "nullb0#2" when a device of that name came back, "queue#3 (unknown)"
    std::string dev; // "259:0", empty = no disk or unknown
    std::string driver;
    std::string scheduler; // empty = unknown
    unsigned generation = 1;
    bool gone = false;
    bool offers_queue_rqs = false;
    bool offers_poll = false;
    bool has_budget = false;
    std::optional<uint32_t> nr_requests, async_depth, nr_hw_queues, lun_depth;
    uint16_t set_id = BT_NO_ID;
    uint32_t nr_sharing = 0;              // other queues on the tag set
    std::vector<std::string> shares_with; // their names, the first 8
    std::vector<std::string> slaves, holders;
    Counters counters; // of the queue and of its hctxs
    Totals totals;
    Waits waits;
    Waits dispatch_waits;
    std::optional<Latency> latency;
    std::vector<OpStats> ops;
    RunStats runs;
    BudgetMoment budget;
    std::array<OtherWaits, 3> other;      // by bt_other
    std::optional<double> requests_per_s; // completed
    std::optional<double> bytes_per_s;
    std::string batches_unused_why; // why queue_rqs carried nothing; empty where it did, or where
                                    // that is not known
    std::vector<HctxStats> hctxs;
};

struct SpaceStats {
    uint16_t space_id = BT_NO_ID;
    uint16_t set_id = BT_NO_ID;
    bool sched = false;       // scheduler tags
    bool hctx_shared = false; // one bitmap for all hctxs of the set
    std::optional<uint32_t> depth, reserved_depth;
    std::vector<std::string> hctxs; // labels
    std::optional<SpaceGauge> gauge;
};

struct SetStats {
    uint16_t set_id = BT_NO_ID;
    std::vector<std::string> queues;
    bool hctx_shared = false;
    std::vector<SpaceStats> spaces;
};

// What one task did on one of the queues it used most.
struct TaskQueue {
    std::string queue;
    uint64_t requests = 0;
    uint64_t wait_ns = 0; // asleep for its tags
};

struct TaskStats {
    uint32_t tid = 0;
    uint32_t tgid = 0; // 0 = unknown
    std::string comm;  // empty = unknown
    uint64_t cgroup_id = 0;
    uint64_t task_start_ns = 0; // boot-time clock
    uint64_t requests = 0;
    uint64_t bytes = 0;
    uint64_t held_ns = 0; // tag-time: sum over its requests of put - get
    uint64_t held_longest_ns = 0;
    uint64_t waits = 0; // submit_waits recorded
    uint64_t wait_ns = 0;
    uint64_t wait_longest_ns = 0;
    uint64_t runnable_ns = 0;
    std::array<uint64_t, BT_NR_CAUSES> waits_by_cause{};
    uint64_t other_waits = 0;
    uint64_t other_wait_ns = 0;
    std::vector<TaskQueue> queues; // the first three it used, most wait_ns first
};

struct OpenWait {
    uint32_t tid = 0;
    std::string comm;
    std::string hctx;
    bt_cause cause = BT_CAUSE_EXHAUSTED;
    bool dispatch = false;
    uint64_t age_ns = 0;
    WaitMoment began;
};

// A task as far as anybody told of it.
struct TaskName {
    uint32_t tid = 0;  // 0 = no task, or unknown
    uint32_t tgid = 0; // 0 = unknown
    uint64_t cgroup_id = 0;
    std::string comm; // empty = unknown
    bool operator==(const TaskName &) const = default;
};

// A wait that has not ended.
struct WaitNow {
    TaskName task;         // of a dispatch_wait: none, no task sleeps
    bool dispatch = false; // a parked hctx
    uint16_t queue_id = BT_NO_ID, hctx_id = BT_NO_ID, space_id = BT_NO_ID;
    bt_cause cause = BT_CAUSE_EXHAUSTED;
    uint8_t flags = 0; // BT_W_*
    uint64_t age_ns = 0;
    WaitMoment began;
    bt_op op = BT_OP_OTHER; // of a dispatch_wait: not known
};

// A tag that is taken.
struct HeldNow {
    TaskName task;
    uint16_t queue_id = BT_NO_ID, hctx_id = BT_NO_ID, space_id = BT_NO_ID, tag = BT_NO_TAG;
    bool driver = false; // the driver tag of a request on a scheduler tag
    bt_op op = BT_OP_OTHER;
    uint16_t flags = 0; // BT_IO_*
    uint32_t bytes = 0;
    uint64_t sector = 0;
    uint64_t age_ns = 0;
    std::optional<uint64_t> issued_for_ns; // nullopt = held, not issued
    bool completed = false;                // completed, not yet put
};

// What goes on at one moment. Lists are the newest moment's, not sums.
struct UnderWay {
    uint64_t ts_ns = 0;
    std::vector<WaitNow> waits; // longest first
    std::vector<HeldNow> held;  // by space and tag
    uint64_t held_left_out = 0; // held tags beyond the list's limit
    std::vector<TagBits> bits;  // where the kernel's bitmap was read
};

// The recording itself, strings escaped.
struct RecordingInfo {
    std::string tool_version, kernel_release, machine, hostname, command;
    std::vector<std::string> argv, filters;
    std::vector<ProbeRung> rungs;
    uint32_t nr_cpus = 0;
    uint32_t ring_size_bytes = 0;
    uint64_t start_mono_ns = 0;
    uint64_t start_real_ns = 0;
    uint64_t duration_ns = 0; // of what is reported: the recording, or the part asked for
    uint64_t counters_ns = 0; // of it, until counters were last read: what they cover
    bool cut = false;         // no end was written
    std::optional<uint64_t> from_ns, to_ns; // the part asked for, since the start
};

// What did not become a number, by reason; all zero in a sound recording.
struct Anomalies {
    uint64_t time_backwards =
        0;               // stamps of one request out of order, or samples older than the one before
    uint64_t absurd = 0; // ids, operations or durations beyond any kernel's
    uint64_t counter_backwards = 0;
    uint64_t orphans = 0;    // requests whose put or completion was not seen
    uint64_t unused = 0;     // requests put back without ever being issued (normal, not in latency)
    uint64_t undetailed = 0; // durations counted but not binned: memory limit
    uint64_t unparsed_topology = 0;
    uint64_t malformed = 0;    // records that the decoder refused
    uint64_t unknown = 0;      // records of kinds that this version does not know
    uint64_t tasks_summed = 0; // tasks that were folded into "others": memory limit
};

struct Note {
    std::string id; // stable: "damage", "books_unbalanced", "disagree_waits", ...
    std::string text;
};

struct Snapshot {
    RecordingInfo recording;
    Books books;
    std::vector<Damage> damage;
    std::vector<std::string> not_measured; // counters.def names, record names; sorted, each once
    std::vector<Note> notes;
    Anomalies anomalies;
    uint64_t records = 0; // looked at

    Counters counters;
    Totals totals;
    Waits waits;
    Waits dispatch_waits;
    std::optional<Latency> latency;
    std::vector<OpStats> ops;
    RunStats runs;
    std::array<OtherWaits, 3> other;
    std::optional<double> requests_per_s;
    std::optional<double> bytes_per_s;

    std::vector<SetStats> sets;
    std::vector<QueueStats> queues;     // by name
    std::vector<OpenWait> open_waits;   // longest first, at most 32
    std::optional<UnderWay> under_way;  // live, and replayed; nullopt in a report
    std::vector<TaskStats> top_waiters; // most wait_ns first
    std::vector<TaskStats> top_holders; // most held_ns first
    Timeline timeline;

    // Something was lost, damaged or cut: the numbers are what is left.
    [[nodiscard]] bool impaired() const;
    [[nodiscard]] bool measured(std::string_view name) const;
};

} // namespace blktag
