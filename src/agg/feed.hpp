// SPDX-License-Identifier: GPL-2.0-or-later
// Records up to a moment that moves on. Input: batches of any size, that may reach beyond the
// moment. Output: the Snapshot at the moment, and what was under way then.
//
// What was given but lies beyond the moment waits; a request or wait that ends there and began
// before is under way at the moment. So a replay reads some way ahead, and a recording shows the
// same whether it comes from a file in large pieces or live in small ones.
//
//     Feed feed;
//     feed.start(info);
//     feed.add(batch);              // takes the records out of it
//     feed.advance(ts_ns);          // never back
//     Snapshot s = feed.snapshot(recording);
#pragma once

#include "agg/aggregate.hpp"
#include "agg/make_snapshot.hpp"

namespace blktag::agg {

// Not thread-safe. Memory: the Aggregate's, and what waits.
class Feed {
  public:
    // What is told to be under way ends within this time: the same for every source.
    static constexpr uint64_t ahead_ns = 5'000'000'000;

    explicit Feed(Limits limits = {}) : aggregate_({}, limits) {}
    void start(const TraceInfo &info) { aggregate_.start(info); }
    void add(Batch &batch);
    // Counts what is not later than `ts_ns`.
    void advance(uint64_t ts_ns);
    [[nodiscard]] uint64_t now_ns() const { return now_ns_; }
    // Of the records that wait: when the latest ended, 0 without any.
    [[nodiscard]] uint64_t reaches_ns() const { return reaches_ns_; }
    [[nodiscard]] size_t waiting() const { return later_.size(); }
    [[nodiscard]] const Aggregate &aggregate() const { return aggregate_; }
    // `under_way` from records where the source gave no moments of its own.
    [[nodiscard]] Snapshot snapshot(const Recording &recording, const SnapshotOptions &options);

  private:
    [[nodiscard]] Moment under_way() const;

    Aggregate aggregate_;
    Batch later_;
    uint64_t now_ns_ = 0;
    uint64_t reaches_ns_ = 0;
    bool own_moments_ = false;
};

} // namespace blktag::agg
