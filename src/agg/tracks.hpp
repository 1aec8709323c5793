// SPDX-License-Identifier: GPL-2.0-or-later
// Small accumulators over time: running counters and sampled gauges. Input: snapshots and samples
// in time order. Output: differences, time-weighted means, peaks. Each can be merged with the one
// of a later piece of the recording.
#pragma once

#include "agg/watch.hpp"
#include "blktag/records.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace blktag::agg {

__extension__ using u128 = unsigned __int128;

// The part of a recording to look at, absolute monotonic time, both ends included.
struct Window {
    uint64_t from_ns = 0;
    uint64_t to_ns = UINT64_MAX;
    [[nodiscard]] bool has(uint64_t ts_ns) const { return ts_ns >= from_ns && ts_ns <= to_ns; }
};

// Running totals of one hctx or queue. The recording starts at zero, so without a window the newest
// snapshot is the answer; with one, the newest before it is taken off.
class CounterTrack {
  public:
    // Returns how many values ran backwards (they keep the larger one).
    uint64_t add(const CounterSnapshot &snapshot, const Window &window);
    uint64_t merge(const CounterTrack &later);
    [[nodiscard]] bool seen() const { return !last_.empty(); }
    // nullopt where the recording tool did not know this counter.
    [[nodiscard]] std::optional<uint64_t> value(size_t counter) const;

  private:
    static uint64_t raise(std::vector<uint64_t> &values, const std::vector<uint64_t> &to);
    std::vector<uint64_t> base_; // before the window
    std::vector<uint64_t> last_;
};

// Time-weighted sum of a sampled value: each sample holds until the next one.
class HeldOverTime {
  public:
    void hold(uint64_t value, uint64_t for_ns)
    {
        sum_ += u128{value} * for_ns;
        weight_ns_ += for_ns;
    }
    void merge(const HeldOverTime &other)
    {
        sum_ += other.sum_;
        weight_ns_ += other.weight_ns_;
    }
    // `single` is the answer while there is only one sample.
    [[nodiscard]] double mean(double single) const
    {
        return weight_ns_ ? static_cast<double>(sum_) / static_cast<double>(weight_ns_) : single;
    }

  private:
    u128 sum_ = 0;
    uint64_t weight_ns_ = 0;
};

class SpaceTrack {
  public:
    // false: older than the one before, not used.
    bool add(const bt_gauge &sample);
    // A wait told how many tags were held: a peak that no sample may have met.
    void saw_held(uint32_t count) { held_peak = count > held_peak ? count : held_peak; }
    bool merge(const SpaceTrack &later);

    uint64_t samples = 0;
    bt_gauge first{};
    bt_gauge last{};
    HeldOverTime held, full, in_flight;
    uint32_t held_peak = 0, in_flight_peak = 0, waiters_peak = 0, users_peak = 0;
    uint64_t oldest_held_ns = 0;
    StreakTrack waiters_while_free;

  private:
    void hold_until(uint64_t ts_ns);
};

class HctxTrack {
  public:
    bool add(const bt_hgauge &sample);
    bool merge(const HctxTrack &later);

    uint64_t samples = 0;
    bt_hgauge first{};
    bt_hgauge last{};
    HeldOverTime active;
    std::array<HeldOverTime, 11> flag;
    std::array<StreakTrack, 11> flag_streak;
    uint32_t active_peak = 0, dispatch_busy_peak = 0;

  private:
    void hold_until(uint64_t ts_ns);
};

} // namespace blktag::agg
