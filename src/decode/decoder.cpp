// SPDX-License-Identifier: GPL-2.0-or-later
// Raw live records to typed, validated ones: sizes, kinds, and the short form of bt_io made long.
#include "decode/decoder.hpp"
#include "decode/validate.hpp"

#include <algorithm>
#include <cstring>

namespace blktag::decode {
namespace {

// The part of the record that this build knows; a longer one comes from a newer producer. false =
// too short.
template<class T>
bool load(const std::byte *bytes, const bt_hdr &header, T &record)
{
    if (header.size < sizeof(T))
        return false;
    std::memcpy(&record, bytes, sizeof(T));
    record.h.size = sizeof(T);
    record.h.pad0 = 0;
    return true;
}

template<class T>
Verdict take(const std::byte *bytes, const bt_hdr &header, std::vector<T> &out,
             Verdict (*check)(T &) = validate)
{
    T &record = out.emplace_back();
    const Verdict verdict = load(bytes, header, record) ? check(record) : Verdict::malformed;
    if (verdict == Verdict::malformed)
        out.pop_back();
    return verdict;
}

// The short form: stamps as differences, each from the next one.
Verdict take_short_io(const std::byte *bytes, const bt_hdr &header, std::vector<bt_io_long> &out)
{
    bt_io in;
    if (!load(bytes, header, in))
        return Verdict::malformed;
    const uint64_t life_ns =
        uint64_t{in.get_to_issue_ns} + in.issue_to_complete_ns + in.complete_to_put_ns;
    if (life_ns > in.h.ts_ns)
        return Verdict::malformed;
    bt_io_long &io = out.emplace_back();
    io.h = in.h;
    io.h.size = sizeof(bt_io_long);
    io.h.kind = BT_K_IO_LONG;
    io.sector = in.sector;
    io.bytes = in.bytes;
    io.tid = in.tid;
    io.complete_ns = in.h.ts_ns - in.complete_to_put_ns;
    io.issue_ns = io.complete_ns - in.issue_to_complete_ns;
    io.get_ns = io.issue_ns - in.get_to_issue_ns;
    io.start_ns = io.get_ns;
    io.hctx_id = in.hctx_id;
    io.tag = in.tag;
    io.sched_tag = BT_NO_TAG;
    io.flags = in.flags;
    io.submit_cpu = in.submit_cpu;
    // The put runs where the request completed, on every path that makes the short form.
    io.complete_cpu = static_cast<uint16_t>(std::min<uint32_t>(in.h.cpu, UINT16_MAX));
    io.op = in.op;
    io.status = in.status;
    const Verdict verdict = validate(io);
    if (verdict == Verdict::malformed)
        out.pop_back();
    return verdict;
}

Verdict take_counters(const std::byte *bytes, const bt_hdr &header,
                      std::vector<CounterSnapshot> &out)
{
    constexpr size_t fixed = offsetof(bt_counters, value);
    if (header.size < fixed)
        return Verdict::malformed;
    bt_counters in{};
    std::memcpy(&in, bytes, std::min<size_t>(header.size, sizeof(in)));
    if (in.count > (header.size - fixed) / sizeof(uint64_t))
        return Verdict::malformed;
    CounterSnapshot snapshot;
    snapshot.ts_ns = in.h.ts_ns;
    snapshot.id = in.id;
    snapshot.what = in.what;
    const size_t known = std::min<size_t>(in.count, BT_NR_COUNTERS);
    snapshot.value.assign(in.value, in.value + known);
    const Verdict verdict = validate(snapshot);
    if (verdict != Verdict::malformed)
        out.push_back(std::move(snapshot));
    return verdict;
}

struct Taken {
    bool known = true;
    Verdict verdict = Verdict::ok;
};

Taken take_kind(const std::byte *bytes, const bt_hdr &h, Batch &out)
{
    switch (h.kind) {
    case BT_K_IO:
        return {true, take_short_io(bytes, h, out.io)};
    case BT_K_IO_LONG:
        return {true, take(bytes, h, out.io)};
    case BT_K_TASK:
        return {true, take(bytes, h, out.tasks)};
    case BT_K_WAIT:
        return {true, take(bytes, h, out.waits)};
    case BT_K_DWAIT:
        return {true, take(bytes, h, out.dwaits)};
    case BT_K_RESTART:
        return {true, take(bytes, h, out.restarts)};
    case BT_K_RUN:
        return {true, take(bytes, h, out.runs, validate_run)};
    case BT_K_ARM:
        return {true, take(bytes, h, out.arms, validate_arm)};
    case BT_K_REFUSE:
        return {true, take(bytes, h, out.refusals)};
    case BT_K_REQUEUE:
        return {true, take(bytes, h, out.requeues)};
    case BT_K_BATCH:
        return {true, take(bytes, h, out.batches)};
    case BT_K_BUDGET:
        return {true, take(bytes, h, out.budgets)};
    case BT_K_OTHER:
        return {true, take(bytes, h, out.other_waits)};
    case BT_K_IDENT:
        return {true, take(bytes, h, out.idents)};
    case BT_K_COUNTERS:
        return {true, take_counters(bytes, h, out.counters)};
    case BT_K_GAUGE:
        return {true, take(bytes, h, out.gauges)};
    case BT_K_HGAUGE:
        return {true, take(bytes, h, out.hgauges)};
    case BT_K_LOSS:
        return {true, take(bytes, h, out.losses)};
    default:
        return {false, Verdict::ok};
    }
}

} // namespace

void Decoder::record(const std::byte *bytes, const bt_hdr &header, Batch &out)
{
    const Taken taken = take_kind(bytes, header, out);
    if (!taken.known) {
        counts_.unknown++;
    } else if (taken.verdict == Verdict::malformed) {
        counts_.malformed++;
    } else {
        counts_.by_kind[header.kind]++;
        counts_.skewed += taken.verdict == Verdict::skewed;
    }
}

size_t Decoder::feed(std::span<const std::byte> bytes, Batch &out)
{
    size_t used = 0;
    while (bytes.size() - used >= sizeof(bt_hdr)) {
        bt_hdr header;
        std::memcpy(&header, bytes.data() + used, sizeof(header));
        if (header.size == 0)
            break;
        if (header.size < sizeof(bt_hdr) || header.size % 8 != 0) {
            counts_.malformed++;
            counts_.malformed_bytes += bytes.size() - used;
            return bytes.size();
        }
        if (header.size > bytes.size() - used)
            break;
        record(bytes.data() + used, header, out);
        used += header.size;
    }
    return used;
}

} // namespace blktag::decode
