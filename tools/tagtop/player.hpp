// SPDX-License-Identifier: GPL-2.0-or-later
// Where screens come from: a live session on its own thread, or a recording. Input: options, what
// the user does. Output: Screens.
#pragma once

#include "options.hpp"

#include "base/fd.hpp"
#include "view/replay.hpp"
#include "view/screen.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace tagtop {

// Used from the drawing thread.
class Player {
  public:
    virtual ~Player() = default;
    // true: screen() is a new one.
    virtual bool poll(uint64_t now_ns) = 0;
    [[nodiscard]] virtual blktag::view::Screen screen(uint64_t now_ns) const = 0;
    // Readable when poll() is worth calling, -1 = by time alone.
    [[nodiscard]] virtual int fd() const = 0;
    // When poll() is worth calling at the latest.
    [[nodiscard]] virtual uint64_t next_ns(uint64_t now_ns) const = 0;
    virtual void pause(bool paused) = 0;
    virtual void set_interval_ns(uint64_t ns) = 0;
    virtual void reset() = 0;
    virtual void step(int) {}
    virtual void speed(int) {}
    virtual void seek(uint64_t) {}
    // Nothing will come any more.
    [[nodiscard]] virtual bool ended() const = 0;
    [[nodiscard]] virtual std::optional<blktag::Error> failure() const = 0;
    [[nodiscard]] uint64_t interval_ns() const { return interval_ns_; }

  protected:
    uint64_t interval_ns_ = 1'000'000'000;
};

// Opens the session on its thread, so the first screen does not wait for it.
std::unique_ptr<Player> play_live(const Options &options);
std::expected<std::unique_ptr<Player>, blktag::Error> play_recording(const Options &options);

} // namespace tagtop
