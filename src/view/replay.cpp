// SPDX-License-Identifier: GPL-2.0-or-later
// Reading ahead and stepping. Input: RecordSource. Output: Snapshots.
#include "view/replay.hpp"

#include <algorithm>

namespace blktag::view {

namespace {

constexpr size_t max_waiting = 400'000; // records read ahead, beyond the moment itself
constexpr size_t top_tasks = 64;

} // namespace

std::expected<Replay, Error> Replay::open(Opener opener)
{
    Replay out;
    out.opener_ = std::move(opener);
    if (auto begun = out.begin(); !begun)
        return std::unexpected(begun.error());
    return out;
}

std::expected<void, Error> Replay::begin()
{
    auto source = opener_();
    if (!source)
        return std::unexpected(source.error());
    source_ = std::move(*source);
    feed_ = std::make_unique<agg::Feed>();
    feed_->start(source_->info());
    start_ns_ = source_->info().start_mono_ns;
    last_ns_ = start_ns_;
    read_all_ = ended_ = false;
    feed_->advance(start_ns_);
    return {};
}

std::expected<void, Error> Replay::read_until(uint64_t ts_ns)
{
    Batch batch;
    while (!read_all_) {
        const uint64_t reaches = feed_->reaches_ns();
        if (reaches >= ts_ns + agg::Feed::ahead_ns ||
            (reaches > ts_ns && feed_->waiting() > max_waiting))
            return {};
        const auto more = source_->next(batch);
        if (!more)
            return std::unexpected(more.error());
        if (!*more) {
            read_all_ = true;
            last_ns_ = std::max(source_->info().end_mono_ns, feed_->reaches_ns());
            length_ns_ = last_ns_ > start_ns_ ? last_ns_ - start_ns_ : 0;
            return {};
        }
        feed_->add(batch);
        // What is not needed for the moments ahead is counted at once, or a jump would keep it all.
        if (feed_->reaches_ns() < ts_ns)
            feed_->advance(std::min(ts_ns, feed_->reaches_ns()));
    }
    return {};
}

std::expected<bool, Error> Replay::step(uint64_t by_ns)
{
    if (ended_)
        return false;
    uint64_t to = feed_->now_ns() + by_ns;
    if (auto read = read_until(to); !read)
        return std::unexpected(read.error());
    if (read_all_ && to >= last_ns_) {
        to = std::max(last_ns_, feed_->now_ns());
        ended_ = true;
    }
    feed_->advance(to);
    return !ended_;
}

std::expected<void, Error> Replay::seek(uint64_t position_ns)
{
    const uint64_t to = start_ns_ + position_ns;
    if (to < feed_->now_ns() || ended_)
        if (auto begun = begin(); !begun)
            return begun;
    if (to > feed_->now_ns())
        if (auto stepped = step(to - feed_->now_ns()); !stepped)
            return std::unexpected(stepped.error());
    return {};
}

uint64_t Replay::real_ns() const
{
    const uint64_t start = source_->info().start_real_ns;
    return start ? start + position_ns() : 0;
}

Snapshot Replay::snapshot() const
{
    const agg::Recording recording{source_->info(), source_->books(), source_->damage()};
    return feed_->snapshot(recording, {.top_tasks = top_tasks});
}

} // namespace blktag::view
