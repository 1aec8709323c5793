// SPDX-License-Identifier: GPL-2.0-or-later
// BTF look-ups. Input: BTF. Output: Capabilities, and the kernel-dependent part of the knobs.
#include "capture/capabilities.hpp"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <cstring>
#include <memory>
#include <string_view>

namespace blktag::capture {

namespace {

struct BtfFree {
    void operator()(btf *b) const { btf__free(b); }
};

void take_enumerators(const btf *b, const btf_type *t, Capabilities &out)
{
    static constexpr std::string_view prefixes[] = {"BLK_MQ_", "REQ_OP_", "__REQ_", "QUEUE_FLAG_"};

    const uint16_t n = btf_vlen(t);
    for (uint16_t i = 0; i < n; i++) {
        const bool wide = btf_is_enum64(t);
        const uint32_t name_off = wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;
        const char *name = btf__name_by_offset(b, name_off);
        if (!name)
            continue;
        const std::string_view view(name);
        for (std::string_view prefix : prefixes)
            if (view.starts_with(prefix))
                out.enumerators[name] =
                    wide ? static_cast<int64_t>(btf_enum64_value(&btf_enum64(t)[i])) : btf_enum(t)[i].val;
    }
}

void take_function(const btf *b, const btf_type *t, const std::string &name, Capabilities &out)
{
    const btf_type *proto = btf__type_by_id(b, t->type);
    out.functions[name] = proto ? btf_vlen(proto) : 0;
}

int64_t value_of(const Capabilities &c, const char *name, int64_t otherwise)
{
    const auto it = c.enumerators.find(name);
    return it == c.enumerators.end() ? otherwise : it->second;
}

void set_op(const Capabilities &c, bt_knobs &k, const char *name, bt_op op)
{
    const int64_t raw = value_of(c, name, -1);
    if (raw >= 0 && raw < 64)
        k.op_of[raw] = op;
}

uint32_t request_flag(const Capabilities &c, const char *name, const char *older_name)
{
    int64_t bit = value_of(c, name, -1);
    if (bit < 0 && older_name)
        bit = value_of(c, older_name, -1);
    return bit >= 0 && bit < 32 ? 1U << bit : 0;
}

} // namespace

std::expected<Capabilities, Error> find_capabilities(const Wanted &wanted, const std::string &btf_path)
{
    libbpf_set_print(nullptr); // what it has to say becomes our Error
    const std::unique_ptr<btf, BtfFree> b(btf_path.empty() ? btf__load_vmlinux_btf()
                                                           : btf__parse(btf_path.c_str(), nullptr));
    if (!b)
        return std::unexpected(Error{"cannot read the kernel's type information (BTF)",
                                     "needs a kernel built with CONFIG_DEBUG_INFO_BTF=y and a readable "
                                     "/sys/kernel/btf/vmlinux; run as root"});
    Capabilities out;
    const uint32_t n = btf__type_cnt(b.get());
    for (uint32_t id = 1; id < n; id++) {
        const btf_type *t = btf__type_by_id(b.get(), id);
        if (btf_is_any_enum(t)) {
            take_enumerators(b.get(), t, out);
        } else if (btf_is_func(t) || btf_is_typedef(t)) {
            const std::string name = btf__name_by_offset(b.get(), t->name_off);
            if (btf_is_func(t) && wanted.functions.contains(name))
                take_function(b.get(), t, name, out);
            else if (btf_is_typedef(t) && name.starts_with("btf_trace_") && wanted.tracepoints.contains(name.substr(10)))
                out.tracepoints.insert(name.substr(10));
        }
    }
    const int cpus = libbpf_num_possible_cpus();
    out.possible_cpus = cpus > 0 ? static_cast<uint32_t>(cpus) : 1;
    return out;
}

// Fallbacks are the values of kernels where the name is a #define or absent (5.15 to 6.10).
bt_knobs knobs_for(const Capabilities &c)
{
    bt_knobs k{};
    auto u32 = [&](const char *name, int64_t otherwise) { return static_cast<uint32_t>(value_of(c, name, otherwise)); };

    k.hctx_s_stopped = u32("BLK_MQ_S_STOPPED", 0);
    k.hctx_s_tag_active = u32("BLK_MQ_S_TAG_ACTIVE", 1);
    k.hctx_s_restart = u32("BLK_MQ_S_SCHED_RESTART", 2);
    k.hctx_s_inactive = u32("BLK_MQ_S_INACTIVE", 3);
    k.f_queue_shared = u32("BLK_MQ_F_TAG_QUEUE_SHARED", 0x2);
    k.f_hctx_shared = u32("BLK_MQ_F_TAG_HCTX_SHARED", 0x8);
    k.f_blocking = u32("BLK_MQ_F_BLOCKING", 0x20);
    k.req_nowait = u32("BLK_MQ_REQ_NOWAIT", 1);
    k.req_reserved = u32("BLK_MQ_REQ_RESERVED", 2);
    k.queue_hctx_active = u32("QUEUE_FLAG_HCTX_ACTIVE", 28);
    k.queue_quiesced = u32("QUEUE_FLAG_QUIESCED", 24);
    k.rq_sync = request_flag(c, "__REQ_SYNC", nullptr);
    k.rq_polled = request_flag(c, "__REQ_POLLED", "__REQ_HIPRI");
    k.rq_fua = request_flag(c, "__REQ_FUA", nullptr);

    memset(k.op_of, BT_OP_OTHER, sizeof(k.op_of));
    set_op(c, k, "REQ_OP_READ", BT_OP_READ);
    set_op(c, k, "REQ_OP_WRITE", BT_OP_WRITE);
    set_op(c, k, "REQ_OP_FLUSH", BT_OP_FLUSH);
    set_op(c, k, "REQ_OP_DISCARD", BT_OP_DISCARD);
    set_op(c, k, "REQ_OP_SECURE_ERASE", BT_OP_DISCARD);
    set_op(c, k, "REQ_OP_WRITE_ZEROES", BT_OP_WRITE_ZEROES);
    for (const char *zone : {"REQ_OP_ZONE_APPEND", "REQ_OP_ZONE_OPEN", "REQ_OP_ZONE_CLOSE", "REQ_OP_ZONE_FINISH",
                             "REQ_OP_ZONE_RESET", "REQ_OP_ZONE_RESET_ALL"})
        set_op(c, k, zone, BT_OP_ZONE);
    set_op(c, k, "REQ_OP_DRV_IN", BT_OP_DRV);
    set_op(c, k, "REQ_OP_DRV_OUT", BT_OP_DRV);

    // #defines in include/linux/blk_types.h, the same numbers in 5.15 to 7.3
    memset(k.status_of, BT_ST_ERROR, sizeof(k.status_of));
    k.status_of[0] = BT_ST_OK;
    k.status_of[9] = BT_ST_RESOURCE;
    k.status_of[13] = BT_ST_DEV_RESOURCE;
    k.status_of[12] = BT_ST_AGAIN;
    return k;
}

} // namespace blktag::capture
