// SPDX-License-Identifier: GPL-2.0-or-later
// A recording played interval by interval. Input: something that opens a RecordSource. Output: the
// Snapshot at each position. No clock: the caller says when to step.
#pragma once

#include "agg/feed.hpp"

#include <expected>
#include <functional>
#include <memory>
#include <optional>

namespace blktag::view {

// Not thread-safe. Reads ahead (Feed::ahead_ns), to know what is under way.
class Replay {
  public:
    using Opener = std::function<std::expected<std::unique_ptr<RecordSource>, Error>()>;

    static std::expected<Replay, Error> open(Opener opener);
    // Moves on by that much; false: it stands at the end, which may be nearer.
    std::expected<bool, Error> step(uint64_t by_ns);
    // To a position since the start; back means reading again from the beginning.
    std::expected<void, Error> seek(uint64_t position_ns);
    [[nodiscard]] uint64_t position_ns() const { return feed_->now_ns() - start_ns_; }
    [[nodiscard]] uint64_t length_ns() const { return length_ns_; } // 0 until the end was read
    [[nodiscard]] bool ended() const { return ended_; }
    // CLOCK_REALTIME of the position; 0 = not known.
    [[nodiscard]] uint64_t real_ns() const;
    [[nodiscard]] Snapshot snapshot() const;

  private:
    Replay() = default;
    std::expected<void, Error> begin();
    std::expected<void, Error> read_until(uint64_t ts_ns);

    Opener opener_;
    std::unique_ptr<RecordSource> source_;
    std::unique_ptr<agg::Feed> feed_;
    uint64_t start_ns_ = 0;
    uint64_t last_ns_ = 0; // newest record read
    uint64_t length_ns_ = 0;
    bool read_all_ = false;
    bool ended_ = false;
};

} // namespace blktag::view
