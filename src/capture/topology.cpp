// SPDX-License-Identifier: GPL-2.0-or-later
// Topology out of sysfs and maps.
#include "capture/topology.hpp"

#include <atomic>
#include <cstring>

#include <nlohmann/json.hpp>

namespace blktag::capture {

namespace {

using nlohmann::json;

// The newest live object that fits.
template<class Fits> const bt_object *find_object(const Programs &p, Fits fits)
{
    const uint32_t n = std::min(p.globals().next_row, p.objects.size());
    for (uint32_t i = n; i-- > 0;) {
        const bt_object *o = p.objects.at(i);
        if (o->ready == 1 && fits(*o))
            return o;
    }
    return nullptr;
}

json hctx_json(const SysHctx &h, const bt_object *queue, const Programs &p)
{
    static constexpr const char *types[] = {"default", "read", "poll"};

    const bt_object *o = !queue ? nullptr : find_object(p, [&](const bt_object &c) {
        return c.what == BT_ID_HCTX && c.queue_id == queue->id && c.hctx_num == h.num;
    });
    json j{{"hctx_num", h.num}, {"nr_tags", h.nr_tags}, {"nr_reserved_tags", h.nr_reserved_tags}, {"cpus", h.cpus}};
    j["hctx_id"] = o ? json(o->id) : json();
    j["type"] = o && o->hctx_type < 3 ? json(types[o->hctx_type]) : json();
    return j;
}

// "null_queue_rq [null_blk]" -> "null_blk"; a function of the kernel itself has no brackets.
std::string module_of(const std::string &symbol)
{
    const size_t open = symbol.find('[');
    return open == std::string::npos ? std::string() : symbol.substr(open + 1, symbol.size() - open - 2);
}

json optional(const std::optional<uint32_t> &v)
{
    return v ? json(*v) : json();
}

bt_ident_rec record_of(const bt_object &o, uint64_t now_ns)
{
    bt_ident_rec r{};
    r.h.size = sizeof(r);
    r.h.kind = BT_K_IDENT;
    r.h.ts_ns = now_ns;
    r.id = o.id;
    r.what = o.what;
    r.hctx_type = o.hctx_type;
    r.queue_id = o.queue_id;
    r.hctx_num = o.hctx_num;
    r.flags = o.flags | (o.ready == 2 ? BT_IDF_GONE : 0);
    r.dev = o.dev;
    r.depth = o.depth;
    r.reserved = o.reserved;
    r.space_id = o.space_id;
    r.sched_space_id = o.sched_space_id;
    r.set_id = o.set_id;
    r.nr_ctx = o.nr_ctx;
    r.slot_base = o.slot_base;
    return r;
}

bool same(const bt_ident_rec &a, const bt_ident_rec &b)
{
    return !memcmp(reinterpret_cast<const char *>(&a) + sizeof(bt_hdr), reinterpret_cast<const char *>(&b) + sizeof(bt_hdr),
                   sizeof(a) - sizeof(bt_hdr));
}

} // namespace

std::string topology_json(const std::vector<SysQueue> &sys, Programs &programs)
{
    json queues = json::array();
    for (const SysQueue &q : sys) {
        const bt_object *o =
            find_object(programs, [&](const bt_object &c) { return c.what == BT_ID_QUEUE && c.dev == q.dev; });
        json hctxs = json::array();
        for (const SysHctx &h : q.hctxs)
            hctxs.push_back(hctx_json(h, o, programs));
        queues.push_back({{"queue_id", o ? json(o->id) : json()},
                          {"name", q.name},
                          {"dev", q.dev},
                          {"scheduler", q.scheduler},
                          {"nr_requests", q.nr_requests},
                          {"async_depth", optional(q.async_depth)},
                          {"queue_depth", optional(q.lun_depth)},
                          {"driver", q.driver.empty() && o ? module_of(programs.op_name(o->id, BT_OP_QUEUE_RQ)) : q.driver},
                          {"nr_hw_queues", q.hctxs.size()},
                          {"set_id", o ? json(o->set_id) : json()},
                          {"slaves", q.slaves},
                          {"holders", q.holders},
                          {"hctxs", std::move(hctxs)}});
    }
    return json{{"queues", std::move(queues)}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

void IdentWatch::look(const bt_object &object, bt_ident_rec &told, uint64_t now_ns, std::vector<bt_ident_rec> &out)
{
    if (!std::atomic_ref(const_cast<bt_u32 &>(object.ready)).load(std::memory_order_acquire) || object.filtered)
        return;
    const bt_ident_rec r = record_of(object, now_ns);
    if (told.h.size && same(told, r))
        return;
    if (!told.h.size && r.what == BT_ID_QUEUE && object.ready == 1)
        new_queues_.push_back(r.id);
    told = r;
    out.push_back(r);
}

void IdentWatch::poll(const Programs &programs, uint64_t now_ns, std::vector<bt_ident_rec> &out)
{
    const uint64_t changes = std::atomic_ref(const_cast<bt_u64 &>(programs.globals().changes)).load();
    new_queues_.clear();
    if (changes == seen_changes_)
        return;
    seen_changes_ = changes;
    const uint32_t rows = std::min(programs.globals().next_row, programs.objects.size());
    const uint32_t nr_spaces = std::min(programs.globals().next_space, programs.spaces.size());
    objects_.resize(rows);
    spaces_.resize(nr_spaces);
    // spaces first: hctx records refer to them
    for (uint32_t i = 0; i < nr_spaces; i++)
        look(*programs.spaces.at(i), spaces_[i], now_ns, out);
    for (uint32_t i = 0; i < rows; i++)
        look(*programs.objects.at(i), objects_[i], now_ns, out);
    live_spaces_.clear();
    live_hctxs_.clear();
    for (const bt_ident_rec &r : spaces_)
        if (r.h.size && !(r.flags & BT_IDF_GONE))
            live_spaces_.push_back(r.id);
    for (const bt_ident_rec &r : objects_)
        if (r.h.size && r.what == BT_ID_HCTX && !(r.flags & BT_IDF_GONE))
            live_hctxs_.push_back(r.id);
}

} // namespace blktag::capture
