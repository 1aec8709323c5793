// SPDX-License-Identifier: GPL-2.0-or-later
// What a record must satisfy: the checks of validate.hpp, one function per kind.
#include "decode/validate.hpp"

namespace blktag::decode {
namespace {

// Times above this are no monotonic clock's (292 years): sums of two stay representable.
constexpr uint64_t max_time_ns = UINT64_MAX >> 1;

bool good_header(const bt_hdr &h)
{
    return h.cpu < max_cpus && h.ts_ns <= max_time_ns;
}

bool good_tag(uint16_t tag)
{
    return tag < max_tag || tag == BT_NO_TAG;
}

// Makes an earlier stamp no later than `limit_ns`; 0 means it did not happen and stays.
Verdict hold_back(uint64_t &stamp_ns, uint64_t limit_ns)
{
    if (stamp_ns <= limit_ns)
        return Verdict::ok;
    if (stamp_ns - limit_ns > max_skew_ns)
        return Verdict::malformed;
    stamp_ns = limit_ns;
    return Verdict::skewed;
}

Verdict worst(Verdict a, Verdict b)
{
    return a > b ? a : b;
}

// The chain start <= get <= issue <= complete <= put, skipping what did not happen.
Verdict order_stamps(bt_io_long &io)
{
    uint64_t limit_ns = io.h.ts_ns;
    Verdict verdict = Verdict::ok;
    for (uint64_t *stamp : {&io.complete_ns, &io.issue_ns, &io.get_ns, &io.start_ns}) {
        if (*stamp == 0)
            continue;
        verdict = worst(verdict, hold_back(*stamp, limit_ns));
        limit_ns = *stamp;
    }
    verdict = worst(verdict, hold_back(io.insert_ns, io.h.ts_ns));
    return worst(verdict, hold_back(io.refused_ns, io.h.ts_ns));
}

bool ordered(const bt_io_long &io)
{
    return io.start_ns <= io.get_ns && io.get_ns <= io.issue_ns && io.issue_ns <= io.complete_ns &&
           io.complete_ns <= io.h.ts_ns && io.insert_ns <= io.h.ts_ns &&
           io.refused_ns <= io.h.ts_ns;
}

} // namespace

Verdict validate(bt_io_long &io)
{
    if (!good_header(io.h) || io.op >= BT_NR_OPS || io.status > BT_ST_UNKNOWN ||
        !good_tag(io.tag) || !good_tag(io.sched_tag))
        return Verdict::malformed;
    return ordered(io) ? Verdict::ok : order_stamps(io);
}

Verdict validate(bt_task &task)
{
    return good_header(task.h) ? Verdict::ok : Verdict::malformed;
}

Verdict validate(bt_wait &wait)
{
    if (!good_header(wait.h) || wait.cause >= BT_NR_CAUSES || wait.op >= BT_NR_OPS ||
        !good_tag(wait.tag))
        return Verdict::malformed;
    const Verdict start = hold_back(wait.start_ns, wait.h.ts_ns);
    // Runnable time is a part of the wait, and was measured by another pair of clock readings.
    return worst(start, hold_back(wait.runnable_ns, wait.h.ts_ns - wait.start_ns));
}

Verdict validate(bt_dwait &wait)
{
    if (!good_header(wait.h) || wait.cause >= BT_NR_CAUSES)
        return Verdict::malformed;
    return hold_back(wait.start_ns, wait.h.ts_ns);
}

Verdict validate(bt_restart &restart)
{
    return good_header(restart.h) ? hold_back(restart.marked_ns, restart.h.ts_ns)
                                  : Verdict::malformed;
}

Verdict validate_run(bt_run &run)
{
    return good_header(run.h) ? hold_back(run.start_ns, run.h.ts_ns) : Verdict::malformed;
}

Verdict validate_arm(bt_run &arm)
{
    return good_header(arm.h) && arm.start_ns <= max_time_ns ? Verdict::ok : Verdict::malformed;
}

Verdict validate(bt_refuse &refusal)
{
    return good_header(refusal.h) && refusal.status <= BT_ST_UNKNOWN && refusal.op < BT_NR_OPS &&
                   good_tag(refusal.tag)
               ? Verdict::ok
               : Verdict::malformed;
}

Verdict validate(bt_batch &batch)
{
    return good_header(batch.h) && batch.left <= batch.offered ? Verdict::ok : Verdict::malformed;
}

Verdict validate(bt_budget &budget)
{
    return good_header(budget.h) ? Verdict::ok : Verdict::malformed;
}

Verdict validate(bt_other_wait &wait)
{
    if (!good_header(wait.h) || wait.what > BT_OTHER_FREEZE)
        return Verdict::malformed;
    return hold_back(wait.start_ns, wait.h.ts_ns);
}

Verdict validate(bt_ident_rec &ident)
{
    return good_header(ident.h) && ident.what <= BT_ID_SPACE && ident.id != BT_NO_ID
               ? Verdict::ok
               : Verdict::malformed;
}

Verdict validate(CounterSnapshot &snapshot)
{
    return snapshot.ts_ns <= max_time_ns && snapshot.what <= BT_ID_HCTX && snapshot.id != BT_NO_ID
               ? Verdict::ok
               : Verdict::malformed;
}

Verdict validate(bt_gauge &gauge)
{
    if (!good_header(gauge.h))
        return Verdict::malformed;
    return hold_back(gauge.oldest_get_ns, gauge.h.ts_ns);
}

Verdict validate(bt_hgauge &gauge)
{
    return good_header(gauge.h) ? Verdict::ok : Verdict::malformed;
}

Verdict validate(bt_loss &loss)
{
    if (!good_header(loss.h) || loss.of_cpu >= max_cpus)
        return Verdict::malformed;
    return hold_back(loss.from_ns, loss.h.ts_ns);
}

} // namespace blktag::decode
