// SPDX-License-Identifier: GPL-2.0-or-later
// A live session: one thread drains it and makes Screens, another takes them. Input: Options.
// Output: Screens.
#include "player.hpp"

#include "agg/feed.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

namespace tagtop {

using namespace blktag;

namespace {

constexpr size_t top_tasks = 64;

uint32_t to_ms(uint64_t ns)
{
    return static_cast<uint32_t>(ns / 1'000'000);
}

class LivePlayer : public Player {
  public:
    explicit LivePlayer(const Options &options)
        : options_(options), ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        interval_ns_ = options.interval_ns;
        options_.capture.counter_interval_ms = to_ms(interval_ns_);
        for (const std::string &device : options.capture.devices)
            filters_ += (filters_.empty() ? "-d " : " -d ") + base::escape_terminal(device);
        thread_ = std::thread([this] { work(); });
    }
    ~LivePlayer() override
    {
        stop_ = true;
        thread_.join();
    }

    bool poll(uint64_t now_ns) override
    {
        uint64_t count = 0;
        const bool readable =
            ::read(ready_.get(), &count, sizeof(count)) == static_cast<ssize_t>(sizeof(count));
        const std::lock_guard lock(mutex_);
        if (!readable || !fresh_)
            return false;
        fresh_ = false;
        shown_ = newest_;
        shown_at_ns_ = now_ns;
        return true;
    }

    [[nodiscard]] view::Screen screen(uint64_t now_ns) const override
    {
        view::Screen out = shown_;
        out.status.source = "live";
        out.status.live = true;
        out.status.filters = filters_;
        out.status.interval_ns = interval_ns_;
        const uint64_t since_ns = shown_at_ns_ ? now_ns - shown_at_ns_ : 0;
        if (since_ns > 2 * interval_ns_ + 2'000'000'000)
            out.status.stale_ns = since_ns;
        return out;
    }

    [[nodiscard]] int fd() const override { return ready_.get(); }
    [[nodiscard]] uint64_t next_ns(uint64_t now_ns) const override
    {
        return now_ns + 1'000'000'000; // to notice that nothing comes
    }
    void pause(bool) override {} // what is shown stands still, not the collection
    void set_interval_ns(uint64_t ns) override
    {
        interval_ns_ = ns;
        wanted_ms_ = to_ms(ns);
    }
    void reset() override { reset_ = true; }
    [[nodiscard]] bool ended() const override { return done_; }
    [[nodiscard]] std::optional<Error> failure() const override
    {
        const std::lock_guard lock(mutex_);
        return failure_;
    }

  private:
    void work();
    void drain(capture::Session &session);
    void show(agg::Feed &feed, const capture::Session &session, uint64_t ts_ns);
    void fail(const Error &error)
    {
        const std::lock_guard lock(mutex_);
        failure_ = error;
    }
    void wake()
    {
        const uint64_t one = 1;
        (void)!::write(ready_.get(), &one, sizeof(one));
    }

    Options options_;
    base::Fd ready_;
    std::string filters_;
    view::Screen shown_;
    uint64_t shown_at_ns_ = 0;
    view::Looks looks_; // the thread's
    std::atomic<bool> stop_{false}, done_{false}, reset_{false};
    std::atomic<uint32_t> wanted_ms_{0};
    mutable std::mutex mutex_;
    view::Screen newest_;
    bool fresh_ = false;
    std::optional<Error> failure_;
    std::thread thread_;
};

void LivePlayer::work()
{
    auto session = capture::Session::open(options_.capture);
    if (!session)
        fail(session.error());
    else
        drain(**session);
    done_ = true;
    wake();
}

// The kernel's sums and what is under way are read at the same moment: that is what a screen shows.
void LivePlayer::drain(capture::Session &session)
{
    agg::Feed feed;
    feed.start(session.info());
    Batch batch;
    while (!stop_) {
        if (const uint32_t ms = wanted_ms_.exchange(0))
            session.set_counter_interval_ms(ms);
        const auto more = session.next(batch);
        if (!more)
            return fail(more.error());
        if (!*more)
            return;
        const uint64_t ts_ns = batch.moments.empty() ? 0 : batch.moments.back().ts_ns;
        feed.add(batch);
        feed.advance(base::now_mono_ns());
        if (ts_ns != 0)
            show(feed, session, ts_ns);
    }
}

void LivePlayer::show(agg::Feed &feed, const capture::Session &session, uint64_t ts_ns)
{
    Snapshot snapshot = feed.snapshot({session.info(), session.books(), session.damage()},
                                      {.top_tasks = top_tasks});
    const uint64_t start_ns = session.info().start_mono_ns;
    snapshot.recording.duration_ns = ts_ns > start_ns ? ts_ns - start_ns : 0;
    looks_.push(std::make_shared<const Snapshot>(std::move(snapshot)));
    if (reset_.exchange(false))
        looks_.reset();
    view::Screen screen = looks_.screen();
    screen.status.now_real_ns = base::now_real_ns();
    {
        const std::lock_guard lock(mutex_);
        newest_ = std::move(screen);
        fresh_ = true;
    }
    wake();
}

} // namespace

std::unique_ptr<Player> play_live(const Options &options)
{
    return std::make_unique<LivePlayer>(options);
}

} // namespace tagtop
