// SPDX-License-Identifier: GPL-2.0-or-later
// Batches of several CPUs to one time order per kind: appended, merged when something is due, given
// out by time.
#include "order/sorter.hpp"

#include "decode/batch.hpp"
#include "decode/merge_runs.hpp"

#include <iterator>

namespace blktag::order {

void Sorter::push(Batch &batch)
{
    decode::for_each_pair(batch, pending_, [](auto &from, auto &to, bt_kind) {
        if (to.empty())
            to.swap(from);
        else
            to.insert(to.end(), std::make_move_iterator(from.begin()),
                      std::make_move_iterator(from.end()));
    });
    std::move(batch.topology_json.begin(), batch.topology_json.end(),
              std::back_inserter(pending_.topology_json));
    batch.clear();
}

template<class T>
void Sorter::release_kind(std::vector<T> &pending, uint64_t until_ns, std::vector<T> &ready,
                          uint64_t &given_until_ns)
{
    if (pending.empty())
        return;
    decode::merge_runs(pending);
    const auto end = std::partition_point(pending.begin(), pending.end(), [&](const T &record) {
        return decode::time_of(record) < until_ns;
    });
    for (auto at = pending.begin(); at != end && decode::time_of(*at) < given_until_ns; ++at) {
        counts_.late++;
        counts_.most_late_ns =
            std::max<uint64_t>(counts_.most_late_ns, given_until_ns - decode::time_of(*at));
    }
    if (end == pending.end()) {
        ready.swap(pending);
    } else {
        ready.assign(std::make_move_iterator(pending.begin()), std::make_move_iterator(end));
        pending.erase(pending.begin(), end);
    }
    if (!ready.empty())
        given_until_ns = std::max<uint64_t>(given_until_ns, decode::time_of(ready.back()));
}

void Sorter::release(uint64_t until_ns, Batch &ready)
{
    ready.clear();
    decode::for_each_pair(pending_, ready, [&](auto &pending, auto &out, bt_kind kind) {
        release_kind(pending, until_ns, out, given_until_ns_[kind % given_until_ns_.size()]);
    });
    ready.topology_json.swap(pending_.topology_json);
}

void Sorter::pop(uint64_t now_ns, Batch &ready)
{
    if (pending_.size() > max_records_) {
        // Better out of order than out of memory.
        const uint64_t until_ns = now_ns > window_ns_ ? now_ns - window_ns_ : 0;
        decode::for_each_kind(pending_, [&](const auto &records, bt_kind) {
            for (const auto &record : records)
                counts_.forced += decode::time_of(record) >= until_ns;
        });
        release(UINT64_MAX, ready);
        return;
    }
    release(now_ns > window_ns_ ? now_ns - window_ns_ : 0, ready);
}

void Sorter::flush(Batch &ready)
{
    release(UINT64_MAX, ready);
}

} // namespace blktag::order
