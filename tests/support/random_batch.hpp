// SPDX-License-Identifier: GPL-2.0-or-later
// Batches of valid records with random contents, for tests. Input: a seed. Output: the same batch
// for the same seed.
#pragma once

#include "decode/batch.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace blktag::test {

class RandomBatch {
  public:
    explicit RandomBatch(uint64_t seed) : engine_(seed) {}

    // `each` records of every kind, and `ios` I/Os, sorted by time.
    Batch make(size_t ios, size_t each)
    {
        Batch batch;
        fill(batch.io, ios, [&] { return io(); });
        fill(batch.tasks, each, [&] { return task(); });
        fill(batch.waits, each, [&] { return wait(); });
        fill(batch.dwaits, each, [&] { return dwait(); });
        fill(batch.restarts, each, [&] { return restart(); });
        fill(batch.runs, each, [&] { return run(BT_K_RUN); });
        fill(batch.arms, each, [&] { return run(BT_K_ARM); });
        fill(batch.refusals, each, [&] { return refuse(BT_K_REFUSE); });
        fill(batch.requeues, each, [&] { return refuse(BT_K_REQUEUE); });
        fill(batch.batches, each, [&] { return queue_rqs(); });
        fill(batch.budgets, each, [&] { return budget(); });
        fill(batch.other_waits, each, [&] { return other(); });
        fill(batch.idents, each, [&] { return ident(); });
        fill(batch.counters, each, [&] { return counters(); });
        fill(batch.gauges, each, [&] { return gauge(); });
        fill(batch.hgauges, each, [&] { return hgauge(); });
        fill(batch.losses, each, [&] { return loss(); });
        for (size_t i = 0; i < each % 3; i++)
            batch.topology_json.push_back("{\"queues\":[" + std::to_string(engine_()) + "]}");
        return batch;
    }

    uint64_t any(uint64_t limit) { return engine_() % limit; }
    // Mostly small, sometimes of any size below 2^bits.
    uint64_t skewed(unsigned bits) { return engine_() >> (64 - 1 - any(bits)); }
    uint16_t id() { return static_cast<uint16_t>(skewed(15)); }
    uint32_t word() { return static_cast<uint32_t>(skewed(32)); }
    uint16_t tag() { return any(8) ? static_cast<uint16_t>(any(10240)) : uint16_t{BT_NO_TAG}; }
    // Any moment up to `limit_ns`, often not at all, often just before.
    uint64_t before(uint64_t limit_ns)
    {
        const uint64_t back = skewed(60);
        return any(4) == 0 || back > limit_ns ? 0 : limit_ns - back;
    }

    bt_io_long io()
    {
        auto r = record<bt_io_long>(BT_K_IO_LONG);
        r.sector = skewed(63);
        r.bytes = any(3) ? 4096 : word();
        r.tid = any(3) ? 1000 + static_cast<uint32_t>(any(4)) : word();
        uint64_t limit_ns = r.h.ts_ns;
        for (uint64_t *stamp : {&r.complete_ns, &r.issue_ns, &r.get_ns}) {
            *stamp = before(limit_ns);
            limit_ns = *stamp ? *stamp : limit_ns;
        }
        r.start_ns = any(2) ? r.get_ns : before(limit_ns);
        r.insert_ns = any(3) ? 0 : before(r.h.ts_ns);
        r.refused_ns = any(5) ? 0 : before(r.h.ts_ns);
        r.hctx_id = id();
        r.tag = tag();
        r.sched_tag = tag();
        r.flags = static_cast<uint16_t>(engine_());
        r.submit_cpu = static_cast<uint16_t>(any(8));
        r.complete_cpu = static_cast<uint16_t>(any(8));
        r.requeues = static_cast<uint16_t>(any(20) ? 0 : any(65536));
        r.op = static_cast<bt_u8>(any(BT_NR_OPS));
        r.status = static_cast<bt_u8>(any(BT_ST_UNKNOWN + 1));
        return r;
    }

  private:
    template<class T, class F>
    void fill(std::vector<T> &out, size_t count, F &&make)
    {
        for (size_t i = 0; i < count; i++)
            out.push_back(make());
        std::stable_sort(out.begin(), out.end(), [](const T &a, const T &b) {
            return decode::time_of(a) < decode::time_of(b);
        });
    }

    template<class T>
    T record(bt_kind kind)
    {
        T r{};
        r.h.size = sizeof(T);
        r.h.kind = static_cast<bt_u8>(kind);
        r.h.cpu = static_cast<bt_u32>(any(8) ? any(4) : any(65536));
        r.h.ts_ns = 1'000'000'000 + skewed(62);
        return r;
    }

