// SPDX-License-Identifier: GPL-2.0-or-later
// Everything counted so far. Input: Batches of one recording, or of one piece of it. Output: the
// sums that make_snapshot turns into a Snapshot.
//
// Memory is bounded by Limits and by the number of ids (16 bits), not by the length of the stream:
// 8 MiB, plus about 25 KiB for each hctx with requests until the histograms are used up. No
// allocation per request. Ids index vectors after a bound check. Pieces of a recording may be
// counted apart, on several threads (one Aggregate each), and merged in time order:
//
//     Aggregate whole(options);
//     for (const Aggregate &piece : pieces) whole.merge(piece);
#pragma once

#include "agg/histogram.hpp"
#include "agg/timeline.hpp"
#include "agg/tracks.hpp"
#include "agg/watch.hpp"
#include "blktag/records.hpp"
#include "blktag/snapshot.hpp"
#include "model/lifecycle.hpp"
#include "model/tasks.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace blktag::agg {

struct Limits {
    uint32_t histograms = 5000;    // 5.3 KB each
    uint32_t io_cells = 4096;      // (hctx, op) pairs
    uint64_t slice_ns = 1'000'000; // of the timeline; doubled while max_slices do not suffice
    uint32_t max_slices = 256;     // 120 B each, per hctx
};

// Recognises requests that continue one another although they end out of order: remembers where the
// last requests began and ended, hashed by sector.
class Neighbours {
  public:
    // How many earlier requests this one joins: none, one, or one on each side.
    unsigned add(uint64_t sector, uint64_t bytes)
    {
        const uint64_t end = sector + (bytes >> 9);
        const unsigned joins =
            (ends_[slot(sector)] == sector + 1) + (starts_[slot(end)] == end + 1);
        ends_[slot(end)] = end + 1;
        starts_[slot(sector)] = sector + 1;
        return joins;
    }

  private:
    static constexpr size_t nr_slots = 64;
    static size_t slot(uint64_t sector) { return (sector * 0x9e3779b97f4a7c15ULL) >> 58; }
    std::array<uint64_t, nr_slots> ends_{}; // + 1, so that 0 is none
    std::array<uint64_t, nr_slots> starts_{};
};

// Requests of one hctx and operation.
struct IoCell {
    uint16_t hctx_id = BT_NO_ID;
    uint8_t op = BT_OP_OTHER;
    uint64_t requests = 0;
    uint64_t bytes = 0;
    bool recorded = false;   // by records; else only by the kernel's histograms
    uint64_t sequential = 0; // joints; a place read again and again has more of them than requests
    uint64_t last_put_ns = 0;
    std::array<Histogram, nr_phases> phase;
    Histogram whole;
    Neighbours neighbours;
};

struct CauseCell {
    Histogram time;
    WaitMoment at_longest; // depth 0 = no record told
    uint64_t free_sum = 0, reads = 0, writes = 0;
};

// Waits that ended on another hctx, by that one; what does not fit is not kept apart.
struct MovedCell {
    uint16_t hctx_id = BT_NO_ID;
    uint64_t waits = 0;
};
using MovedCells = std::array<MovedCell, 8>;
void add_moved(MovedCells &cells, uint16_t hctx_id, uint64_t waits);

// What is rare, per hctx; allocated with the first such record.
struct RareCell {
    std::array<CauseCell, BT_NR_CAUSES> waits;
    std::array<CauseCell, BT_NR_CAUSES> dispatch_waits;
    Histogram run_duration, restart_delay, asked_delay;
    uint64_t issued_by_runs = 0;
    HctxWatch watch;
    MovedCells moved;
};

struct QueueCell {
    std::array<Histogram, 3> other;
    std::array<uint32_t, 3> other_longest_tid{};
    std::array<uint64_t, 3> other_longest_ns{}; // when that wait ended
    BudgetMoment budget;
    uint64_t last_refused_ns = 0, last_returned_ns = 0;
    uint64_t restarts = 0;
};

// One task on one queue.
struct TaskQueueCell {
    uint16_t queue_id = BT_NO_ID;
    uint32_t requests = 0;
    uint64_t wait_ns = 0;
};

struct TaskSums {
    uint64_t requests = 0, bytes = 0, held_ns = 0, held_longest_ns = 0;
    uint64_t waits = 0, wait_ns = 0, wait_longest_ns = 0, runnable_ns = 0;
    uint64_t other_waits = 0, other_wait_ns = 0;
    std::array<uint32_t, BT_NR_CAUSES> waits_by_cause{};
    std::array<TaskQueueCell, 3> queues{}; // the first ones it used
    void add(const TaskSums &other);
    void on_queue(uint16_t queue_id, uint32_t requests, uint64_t wait_ns);
};

// A wait without its end, as told by records flagged open.
struct OpenRecord {
    bool dispatch = false;
    bt_wait wait{}; // of a dispatch wait: the fields the two have in common
};

// How many records of each kind were looked at, for holding them against the exact counters.
struct RecordCounts {
    uint64_t waits = 0, waits_won = 0, dwaits = 0, restarts = 0, runs = 0, arms = 0, refusals = 0,
             requeues = 0, batches = 0, budget_refused = 0, budget_returned = 0, other = 0,
             gauges = 0, hgauges = 0, counters = 0, counters_inside = 0;
    uint64_t all = 0;
};

class Aggregate {
  public:
    explicit Aggregate(Window window = {}, Limits limits = {});

