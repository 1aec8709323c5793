// SPDX-License-Identifier: GPL-2.0-or-later
// The kinds of a Batch, once: so that every stage treats all of them. Input: batches. Output: a
// call per vector.
#pragma once

#include "blktag/records.hpp"

namespace blktag::decode {

inline uint64_t time_of(const CounterSnapshot &snapshot)
{
    return snapshot.ts_ns;
}
template<class T>
uint64_t time_of(const T &record)
{
    return record.h.ts_ns;
}

// Calls f(vector of a, vector of b, kind) for each kind of record with a time; topology_json has
// none.
template<class A, class B, class F>
void for_each_pair(A &a, B &b, F &&f)
{
    f(a.io, b.io, BT_K_IO_LONG);
    f(a.tasks, b.tasks, BT_K_TASK);
    f(a.waits, b.waits, BT_K_WAIT);
    f(a.dwaits, b.dwaits, BT_K_DWAIT);
    f(a.restarts, b.restarts, BT_K_RESTART);
    f(a.runs, b.runs, BT_K_RUN);
    f(a.arms, b.arms, BT_K_ARM);
    f(a.refusals, b.refusals, BT_K_REFUSE);
    f(a.requeues, b.requeues, BT_K_REQUEUE);
    f(a.batches, b.batches, BT_K_BATCH);
    f(a.budgets, b.budgets, BT_K_BUDGET);
    f(a.other_waits, b.other_waits, BT_K_OTHER);
    f(a.idents, b.idents, BT_K_IDENT);
    f(a.counters, b.counters, BT_K_COUNTERS);
    f(a.gauges, b.gauges, BT_K_GAUGE);
    f(a.hgauges, b.hgauges, BT_K_HGAUGE);
    f(a.losses, b.losses, BT_K_LOSS);
}

// Calls f(vector, kind) for each kind of record with a time.
template<class A, class F>
void for_each_kind(A &a, F &&f)
{
    for_each_pair(a, a, [&](auto &records, auto &, bt_kind kind) { f(records, kind); });
}

} // namespace blktag::decode
