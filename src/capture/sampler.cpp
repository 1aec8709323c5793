// SPDX-License-Identifier: GPL-2.0-or-later
// Sampling. One read of a map is not a snapshot of all of it: each value is whole, neighbours may be moments apart.
#include "capture/sampler.hpp"

#include <algorithm>
#include <numeric>

namespace blktag::capture {

namespace {

constexpr uint64_t stuck_after_ns = 1'000'000'000; // far above any wake-up batch's delay on a working device

} // namespace

// What the request slots add to the bitmap's counts: requests at the device, and the oldest holder.
void Sampler::look_at_slots(bt_gauge &g, const bt_object &space) const
{
    const uint32_t n = space.depth + space.reserved;
    for (uint32_t tag = 0; tag < n && space.slot_base + tag < programs_.slots.size(); tag++) {
        const bt_slot *s = programs_.slots.at(space.slot_base + tag);
        const uint8_t state = load(s->state);
        if (state != BT_SLOT_HELD && state != BT_SLOT_DRIVER)
            continue;
        const uint64_t got = load(s->get_ns);
        if (got > g.h.ts_ns)
            continue; // got while we look: not part of this moment
        if (got && (!g.oldest_get_ns || got < g.oldest_get_ns))
            g.oldest_get_ns = got;
        if (state == BT_SLOT_DRIVER || (load(s->issue_ns) && !load(s->complete_ns)))
            g.in_flight++;
    }
}

void Sampler::gauges(const std::vector<uint16_t> &spaces, const std::vector<uint16_t> &hctxs, uint64_t now_ns, Batch &out)
{
    for (const uint16_t id : spaces) {
        bt_sample_space io{};
        io.space_id = id;
        const bt_object &space = *programs_.spaces.at(id);
        if (space.filtered || !programs_.sample(io))
            continue;
        io.g.h = {sizeof(bt_gauge), BT_K_GAUGE, 0, 0, now_ns};
        if (io.g.held)
            look_at_slots(io.g, space);
        out.gauges.push_back(io.g);
    }
    for (const uint16_t id : hctxs) {
        bt_sample_hctx io{};
        io.id = id;
        if (!programs_.sample(io))
            continue;
        io.g.h = {sizeof(bt_hgauge), BT_K_HGAUGE, 0, 0, now_ns};
        out.hgauges.push_back(io.g);
    }
}

void Sampler::counters(uint64_t now_ns, bool all, std::vector<CounterSnapshot> &out)
{
    const bt_knobs &k = programs_.knobs();
    const uint32_t rows = std::min(programs_.globals().next_row, programs_.objects.size());
    sums_.resize(rows, UINT64_MAX); // each is told once, however little happened: zero is not unknown
    for (uint32_t id = 0; id < rows; id++) {
        const bt_object *o = programs_.objects.at(id);
        if (!o->ready || o->filtered)
            continue;
        CounterSnapshot s;
        s.ts_ns = now_ns;
        s.id = static_cast<uint16_t>(id);
        s.what = o->what;
        s.value.assign(BT_NR_COUNTERS, 0);
        for (uint32_t cpu = 0; cpu < k.nr_cpus; cpu++) {
            const bt_row *row = programs_.rows.at(cpu * k.max_rows + id);
            for (size_t c = 0; c < BT_NR_COUNTERS; c++)
                s.value[c] += load(row->c[c]);
        }
        const uint64_t sum = std::accumulate(s.value.begin(), s.value.end(), uint64_t{0});
        if (!all && sum == sums_[id])
            continue;
        sums_[id] = sum;
        uint64_t before_us = 0; // tags held before we came: their puts are unknown and nothing was missed
        for (uint32_t i = 0; i < std::min(programs_.globals().next_space, programs_.spaces.size()); i++)
            if (programs_.spaces.at(i)->ready && programs_.spaces.at(i)->queue_id == id)
                before_us += programs_.spaces.at(i)->initial_held;
        s.value[BT_C_gets_missed] = s.value[BT_C_puts_unknown] - std::min(s.value[BT_C_puts_unknown], before_us);
        out.push_back(std::move(s));
    }
}

void Sampler::open_waits(uint64_t now_ns, std::vector<bt_wait> &out) const
{
    for (uint32_t i = 0; i < programs_.waits.size(); i++) {
        const bt_wait_slot *w = programs_.waits.at(i);
        if (!load(w->key) || !w->start_ns || w->start_ns > now_ns)
            continue;
        bt_wait r{};
        r.h = {sizeof(bt_wait), BT_K_WAIT, 0, 0, now_ns};
        r.start_ns = w->start_ns;
        r.tid = w->tid;
        r.attempts = w->attempts;
        r.sleeps = w->attempts / 2;
        r.hctx_id = r.end_hctx_id = w->hctx_id;
        r.space_id = w->space_id;
        r.tag = BT_NO_TAG;
        r.start_cpu = w->start_cpu;
        r.cause = w->stuck ? static_cast<bt_u8>(BT_CAUSE_STUCK) : w->cause;
        r.flags = w->flags | BT_W_OPEN;
        r.depth = w->depth;
        r.held = w->held;
        r.active = w->active;
        r.limit = w->limit;
        r.users = w->users;
        r.op = w->op;
        out.push_back(r);
    }
    std::sort(out.begin(), out.end(), [](const bt_wait &a, const bt_wait &b) { return a.start_ns < b.start_ns; });
}

// Free in every sample since: a pool whose tags come and go shows a full moment now and then.
void Sampler::note_free(const std::vector<bt_gauge> &gauges)
{
    for (const bt_gauge &g : gauges) {
        if (free_since_ns_.size() <= g.space_id)
            free_since_ns_.resize(g.space_id + 1U);
        uint64_t &since = free_since_ns_[g.space_id];
        if (g.held >= g.depth)
            since = 0;
        else if (!since)
            since = g.h.ts_ns;
    }
}

void Sampler::mark_stuck(const std::vector<bt_gauge> &gauges, uint64_t now_ns)
{
    note_free(gauges);
    if (!programs_.globals().pending_waits)
        return;
    for (uint32_t i = 0; i < programs_.waits.size(); i++) {
        bt_wait_slot *w = programs_.waits.at(i);
        if (!load(w->key) || w->cause != BT_CAUSE_EXHAUSTED || w->space_id >= free_since_ns_.size())
            continue;
        const uint64_t free_since = free_since_ns_[w->space_id];
        if (free_since && now_ns > std::max(free_since, w->start_ns) + stuck_after_ns)
            w->stuck = 1;
    }
}

} // namespace blktag::capture
