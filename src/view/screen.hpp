// SPDX-License-Identifier: GPL-2.0-or-later
// What all views draw from: two looks at a recording, what is under way, how the source is doing.
// Input: Snapshots. Output: a value that drawing only reads.
#pragma once

#include "blktag/snapshot.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace blktag::view {

// Latencies of one interval, for the heat map: by power of two of nanoseconds.
inline constexpr size_t nr_octaves = 43;
struct Slice {
    uint64_t end_ns = 0; // since the recording's start
    std::array<std::array<uint32_t, nr_octaves>, nr_phases + 1> count{}; // by Phase, then the whole
};

struct ReplayStatus {
    uint64_t position_ns = 0;
    uint64_t length_ns = 0; // 0 = not known yet
    double speed = 1;
    bool playing = false;
    bool ended = false;
};

struct Status {
    std::string source; // "live", or the recording's name; escaped
    bool live = false;
    std::optional<ReplayStatus> replay;
    std::string filters; // given with the options; escaped
    uint64_t interval_ns = 1'000'000'000;
    uint64_t now_real_ns = 0; // of what is shown
    uint64_t stale_ns = 0;    // how long nothing new came although it should have
    std::string recording_to; // escaped; empty = not recording
    std::string message;      // of the last thing that was done
};

// Shared with the drawing thread, so never changed once made.
struct Screen {
    std::shared_ptr<const Snapshot> total; // since the start, or the last reset; nullptr = starting
    std::shared_ptr<const Snapshot> interval; // the last interval; nullptr = none yet
    std::shared_ptr<const std::deque<Slice>> history;
    Status status;
};

// Turns one Snapshot after the other into Screens. Not thread-safe.
class Looks {
  public:
    // `now` must be of the same recording as those before, and later.
    void push(std::shared_ptr<const Snapshot> now);
    // Sums begin again with the newest.
    void reset();
    // Forgets all, for a jump in a replay.
    void clear();
    // Without its status.
    [[nodiscard]] Screen screen() const;

  private:
    static constexpr size_t max_slices = 300;
    std::shared_ptr<const Snapshot> newest_, base_, total_, interval_;
    std::shared_ptr<const Snapshot> counted_; // the last one with counters older than newest_'s
    std::shared_ptr<const std::deque<Slice>> history_ = std::make_shared<const std::deque<Slice>>();
};

} // namespace blktag::view