    // What the recording's header tells; before the first batch.
    void start(const TraceInfo &info);
    void add(const Batch &batch);
    // `later` is what followed in the same recording; counted with the same window.
    void merge(const Aggregate &later);

    [[nodiscard]] const Window &window() const { return window_; }
    [[nodiscard]] const model::Topology &topology() const { return topology_; }
    [[nodiscard]] const std::vector<IoCell> &io_cells() const { return io_cells_; }
    // nullptr where there was no such request; hctx_id BT_NO_ID = what has no id, or had no room.
    [[nodiscard]] const IoCell *io_cell(uint16_t hctx_id, bt_op op) const;
    [[nodiscard]] const RareCell *rare(uint16_t hctx_id) const;
    [[nodiscard]] const QueueCell *queue_cell(uint16_t queue_id) const;
    [[nodiscard]] const std::vector<CounterTrack> &hctx_counters() const { return hctx_counters_; }
    [[nodiscard]] const std::vector<CounterTrack> &queue_counters() const
    {
        return queue_counters_;
    }
    [[nodiscard]] const std::vector<SpaceTrack> &spaces() const { return spaces_; }
    [[nodiscard]] const std::vector<HctxTrack> &hctx_tracks() const { return hctx_tracks_; }
    [[nodiscard]] const model::TaskTable &tasks() const { return tasks_; }
    [[nodiscard]] const std::vector<TaskSums> &task_sums() const { return task_sums_; }
    [[nodiscard]] const std::vector<OpenRecord> &open_waits() const { return open_waits_; }
    // The newest moment that was given, nullptr without any.
    [[nodiscard]] const Moment *moment() const { return moment_ ? &*moment_ : nullptr; }
    [[nodiscard]] const RecordCounts &counts() const { return counts_; }
    [[nodiscard]] const TimelineBuilder &timeline() const { return timeline_; }
    [[nodiscard]] Anomalies anomalies() const;
    // Times of the first and the last record in the window, 0 without any.
    [[nodiscard]] uint64_t first_ns() const { return first_ns_ == UINT64_MAX ? 0 : first_ns_; }
    [[nodiscard]] uint64_t last_ns() const { return last_ns_; }
    // When counters were last written, inside the window.
    [[nodiscard]] uint64_t last_counters_ns() const { return last_counters_ns_; }

  private:
    void add_io(const bt_io_long &io);
    void add_ios(const std::vector<bt_io_long> &ios);
    void add_waits(const Batch &batch);
    void add_runs(const Batch &batch);
    void add_dispatch(const Batch &batch);
    void add_restart(const bt_restart &restart);
    void add_run(const bt_run &run);
    void add_refusal(const bt_refuse &refusal);
    void add_others(const Batch &batch);
    QueueCell *queue_of_hctx(uint16_t hctx_id);
    void add_rest(const Batch &batch);
    void add_gauges(const Batch &batch);
    void add_gauge(const bt_gauge &gauge);
    void add_hgauge(const bt_hgauge &gauge);
    void add_counters(const CounterSnapshot &snapshot);
    void add_histograms(const HistogramDelta &delta);
    void saw_held(uint16_t space_id, uint32_t held, uint32_t depth);
    void add_wait(const bt_wait &wait);
    void add_dwait(const bt_dwait &dwait);
    void add_open(bool dispatch, const bt_wait &wait);
    bool take(uint64_t ts_ns);
    uint64_t span(uint64_t from_ns, uint64_t to_ns); // 0, and counted, where it is impossible
    uint32_t io_cell_index(uint16_t hctx_id, uint8_t op);
    uint32_t make_io_cell(uint16_t hctx_id, uint8_t op);
    RareCell &rare_for(uint16_t hctx_id);
    QueueCell *queue_for(uint16_t queue_id);
    TaskSums &sums_of(uint32_t tid, uint64_t when_ns);
    TaskSums &sums_slow(uint32_t tid, uint64_t when_ns);
    void shrink_tasks();
    void merge_io(const Aggregate &later);
    void merge_tasks(const Aggregate &later);
    void merge_tables(const Aggregate &later);

    Window window_;
    Limits limits_;
    Budget budget_;
    model::Topology topology_;
    model::TaskTable tasks_;
    std::vector<TaskSums> task_sums_; // by TaskTable index; [0] = tasks that were dropped
    // (hctx_id * BT_NR_OPS + op) -> index into io_cells_, 0 = none yet. The first BT_NR_OPS cells
    // have no hctx: they take what has an absurd id or no room.
    std::vector<uint32_t> io_index_;
    std::vector<IoCell> io_cells_;
    std::vector<std::unique_ptr<RareCell>> rare_; // by hctx_id
    RareCell rare_elsewhere_;                     // ids beyond any kernel's
    std::vector<std::unique_ptr<QueueCell>> queue_cells_;
    std::vector<CounterTrack> hctx_counters_, queue_counters_;
    std::vector<SpaceTrack> spaces_;
    std::vector<HctxTrack> hctx_tracks_;
    std::vector<OpenRecord> open_waits_;
    std::optional<Moment> moment_;
    TimelineBuilder timeline_;
    RecordCounts counts_;
    Anomalies anomalies_;
    uint64_t first_ns_ = UINT64_MAX;
    uint64_t last_ns_ = 0;
    uint64_t last_counters_ns_ = 0;
};

} // namespace blktag::agg
