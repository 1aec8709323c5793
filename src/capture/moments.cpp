// SPDX-License-Identifier: GPL-2.0-or-later
// Looking at waits and slots without a program on any request's path. Input: maps. Output: Moment.
#include "capture/moments.hpp"

#include "capture/proc.hpp"

#include <algorithm>
#include <cstring>

namespace blktag::capture {

namespace {

constexpr size_t max_held = 16384;          // of all spaces together
constexpr size_t max_held_of_space = 2048;
constexpr size_t max_bits = 256;            // spaces whose bits are read
constexpr size_t max_waits = 4096;
constexpr size_t max_names = 16384;
constexpr int names_a_look = 256; // a name is three files of /proc: the others come with the next looks
constexpr uint64_t name_again_ns = 2'000'000'000; // a tid may be used again, or exec

} // namespace

void Moments::parked(Moment &moment) const
{
    const uint32_t rows = std::min(programs_.globals().next_row, programs_.hstates.size());
    for (uint32_t id = 0; id < rows; id++) {
        const bt_hstate *hs = programs_.hstates.at(id);
        const uint64_t since = load(hs->park_ns);
        const bt_object *o = programs_.objects.at(id);
        if (!since || since > moment.ts_ns || o->ready != 1)
            continue;
        bt_dwait w{};
        w.h = {sizeof(w), BT_K_DWAIT, 0, 0, moment.ts_ns};
        w.start_ns = since;
        w.hctx_id = static_cast<bt_u16>(id);
        w.space_id = o->space_id;
        w.fails = static_cast<bt_u16>(std::min(load(hs->park_fails), 0xffffU));
        w.cause = hs->park_cause;
        w.flags = BT_W_OPEN;
        w.depth = hs->park_depth;
        w.held = hs->park_held;
        w.active = hs->park_active;
        w.limit = hs->park_limit;
        moment.dispatch_waits.push_back(w);
    }
}

void Moments::held(uint16_t space_id, const bt_object &space, Moment &moment) const
{
    size_t listed = 0;
    const uint32_t n = space.depth + space.reserved;
    for (uint32_t tag = 0; tag < n && space.slot_base + tag < programs_.slots.size(); tag++) {
        const bt_slot *s = programs_.slots.at(space.slot_base + tag);
        const uint8_t state = load(s->state);
        const uint64_t got = load(s->get_ns);
        if ((state != BT_SLOT_HELD && state != BT_SLOT_DRIVER) || got > moment.ts_ns)
            continue;
        if (listed >= max_held_of_space || moment.held.size() >= max_held) {
            moment.held_left_out++;
            continue;
        }
        listed++;
        HeldTag &h = moment.held.emplace_back();
        h.space_id = space_id;
        h.tag = static_cast<uint16_t>(tag);
        h.hctx_id = s->hctx_id;
        h.driver = state == BT_SLOT_DRIVER;
        h.tid = load(s->tid);
        h.get_ns = got;
        if (h.driver)
            continue;
        h.flags = s->flags;
        h.issue_ns = load(s->issue_ns);
        h.complete_ns = load(s->complete_ns);
        if (h.issue_ns) {
            h.op = s->op;
            h.bytes = load(s->bytes);
            h.sector = load(s->sector);
        }
    }
}

// false: no tag is held, so there is nothing to look for among its slots.
bool Moments::bits(uint16_t space_id, const bt_object &space, Moment &moment) const
{
    TagBits out;
    out.space_id = space_id;
    out.reserved = space.reserved;
    bool any = space.reserved != 0;
    bt_sample_bits io{};
    io.space_id = space_id;
    do {
        if (!programs_.sample(io))
            return true;
        const bt_bit_words &words = *programs_.bit_words.at(0);
        out.depth = io.depth;
        out.held.resize((io.depth + 63) / 64);
        out.cleared.resize(out.held.size());
        for (uint32_t i = 0; i < std::min<uint32_t>(io.nr, BT_SAMPLE_WORDS); i++)
            for (uint32_t b = 0; b < 1U << std::min(io.shift, 6U); b++) {
                const uint32_t tag = ((io.first + i) << io.shift) + b;
                if (tag >= io.depth)
                    break;
                out.held[tag / 64] |= (words.held[i] >> b & 1) << tag % 64;
                out.cleared[tag / 64] |= (words.cleared[i] >> b & 1) << tag % 64;
                any |= words.held[i] >> b & 1;
            }
        io.first += io.nr;
    } while (io.nr && io.first < io.words);
    if (moment.bits.size() < max_bits)
        moment.bits.push_back(std::move(out));
    return any;
}

// A task that is gone by now keeps no name: then its tid is all that is known.
void Moments::name(uint32_t tid, uint64_t now_ns, std::vector<bt_task> &out)
{
    if (!tid)
        return;
    if (told_.size() > max_names)
        told_.clear();
    Told &told = told_[tid];
    if ((told.at_ns && now_ns < told.at_ns + name_again_ns) || names_left_ <= 0)
        return;
    names_left_--;
    told.at_ns = now_ns;
    bt_task task{};
    if (!read_task(tid, task) || (told.task.tid == task.tid && told.task.start_ns == task.start_ns &&
                                  told.task.tgid == task.tgid && !memcmp(told.task.comm, task.comm, BT_COMM_LEN)))
        return;
    task.h = {sizeof(task), BT_K_TASK, 0, 0, now_ns};
    told.task = task;
    out.push_back(task);
}

void Moments::read(const std::vector<uint16_t> &spaces, uint64_t now_ns, Batch &out)
{
    Moment moment;
    moment.ts_ns = now_ns;
    if (programs_.globals().pending_waits)
        sampler_.open_waits(now_ns, moment.waits);
    if (moment.waits.size() > max_waits)
        moment.waits.resize(max_waits);
    parked(moment);
    for (const uint16_t id : spaces) {
        const bt_object &space = *programs_.spaces.at(id);
        if (!space.filtered && bits(id, space, moment))
            held(id, space, moment);
    }
    names_left_ = names_a_look;
    for (const bt_wait &w : moment.waits)
        name(w.tid, now_ns, out.tasks);
    for (const HeldTag &h : moment.held)
        name(h.tid, now_ns, out.tasks);
    out.moments.push_back(std::move(moment));
}

} // namespace blktag::capture
