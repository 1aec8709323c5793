// SPDX-License-Identifier: GPL-2.0-or-later
// States that last, and what followed what: streaks in samples, and how long a refused hctx was not
// run again. Input: samples, refusals, runs and RESTARTs in time order. Output: the longest and the
// last of each. Each can be merged with the one of a later piece of the recording.
#pragma once

#include "agg/histogram.hpp"
#include "blktag/records.hpp"
#include "blktag/snapshot.hpp"

#include <array>
#include <cstdint>

namespace blktag::agg {

// How long a sampled state lasted without a break, from sample to sample.
class StreakTrack {
  public:
    void sample(bool on, uint64_t ts_ns);
    void merge(const StreakTrack &later);
    // Times since `start_ns`.
    [[nodiscard]] Streak streak(uint64_t start_ns) const;

  private:
    void note(uint64_t from_ns, uint64_t to_ns);
    bool any_ = false;
    bool on_ = false;
    bool prefix_ = false;        // the first sample was on
    uint64_t prefix_end_ns_ = 0; // the last sample of that first streak
    bool prefix_only_ = false;   // it never broke
    uint64_t from_ns_ = 0, to_ns_ = 0;
    uint64_t longest_ns_ = 0, longest_from_ns_ = 0;
};

// From a refused dispatch to the hctx's next run.
struct Gap {
    uint64_t from_ns = 0; // the refusal; 0 = none
    uint64_t length_ns = 0;
    uint64_t restarts_here = 0;
    uint64_t restarts_elsewhere = 0; // on other hctxs of the queue meanwhile
    uint8_t status = BT_ST_UNKNOWN;
};

struct HctxWatch {
    uint64_t first_run_ns = 0, last_run_ns = 0, last_restart_ns = 0;
    uint64_t restarts = 0;
    Gap open;    // not run since; its counts are those at the refusal
    Gap longest; // ended by a run
    uint64_t requeued = 0, requeues_most = 0;
    uint64_t requeue_first_ns = 0, requeue_last_ns = 0;
    Histogram requeue_gap; // between two requeues of one tag

    void refused(const bt_refuse &refusal, uint64_t queue_restarts);
    void run(uint64_t start_ns, uint64_t queue_restarts);
    void requeue(const bt_refuse &record, Budget &budget);
    void merge(const HctxWatch &later, Budget &budget);

  private:
    struct Seen {
        uint64_t ts_ns = 0;
        uint16_t tag = BT_NO_TAG;
    };
    std::array<Seen, 64> last_requeue_{}; // by tag, the newest wins
};

} // namespace blktag::agg