    bt_task task()
    {
        auto r = record<bt_task>(BT_K_TASK);
        r.tid = word();
        r.tgid = word();
        r.cgroup_id = engine_();
        r.start_ns = engine_();
        for (auto &byte : r.comm)
            byte = static_cast<bt_u8>(engine_());
        return r;
    }
    bt_wait wait()
    {
        auto r = record<bt_wait>(BT_K_WAIT);
        r.start_ns = before(r.h.ts_ns);
        r.runnable_ns = before(r.h.ts_ns - r.start_ns);
        r.tid = word();
        r.attempts = word();
        r.sleeps = word();
        r.hctx_id = id();
        r.end_hctx_id = id();
        r.space_id = id();
        r.tag = tag();
        r.start_cpu = id();
        r.cause = static_cast<bt_u8>(any(BT_NR_CAUSES));
        r.flags = static_cast<bt_u8>(engine_());
        r.depth = word();
        r.held = word();
        r.active = word();
        r.limit = word();
        r.users = word();
        r.op = static_cast<bt_u8>(any(BT_NR_OPS));
        return r;
    }
    bt_dwait dwait()
    {
        auto r = record<bt_dwait>(BT_K_DWAIT);
        r.start_ns = before(r.h.ts_ns);
        r.hctx_id = id();
        r.space_id = id();
        r.fails = id();
        r.cause = static_cast<bt_u8>(any(BT_NR_CAUSES));
        r.flags = static_cast<bt_u8>(engine_());
        r.depth = word();
        r.held = word();
        r.active = word();
        r.limit = word();
        return r;
    }
    bt_restart restart()
    {
        auto r = record<bt_restart>(BT_K_RESTART);
        r.marked_ns = before(r.h.ts_ns);
        r.hctx_id = id();
        return r;
    }
    bt_run run(bt_kind kind)
    {
        auto r = record<bt_run>(kind);
        r.start_ns = kind == BT_K_RUN ? before(r.h.ts_ns) : skewed(40);
        r.issued = word();
        r.hctx_id = id();
        r.flags = static_cast<bt_u8>(engine_());
        return r;
    }
    bt_refuse refuse(bt_kind kind)
    {
        auto r = record<bt_refuse>(kind);
        r.hctx_id = id();
        r.tag = tag();
        r.requeues = id();
        r.status = static_cast<bt_u8>(any(BT_ST_UNKNOWN + 1));
        r.op = static_cast<bt_u8>(any(BT_NR_OPS));
        r.in_flight = word();
        return r;
    }
    bt_batch queue_rqs()
    {
        auto r = record<bt_batch>(BT_K_BATCH);
        r.hctx_id = id();
        r.offered = id();
        r.left = static_cast<uint16_t>(any(r.offered + 1U));
        r.inversions = id();
        return r;
    }
    bt_budget budget()
    {
        auto r = record<bt_budget>(BT_K_BUDGET);
        r.queue_id = id();
        r.flags = static_cast<bt_u8>(engine_());
        r.blocked = static_cast<bt_u8>(engine_());
        r.in_use = word();
        r.limit = word();
        return r;
    }
    bt_other_wait other()
    {
        auto r = record<bt_other_wait>(BT_K_OTHER);
        r.start_ns = before(r.h.ts_ns);
        r.tid = word();
        r.queue_id = id();
        r.what = static_cast<bt_u8>(any(3));
        return r;
    }
    bt_ident_rec ident()
    {
        auto r = record<bt_ident_rec>(BT_K_IDENT);
        r.id = id();
        r.what = static_cast<bt_u8>(any(3));
        r.hctx_type = static_cast<bt_u8>(any(3));
        r.queue_id = id();
        r.hctx_num = id();
        r.flags = word();
        r.dev = word();
        r.depth = word();
        r.reserved = word();
        r.space_id = id();
        r.sched_space_id = id();
        r.set_id = id();
        r.nr_ctx = id();
        r.slot_base = word();
        return r;
    }
    CounterSnapshot counters()
    {
        CounterSnapshot r;
        r.ts_ns = 1'000'000'000 + skewed(62);
        r.id = id();
        r.what = static_cast<uint8_t>(any(2));
        r.value.resize(any(3) ? size_t{BT_NR_COUNTERS} : any(BT_NR_COUNTERS));
        for (uint64_t &value : r.value)
            value = any(2) ? 0 : engine_();
        return r;
    }
    bt_gauge gauge()
    {
        auto r = record<bt_gauge>(BT_K_GAUGE);
        r.space_id = id();
        r.depth = word();
        r.held = word();
        r.cleared = word();
        r.waiters = word();
        r.users = word();
        r.wake_batch = word();
        r.wakes_due = any(2) ? UINT32_MAX : word();
        r.in_flight = word();
        r.reserved_held = word();
        r.oldest_get_ns = before(r.h.ts_ns);
        return r;
    }
    bt_hgauge hgauge()
    {
        auto r = record<bt_hgauge>(BT_K_HGAUGE);
        r.hctx_id = id();
        r.flags = word();
        r.active = word();
        r.dispatch_busy = word();
        return r;
    }
    bt_loss loss()
    {
        auto r = record<bt_loss>(BT_K_LOSS);
        r.from_ns = before(r.h.ts_ns);
        r.of_cpu = static_cast<uint32_t>(any(65536));
        for (uint64_t &lost : r.lost)
            lost = any(2) ? 0 : engine_();
        return r;
    }

    std::mt19937_64 engine_;
};

inline bool same(const CounterSnapshot &a, const CounterSnapshot &b)
{
    return a.ts_ns == b.ts_ns && a.id == b.id && a.what == b.what && a.value == b.value;
}
// Records have no padding that is not zeroed, so bytes compare.
template<class T>
bool same(const T &a, const T &b)
{
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// The first difference in words, empty where there is none.
inline std::string difference(const Batch &a, const Batch &b)
{
    std::string found;
    decode::for_each_pair(a, b, [&](const auto &x, const auto &y, bt_kind kind) {
        if (!found.empty())
            return;
        if (x.size() != y.size())
            found = "kind " + std::to_string(kind) + ": " + std::to_string(x.size()) + " and " +
                    std::to_string(y.size()) + " records";
        for (size_t i = 0; found.empty() && i < x.size(); i++) {
            if (!same(x[i], y[i]))
                found = "kind " + std::to_string(kind) + " differs at " + std::to_string(i);
        }
    });
    if (found.empty() && a.topology_json != b.topology_json)
        found = "topology differs";
    return found;
}

// Appends all of `from`.
inline void append(Batch &to, const Batch &from)
{
    decode::for_each_pair(
        from, to, [](const auto &x, auto &y, bt_kind) { y.insert(y.end(), x.begin(), x.end()); });
    to.topology_json.insert(to.topology_json.end(), from.topology_json.begin(),
                            from.topology_json.end());
}

} // namespace blktag::test
