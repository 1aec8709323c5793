// SPDX-License-Identifier: GPL-2.0-or-later
// Parts that make_snapshot is put together from; only for src/agg. Input: Aggregate. Output: pieces
// of a Snapshot.
#pragma once

#include "agg/aggregate.hpp"
#include "agg/make_snapshot.hpp"

#include <set>
#include <string>

namespace blktag::agg {

// Names that nothing measured: the recording's list, and what is missing although it should be
// there.
std::set<std::string> unmeasured_names(const Aggregate &aggregate, const Recording &recording);

// Counters of one hctx or queue; nullopt for those of the other scope and for unmeasured ones.
Counters counters_of(const CounterTrack *track, char scope,
                     const std::set<std::string> &unmeasured);
// 0 for every measured counter: what a sum over nothing is.
Counters measured_zeros(const std::set<std::string> &unmeasured);

void build_hctx(HctxStats &out, const Aggregate &aggregate, uint16_t hctx_id,
                const std::set<std::string> &unmeasured, uint64_t start_ns);
// Escaped name of the task that had `tid` then, empty where unknown.
std::string comm_of(const Aggregate &aggregate, uint32_t tid, uint64_t when_ns);
// Time since the recording's start; nullopt of 0, which means that it did not happen.
std::optional<uint64_t> since_start(uint64_t ts_ns, uint64_t start_ns);
void build_queues(Snapshot &out, const Aggregate &aggregate,
                  const std::set<std::string> &unmeasured);
void build_sets(Snapshot &out, const Aggregate &aggregate);
void build_tasks(Snapshot &out, const Aggregate &aggregate, size_t top_tasks);
void build_under_way(Snapshot &out, const Aggregate &aggregate);
void build_notes(Snapshot &out, const Aggregate &aggregate);

// Sums over parts.
void add_waits(Waits &into, const Waits &from);
void add_latency(std::optional<Latency> &into, const std::optional<Latency> &from);
void add_ops(std::vector<OpStats> &into, const std::vector<OpStats> &from);
void add_runs(RunStats &into, const RunStats &from);
// Completed requests and bytes a second, of a QueueStats or Snapshot; nullopt where not measured or
// no time passed.
template<class T>
void set_rates(T &to, uint64_t duration_ns)
{
    to.requests_per_s.reset();
    to.bytes_per_s.reset();
    if (duration_ns == 0)
        return;
    const double seconds = static_cast<double>(duration_ns) / 1e9;
    if (const auto n = to.counters.get(BT_C_completes))
        to.requests_per_s = static_cast<double>(*n) / seconds;
    if (const auto n = to.counters.get(BT_C_complete_bytes))
        to.bytes_per_s = static_cast<double>(*n) / seconds;
}
// Exact counts of submit_waits and dispatch_waits.
void count_waits(Waits &submit, Waits &dispatch, const Counters &counters);

} // namespace blktag::agg
