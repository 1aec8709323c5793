// SPDX-License-Identifier: GPL-2.0-or-later
// Splitting batches at the moment. Input: batches. Output: Snapshot.
#include "agg/feed.hpp"

#include "decode/batch.hpp"

#include <algorithm>

namespace blktag::agg {

namespace {

template<class T>
void append(std::vector<T> &to, std::vector<T> &from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
}

// Requests that ended late may lie out of order, so every record is looked at.
template<class T>
void take_until(std::vector<T> &from, uint64_t ts_ns, std::vector<T> &to)
{
    const auto rest = std::stable_partition(from.begin(), from.end(), [ts_ns](const T &record) {
        return decode::time_of(record) <= ts_ns;
    });
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(rest));
    from.erase(from.begin(), rest);
}

} // namespace

void Feed::add(Batch &batch)
{
    decode::for_each_pair(later_, batch, [&](auto &mine, auto &given, bt_kind) {
        for (const auto &record : given)
            reaches_ns_ = std::max(reaches_ns_, decode::time_of(record));
        append(mine, given);
    });
    own_moments_ |= !batch.moments.empty();
    // These have no time to wait for: they describe the source as it is.
    Batch now;
    append(now.topology_json, batch.topology_json);
    append(now.histograms, batch.histograms);
    append(now.moments, batch.moments);
    if (now.size() != 0)
        aggregate_.add(now);
}

void Feed::advance(uint64_t ts_ns)
{
    now_ns_ = std::max(now_ns_, ts_ns);
    Batch due;
    decode::for_each_pair(later_, due,
                          [&](auto &mine, auto &out, bt_kind) { take_until(mine, now_ns_, out); });
    if (due.size() != 0)
        aggregate_.add(due);
}

Moment Feed::under_way() const
{
    Moment out;
    out.ts_ns = now_ns_;
    const uint64_t until_ns = now_ns_ + ahead_ns;
    for (const bt_wait &wait : later_.waits)
        if (wait.start_ns <= now_ns_ && wait.h.ts_ns <= until_ns && !(wait.flags & BT_W_WON)) {
            out.waits.push_back(wait);
            out.waits.back().flags |= BT_W_OPEN;
        }
    for (const bt_dwait &wait : later_.dwaits)
        if (wait.start_ns <= now_ns_ && wait.h.ts_ns <= until_ns) {
            out.dispatch_waits.push_back(wait);
            out.dispatch_waits.back().flags |= BT_W_OPEN;
        }
    for (const bt_io_long &io : later_.io) {
        if (io.get_ns == 0 || io.get_ns > now_ns_ || io.h.ts_ns > until_ns)
            continue;
        const model::HctxInfo *hctx = aggregate_.topology().hctx(io.hctx_id);
        const bool sched = io.flags & BT_IO_SCHED;
        HeldTag &held = out.held.emplace_back();
        if (hctx)
            held.space_id = sched ? hctx->sched_space_id : hctx->space_id;
        held.tag = sched ? io.sched_tag : io.tag;
        held.hctx_id = io.hctx_id;
        held.flags = io.flags;
        held.tid = io.tid;
        held.get_ns = io.get_ns;
        if (io.issue_ns == 0 || io.issue_ns > now_ns_)
            continue;
        held.issue_ns = io.issue_ns;
        held.op = io.op;
        held.bytes = io.bytes;
        held.sector = io.sector;
        if (io.complete_ns <= now_ns_)
            held.complete_ns = io.complete_ns;
        if (!sched || !hctx || io.tag == BT_NO_TAG)
            continue;
        HeldTag driver = held; // and the driver tag that it was issued with
        driver.driver = true;
        driver.space_id = hctx->space_id;
        driver.tag = io.tag;
        out.held.push_back(driver);
    }
    return out;
}

Snapshot Feed::snapshot(const Recording &recording, const SnapshotOptions &options)
{
    if (!own_moments_) {
        Batch batch;
        batch.moments.push_back(under_way());
        aggregate_.add(batch);
    }
    Snapshot out = make_snapshot(aggregate_, recording, options);
    // A moment, not the end: what is known of the end belongs to the source.
    const uint64_t start_ns = recording.info.start_mono_ns;
    out.recording.duration_ns = now_ns_ > start_ns ? now_ns_ - start_ns : 0;
    return out;
}

} // namespace blktag::agg
