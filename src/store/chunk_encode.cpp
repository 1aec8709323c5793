// SPDX-License-Identifier: GPL-2.0-or-later
// Records to one chunk: a block per kind that has records, then the head compressed behind the
// body.
#include "store/chunk_encode.hpp"

#include "decode/batch.hpp"

#include <algorithm>

namespace blktag::store {
namespace {

// Moments as differences; the first is the base.
template<class T>
void put_times(const std::vector<T> &records, std::vector<uint64_t> &scratch, ColumnWriter &out)
{
    scratch.clear();
    uint64_t before_ns = decode::time_of(records.front()), bits = 0;
    for (const T &record : records) {
        const uint64_t now_ns = decode::time_of(record);
        scratch.push_back(now_ns - before_ns);
        bits |= scratch.back();
        before_ns = now_ns;
    }
    out.deltas(ts_column, decode::time_of(records.front()), std::span<const uint64_t>(scratch),
               bits);
}

} // namespace

ChunkSummary ChunkEncoder::summarize(const Batch &batch) const
{
    ChunkSummary summary;
    summary.io_records = static_cast<uint32_t>(io_.count());
    summary.records = static_cast<uint32_t>(batch.size()) + summary.io_records;
    summary.first_ts_ns = io_.count() ? io_.first_ts_ns() : UINT64_MAX;
    summary.last_ts_ns = io_.count() ? io_.last_ts_ns() : 0;
    decode::for_each_kind(batch, [&](const auto &records, bt_kind) {
        if (records.empty())
            return;
        summary.first_ts_ns =
            std::min<uint64_t>(summary.first_ts_ns, decode::time_of(records.front()));
        summary.last_ts_ns =
            std::max<uint64_t>(summary.last_ts_ns, decode::time_of(records.back()));
    });
    if (summary.first_ts_ns > summary.last_ts_ns)
        summary.first_ts_ns = summary.last_ts_ns = 0;
    return summary;
}

template<class T, size_t N>
void ChunkEncoder::block(const std::vector<T> &records, const std::array<Field, N> &fields,
                         uint16_t kind)
{
    if (records.empty())
        return;
    columns_.begin_block(kind, static_cast<uint32_t>(records.size()));
    put_times(records, values_, columns_);
    const auto column = [&](uint16_t id, auto &&f) {
        values_.clear();
        for (const T &record : records)
            values_.push_back(f(record));
        columns_.values(id, values_);
    };
    column(cpu_column, [](const T &record) { return uint64_t{record.h.cpu}; });
    for (const Field &field : fields) {
        column(field.id, [&](const T &record) {
            const uint64_t value = get_field(&record, field);
            return field.before_ts ? record.h.ts_ns - value : value;
        });
    }
    columns_.end_block();
}

void ChunkEncoder::counters(const std::vector<CounterSnapshot> &records)
{
    if (records.empty())
        return;
    columns_.begin_block(BT_K_COUNTERS, static_cast<uint32_t>(records.size()));
    put_times(records, values_, columns_);
    const auto column = [&](uint16_t id, auto &&f) {
        values_.clear();
        for (const CounterSnapshot &snapshot : records)
            values_.push_back(f(snapshot));
        columns_.values(id, values_);
    };
    column(counters_id, [](const auto &s) { return uint64_t{s.id}; });
    column(counters_what, [](const auto &s) { return uint64_t{s.what}; });
    column(counters_count, [](const auto &s) { return uint64_t{s.value.size()}; });
    size_t most = 0;
    for (const CounterSnapshot &snapshot : records)
        most = std::max(most, snapshot.value.size());
    for (size_t i = 0; i < most; i++) {
        column(static_cast<uint16_t>(counters_value + i), [&](const CounterSnapshot &s) {
            return i < s.value.size() ? s.value[i] : 0; // counters_count says which are there
        });
    }
    columns_.end_block();
}

void ChunkEncoder::texts(const std::vector<std::string> &texts)
{
    if (texts.empty())
        return;
    columns_.begin_block(block_topology, static_cast<uint32_t>(texts.size()));
    Bytes &out = columns_.raw();
    for (const std::string &text : texts) {
        append_varint(out, text.size());
        out.insert(out.end(), text.begin(), text.end());
    }
    columns_.end_block();
}

void ChunkEncoder::lost(const Books &books)
{
    if (books.lost == 0)
        return;
    columns_.begin_block(block_lost_by_kind, static_cast<uint32_t>(books.lost_by_kind.size()));
    for (const uint64_t lost : books.lost_by_kind)
        append_varint(columns_.raw(), lost);
    columns_.end_block();
}

void ChunkEncoder::finish(const ChunkSummary &summary, const Books &books, Bytes &frame)
{
    const size_t body_at = frame_header_bytes + chunk_header_bytes;
    const size_t body_bytes = frame.size() - body_at;
    const std::span<const uint8_t> head = columns_.head();
    size_t stored =
        columns_.compressor().append(head, Compressor::Kind::repeats, head.size(), frame);
    const bool compressed =
        stored != 0 && head.size() <= head_bytes_free + stored * uint64_t{head_bytes_factor};
    if (!compressed) {
        frame.resize(body_at + body_bytes);
        frame.insert(frame.end(), head.begin(), head.end());
        stored = head.size();
    }
    // A reader believes in no more records than the bytes can pay for.
    const size_t least = frame_header_bytes + summary.records / records_per_byte + 1;
    frame.resize(std::max(frame.size(), least), 0);

    uint8_t *h = frame.data() + frame_header_bytes;
    store_le(h, static_cast<uint16_t>(chunk_header_bytes));
    store_le(h + 2, static_cast<uint16_t>(compressed));
    store_le(h + 4, summary.records);
    store_le(h + 8, static_cast<uint32_t>(stored));
    store_le(h + 12, static_cast<uint32_t>(head.size()));
    store_le(h + 16, summary.first_ts_ns);
    store_le(h + 24, summary.last_ts_ns);
    store_le(h + 32, books.produced);
    store_le(h + 40, books.recorded);
    store_le(h + 48, books.lost);
    store_le(h + 56, books.missed);
    store_le(h + 64, static_cast<uint32_t>(body_bytes));
    store_le(h + 68, summary.io_records);
}

ChunkSummary ChunkEncoder::encode(const Batch &batch, const Books &books, uint32_t sequence,
                                  Bytes &frame)
{
    const ChunkSummary summary = summarize(batch);
    frame.assign(frame_header_bytes + chunk_header_bytes, 0);
    columns_.begin_chunk(&frame);
    io_.encode(columns_);
    block(batch.tasks, fields_of<bt_task>, BT_K_TASK);
    block(batch.waits, fields_of<bt_wait>, BT_K_WAIT);
    block(batch.dwaits, fields_of<bt_dwait>, BT_K_DWAIT);
    block(batch.restarts, fields_of<bt_restart>, BT_K_RESTART);
    block(batch.runs, fields_of<bt_run>, BT_K_RUN);
    block(batch.arms, arm_fields, BT_K_ARM);
    block(batch.refusals, fields_of<bt_refuse>, BT_K_REFUSE);
    block(batch.requeues, fields_of<bt_refuse>, BT_K_REQUEUE);
    block(batch.batches, fields_of<bt_batch>, BT_K_BATCH);
    block(batch.budgets, fields_of<bt_budget>, BT_K_BUDGET);
    block(batch.other_waits, fields_of<bt_other_wait>, BT_K_OTHER);
    block(batch.idents, fields_of<bt_ident_rec>, BT_K_IDENT);
    counters(batch.counters);
    block(batch.gauges, fields_of<bt_gauge>, BT_K_GAUGE);
    block(batch.hgauges, fields_of<bt_hgauge>, BT_K_HGAUGE);
    block(batch.losses, fields_of<bt_loss>, BT_K_LOSS);
    texts(batch.topology_json);
    lost(books);
    finish(summary, books, frame);
    seal_frame(frame, FrameType::chunk, sequence);
    return summary;
}

} // namespace blktag::store
