// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as a source of screens. Input: file, the clock. Output: Screens.
#include "player.hpp"

#include "base/text.hpp"
#include "store/reader.hpp"

#include <algorithm>

namespace tagtop {

using namespace blktag;

namespace {

class RecordingPlayer : public Player {
  public:
    RecordingPlayer(const Options &options, view::Replay replay)
        : name_(base::escape_terminal(options.replay)), replay_(std::move(replay)),
          speed_(options.speed)
    {
        interval_ns_ = options.interval_ns;
        look();
    }

    bool poll(uint64_t now_ns) override
    {
        if (std::exchange(changed_, false))
            return true;
        if (!playing_ || replay_.ended())
            return false;
        if (next_ns_ == 0)
            next_ns_ = now_ns;
        if (now_ns < next_ns_)
            return false;
        forward();
        const auto pace_ns = static_cast<uint64_t>(static_cast<double>(interval_ns_) / speed_);
        next_ns_ = std::max(next_ns_ + pace_ns, now_ns); // what cannot keep up is slower, not jumpy
        return true;
    }

    [[nodiscard]] view::Screen screen(uint64_t) const override
    {
        view::Screen out = looks_.screen();
        out.status.source = name_;
        out.status.interval_ns = interval_ns_;
        out.status.now_real_ns = replay_.real_ns();
        out.status.replay = {replay_.position_ns(), replay_.length_ns(), speed_, playing_,
                             replay_.ended()};
        return out;
    }

    [[nodiscard]] int fd() const override { return -1; }
    [[nodiscard]] uint64_t next_ns(uint64_t now_ns) const override
    {
        if (changed_)
            return now_ns;
        return playing_ && !replay_.ended() ? std::max(next_ns_, now_ns) : now_ns + 1'000'000'000;
    }
    void pause(bool paused) override
    {
        playing_ = !paused;
        next_ns_ = 0;
        changed_ = true;
    }
    void set_interval_ns(uint64_t ns) override
    {
        interval_ns_ = ns;
        changed_ = true;
    }
    void reset() override
    {
        looks_.reset();
        changed_ = true;
    }
    void step(int by) override
    {
        pause(true);
        const uint64_t at = replay_.position_ns();
        if (by > 0)
            forward();
        else
            jump(at > interval_ns_ ? at - interval_ns_ : 0);
    }
    void speed(int by) override
    {
        speed_ = std::clamp(by > 0 ? speed_ * 2 : speed_ / 2, 1.0 / 64, 1024.0);
        changed_ = true;
    }
    void seek(uint64_t position_ns) override { jump(position_ns); }
    [[nodiscard]] bool ended() const override { return replay_.ended() || failure_; }
    [[nodiscard]] std::optional<Error> failure() const override { return failure_; }

  private:
    void look() { looks_.push(std::make_shared<const Snapshot>(replay_.snapshot())); }
    void forward()
    {
        if (replay_.ended())
            return;
        if (const auto stepped = replay_.step(interval_ns_); !stepped)
            failure_ = stepped.error();
        look();
    }
    // By way of one interval before, so that there is an interval to show.
    void jump(uint64_t position_ns)
    {
        const uint64_t before_ns = position_ns > interval_ns_ ? position_ns - interval_ns_ : 0;
        looks_.clear();
        if (const auto there = replay_.seek(before_ns); !there)
            failure_ = there.error();
        look();
        if (position_ns > before_ns)
            forward();
        changed_ = true;
    }

    std::string name_;
    view::Replay replay_;
    view::Looks looks_;
    double speed_;
    bool playing_ = true;
    bool changed_ = true;
    uint64_t next_ns_ = 0;
    std::optional<Error> failure_;
};

} // namespace

std::expected<std::unique_ptr<Player>, Error> play_recording(const Options &options)
{
    const std::string file = options.replay;
    auto replay =
        view::Replay::open([file]() -> std::expected<std::unique_ptr<RecordSource>, Error> {
            auto reader = store::Reader::open(file);
            if (!reader)
                return std::unexpected(reader.error());
            return std::move(*reader);
        });
    if (!replay)
        return std::unexpected(replay.error());
    auto player = std::make_unique<RecordingPlayer>(options, std::move(*replay));
    if (options.seek_ns)
        player->seek(*options.seek_ns);
    return player;
}

} // namespace tagtop
