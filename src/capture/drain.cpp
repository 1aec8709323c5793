// SPDX-License-Identifier: GPL-2.0-or-later
// Reading the rings. A record is there once its size word is not zero; what was read is zeroed before the tail moves,
// so old bytes never look like a record.
#include "capture/drain.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace blktag::capture {

namespace {

uint64_t load(const bt_u64 &v)
{
    return std::atomic_ref(const_cast<bt_u64 &>(v)).load(std::memory_order_acquire);
}

} // namespace

Drain::Drain(MappedArray<bt_ring> &rings, uint32_t ring_size_bytes)
    : rings_(rings), size_bytes_(ring_size_bytes), told_(rings.size()), told_ns_(rings.size())
{
}

size_t Drain::run_one(uint32_t cpu, Batch &out, size_t budget_bytes)
{
    bt_ring *r = rings_.at(cpu);
    uint64_t tail = r->tail;
    size_t taken = 0;
    while (taken < budget_bytes) {
        const uint64_t head = load(r->head);
        if (head == tail)
            break;
        const uint64_t offset = tail & (size_bytes_ - 1);
        // up to the ring's end, and the part of a record that runs over it
        const size_t room = std::min<uint64_t>(head - tail, size_bytes_ - offset + BT_RING_GUARD_BYTES);
        const auto *at = reinterpret_cast<const std::byte *>(r) + BT_RING_HEAD_BYTES + offset;
        // whole records that begin before the end: the next one after it begins at the ring's start
        size_t ready = 0;
        while (ready < room && offset + ready < size_bytes_) {
            const auto *h = reinterpret_cast<const bt_hdr *>(at + ready);
            const uint16_t size = std::atomic_ref(const_cast<bt_u16 &>(h->size)).load(std::memory_order_acquire);
            if (!size)
                break;
            ready += size;
        }
        if (!ready)
            break;
        decoder_.feed({at, ready}, out);
        memset(const_cast<std::byte *>(at), 0, ready);
        tail += ready;
        taken += ready;
        std::atomic_ref(r->tail).store(tail, std::memory_order_release);
    }
    return taken;
}

size_t Drain::run(Batch &out, size_t budget_bytes)
{
    size_t taken = 0;
    for (uint32_t cpu = 0; cpu < rings_.size(); cpu++)
        taken += run_one(cpu, out, budget_bytes);
    return taken;
}

void Drain::losses(uint64_t now_ns, std::vector<bt_loss> &out)
{
    for (uint32_t cpu = 0; cpu < rings_.size(); cpu++) {
        bt_loss l{};
        bool any = false;
        for (size_t kind = 0; kind < BT_NR_RING_KINDS; kind++) {
            const uint64_t lost = load(rings_.at(cpu)->lost[kind]);
            l.lost[kind] = lost - told_[cpu][kind];
            any |= l.lost[kind] != 0;
            told_[cpu][kind] = lost;
        }
        if (any) {
            l.h.size = sizeof(l);
            l.h.kind = BT_K_LOSS;
            l.h.cpu = cpu;
            l.h.ts_ns = now_ns;
            l.from_ns = told_ns_[cpu] ? told_ns_[cpu] : now_ns;
            l.of_cpu = cpu;
            out.push_back(l);
        }
        told_ns_[cpu] = now_ns;
    }
}

Books Drain::books() const
{
    Books b;
    b.lost_by_kind.assign(BT_NR_RING_KINDS, 0);
    for (uint32_t cpu = 0; cpu < rings_.size(); cpu++) {
        b.produced += load(rings_.at(cpu)->produced);
        for (size_t kind = 0; kind < BT_NR_RING_KINDS; kind++)
            b.lost_by_kind[kind] += load(rings_.at(cpu)->lost[kind]);
    }
    b.lost = std::accumulate(b.lost_by_kind.begin(), b.lost_by_kind.end(), uint64_t{0});
    const auto &counts = decoder_.counts();
    b.recorded = std::accumulate(counts.by_kind.begin(), counts.by_kind.end(), uint64_t{0});
    return b;
}

bool Drain::pending() const
{
    for (uint32_t cpu = 0; cpu < rings_.size(); cpu++)
        if (load(rings_.at(cpu)->head) != rings_.at(cpu)->tail)
            return true;
    return false;
}

} // namespace blktag::capture
