// SPDX-License-Identifier: GPL-2.0-or-later
// Topology from ident records, look-ups and labels. Input: bt_ident_rec. Output: Topology's tables.
#include "model/topology.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace blktag::model {

namespace {

template<typename Info>
Info *slot_for(std::vector<Info> &table, uint16_t id, uint64_t &absurd)
{
    if (id >= max_ids) {
        ++absurd;
        return nullptr;
    }
    if (id >= table.size())
        table.resize(size_t{id} + 1);
    table[id].id = id;
    return &table[id];
}

template<typename Info>
const Info *known_at(const std::vector<Info> &table, uint16_t id)
{
    return id < table.size() && table[id].known ? &table[id] : nullptr;
}

const char *type_text(uint8_t type)
{
    switch (type) {
    case 0:
        return "default";
    case 1:
        return "read";
    case 2:
        return "poll";
    default:
        return "";
    }
}

} // namespace

QueueInfo *Topology::queue_for(uint16_t id)
{
    return slot_for(queues_, id, absurd_);
}
HctxInfo *Topology::hctx_for(uint16_t id)
{
    return slot_for(hctxs_, id, absurd_);
}
const QueueInfo *Topology::queue(uint16_t id) const
{
    return known_at(queues_, id);
}
const HctxInfo *Topology::hctx(uint16_t id) const
{
    return known_at(hctxs_, id);
}
const SpaceInfo *Topology::space(uint16_t id) const
{
    return known_at(spaces_, id);
}

void Topology::apply(const bt_ident_rec &ident)
{
    switch (ident.what) {
    case BT_ID_QUEUE:
        apply_queue(ident);
        break;
    case BT_ID_HCTX:
        apply_hctx(ident);
        break;
    case BT_ID_SPACE:
        apply_space(ident);
        break;
    default:
        ++absurd_;
        return;
    }
    new_ids_ = true;
}

void Topology::apply_queue(const bt_ident_rec &ident)
{
    QueueInfo *queue = queue_for(ident.id);
    if (!queue)
        return;
    const bool known = std::exchange(queue->known, true);
    queue->gone = ident.flags & BT_IDF_GONE;
    if (queue->gone && known)
        return; // what it was stays known
    queue->end_only = queue->gone;
    queue->flags = ident.flags & ~BT_IDF_GONE;
    queue->set_id = ident.set_id;
    if (ident.dev)
        queue->dev = ident.dev;
    queue->nr_requests = ident.depth;
    queue->nr_hw_queues = ident.reserved;
}

void Topology::apply_hctx(const bt_ident_rec &ident)
{
    HctxInfo *hctx = hctx_for(ident.id);
    if (!hctx)
        return;
    const bool known = std::exchange(hctx->known, true);
    hctx->gone = ident.flags & BT_IDF_GONE;
    if (hctx->gone && known)
        return; // what it was stays known
    hctx->end_only = hctx->gone;
    hctx->flags = ident.flags & ~BT_IDF_GONE;
    hctx->queue_id = ident.queue_id;
    hctx->hctx_num = ident.hctx_num;
    hctx->space_id = ident.space_id;
    hctx->sched_space_id = ident.sched_space_id;
    hctx->type = type_text(ident.hctx_type);
}

void Topology::apply_space(const bt_ident_rec &ident)
{
    SpaceInfo *space = slot_for(spaces_, ident.id, absurd_);
    if (!space)
        return;
    const bool known = std::exchange(space->known, true);
    space->gone = ident.flags & BT_IDF_GONE;
    if (space->gone && known)
        return; // what it was stays known
    space->end_only = space->gone;
    space->flags = ident.flags & ~BT_IDF_GONE;
    space->set_id = ident.set_id;
    space->depth = ident.depth;
    space->reserved = ident.reserved;
}

// Ids rise with time, so among queues of one name the lower id is the older device.
void Topology::number_generations()
{
    std::map<std::string_view, unsigned> seen;
    for (QueueInfo &queue : queues_)
        if (queue.known && !queue.name.empty())
            queue.generation = ++seen[queue.name];
}

void Topology::merge(const Topology &later)
{
    const auto take = [](auto &into, const auto &from) {
        if (from.size() > into.size())
            into.resize(from.size());
        for (size_t i = 0; i < from.size(); ++i)
            if (from[i].known)
                into[i] = from[i];
    };
    Topology knows = later;
    // A piece of a recording may hold only an object's end: keep what the earlier one knew of it.
    const auto keep_before = [](auto &now, const auto &before) {
        for (size_t i = 0; i < now.size() && i < before.size(); ++i)
            if (now[i].known && now[i].end_only && before[i].known) {
                now[i] = before[i];
                now[i].gone = true;
            }
    };
    keep_before(knows.queues_, queues_);
    keep_before(knows.hctxs_, hctxs_);
    keep_before(knows.spaces_, spaces_);
    // Names and CPUs are told by JSON, once; ident records of a later piece do not repeat them.
    for (size_t i = 0; i < knows.queues_.size() && i < queues_.size(); ++i) {
        QueueInfo &now = knows.queues_[i];
        const QueueInfo &before = queues_[i];
        if (!now.known || !before.known || !now.name.empty())
            continue;
        now.name = before.name;
        now.driver = before.driver;
        now.scheduler = before.scheduler;
        now.async_depth = before.async_depth;
        now.lun_depth = before.lun_depth;
        now.slaves = before.slaves;
        now.holders = before.holders;
    }
    for (size_t i = 0; i < knows.hctxs_.size() && i < hctxs_.size(); ++i) {
        HctxInfo &now = knows.hctxs_[i];
        if (!now.known || !hctxs_[i].known || !now.cpus.empty())
            continue;
        now.cpus = hctxs_[i].cpus;
        now.nr_tags = hctxs_[i].nr_tags;
        now.nr_reserved_tags = hctxs_[i].nr_reserved_tags;
    }
    take(queues_, knows.queues_);
    take(hctxs_, knows.hctxs_);
    take(spaces_, knows.spaces_);
    pending_.insert(pending_.end(), knows.pending_.begin(), knows.pending_.end());
    absurd_ += knows.absurd_;
    new_ids_ = true;
    settle();
    number_generations();
}

std::string Topology::dev_text(uint32_t dev)
{
    return dev ? fmt::format("{}:{}", dev >> 20, dev & 0xfffffU) : std::string();
}

std::string Topology::queue_label(uint16_t id) const
{
    const QueueInfo *q = queue(id);
    if (!q || (q->name.empty() && q->dev == 0))
        return id == BT_NO_ID ? "(no queue)" : fmt::format("queue#{} (unknown)", id);
    const std::string base = q->name.empty() ? dev_text(q->dev) : q->name;
    return q->generation > 1 ? fmt::format("{}#{}", base, q->generation) : base;
}

std::string Topology::hctx_label(uint16_t id) const
{
    const HctxInfo *h = hctx(id);
    if (!h || h->hctx_num == BT_NO_ID || !queue(h->queue_id))
        return id == BT_NO_ID ? "(no hctx)" : fmt::format("hctx#{} (unknown)", id);
    return fmt::format("{}/{}", queue_label(h->queue_id), h->hctx_num);
}

} // namespace blktag::model
