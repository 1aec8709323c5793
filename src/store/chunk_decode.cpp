// SPDX-License-Identifier: GPL-2.0-or-later
// One chunk to a batch: the head is unpacked, each block decoded by its kind, each record
// validated.
#include "store/chunk_decode.hpp"

#include "decode/batch.hpp"
#include "decode/merge_runs.hpp"
#include "decode/validate.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::store {

std::optional<ChunkHeader> parse_chunk_header(std::span<const uint8_t> payload)
{
    if (payload.size() < chunk_header_bytes)
        return std::nullopt;
    const uint8_t *h = payload.data();
    ChunkHeader header;
    header.header_bytes = load_le<uint16_t>(h);
    header.compressed = load_le<uint16_t>(h + 2) & 1;
    header.summary.records = load_le<uint32_t>(h + 4);
    header.head_stored_bytes = load_le<uint32_t>(h + 8);
    header.head_bytes = load_le<uint32_t>(h + 12);
    header.summary.first_ts_ns = load_le<uint64_t>(h + 16);
    header.summary.last_ts_ns = load_le<uint64_t>(h + 24);
    header.books.produced = load_le<uint64_t>(h + 32);
    header.books.recorded = load_le<uint64_t>(h + 40);
    header.books.lost = load_le<uint64_t>(h + 48);
    header.books.missed = load_le<uint64_t>(h + 56);
    header.body_bytes = load_le<uint32_t>(h + 64);
    header.summary.io_records = load_le<uint32_t>(h + 68);
    const uint64_t used =
        uint64_t{header.header_bytes} + header.body_bytes + header.head_stored_bytes;
    const bool plain_head = header.compressed || header.head_stored_bytes == header.head_bytes;
    if (header.header_bytes < chunk_header_bytes || used > payload.size() || !plain_head ||
        header.head_bytes > max_head_bytes ||
        header.head_bytes >
            head_bytes_free + uint64_t{head_bytes_factor} * header.head_stored_bytes ||
        header.summary.records > payload.size() * records_per_byte)
        return std::nullopt;
    return header;
}

bool ChunkDecoder::charge(uint64_t records, size_t record_bytes)
{
    const uint64_t bytes = records * record_bytes; // records is 32 bits: no overflow
    if (records > records_left_ || bytes > max_decoded_bytes - decoded_bytes_)
        return false;
    records_left_ -= records;
    decoded_bytes_ += bytes;
    return true;
}

// Drops what validation refuses, and puts into order what is not.
template<class T, class V>
void ChunkDecoder::keep_valid(std::vector<T> &out, size_t from, V &&validate)
{
    size_t keep = from;
    uint64_t before_ns = 0;
    bool sorted = true;
    for (size_t i = from; i < out.size(); i++) {
        const decode::Verdict verdict = validate(out[i]);
        if (verdict == decode::Verdict::malformed) {
            result_.malformed++;
            continue;
        }
        result_.skewed += verdict == decode::Verdict::skewed;
        const uint64_t ts_ns = decode::time_of(out[i]);
        sorted &= ts_ns >= before_ns;
        before_ns = ts_ns;
        if (keep != i)
            out[keep] = std::move(out[i]);
        keep++;
    }
    result_.records += keep - from;
    out.resize(keep);
    if (sorted &&
        (from == 0 || from == keep || decode::time_of(out[from - 1]) <= decode::time_of(out[from])))
        return;
    result_.unsorted++;
    decode::merge_runs(out);
}

namespace {

constexpr auto plain_validate = [](auto &record) {
    return decode::validate(record);
};

template<class T>
void set_header(T &record, uint16_t kind)
{
    record.h.size = sizeof(T);
    record.h.kind = static_cast<bt_u8>(kind);
}

// Moments of a delta column; a constant one where all are equal. false where it is neither.
template<class F>
bool take_times(const Column &column, size_t count, F &&set)
{
    if (column.id != ts_column)
        return false;
    uint64_t ts_ns = column.base;
    if (column.encoding == Encoding::constant) {
        for (size_t i = 0; i < count; i++)
            set(i, ts_ns);
        return true;
    }
    if (column.encoding != Encoding::delta || column.values.size() != count)
        return false;
    for (size_t i = 0; i < count; i++)
        set(i, ts_ns += column.values[i]);
    return true;
}

// f(i, value) for each row; f says whether the value fits. false where it is no plain column of
// `count` values.
template<class F>
bool take_values(const Column &column, size_t count, F &&f)
{
    const bool constant = column.encoding == Encoding::constant;
    if (!constant && (column.encoding != Encoding::planes || column.values.size() != count))
        return false;
    bool fits = true;
    for (size_t i = 0; i < count; i++)
        fits &= f(i, constant ? column.base : column.values[i]);
    return fits;
}

} // namespace

template<class T, size_t N, class V>
bool ChunkDecoder::records(ColumnReader &reader, Block &block, const std::array<Field, N> &fields,
                           std::vector<T> &out, V &&validate)
{
    if (!charge(block.count, sizeof(T)))
        return false;
    const size_t from = out.size();
    if (!reader.next_column(block, column_))
        return false;
    out.resize(from + block.count);
    const std::span<T> rows = std::span(out).subspan(from);
    bool good = take_times(column_, block.count, [&](size_t i, uint64_t ts_ns) {
        set_header(rows[i], block.kind);
        rows[i].h.ts_ns = ts_ns;
    });
    while (good && reader.next_column(block, column_)) {
        if (column_.id == cpu_column) {
            good = take_values(column_, block.count, [&](size_t i, uint64_t value) {
                rows[i].h.cpu = static_cast<uint32_t>(value);
                return value < decode::max_cpus;
            });
            continue;
        }
        const auto field = std::find_if(fields.begin(), fields.end(),
                                        [&](const Field &f) { return f.id == column_.id; });
        if (field == fields.end())
            continue; // a newer writer's
        good = take_values(column_, block.count, [&](size_t i, uint64_t value) {
            return set_field(&rows[i], *field, field->before_ts ? rows[i].h.ts_ns - value : value);
        });
    }
    if (!good || reader.bad()) {
        out.resize(from);
        return false;
    }
    keep_valid(out, from, validate);
    return true;
}

bool ChunkDecoder::io(ColumnReader &reader, Block &block, std::vector<bt_io_long> &out)
{
    if (!charge(block.count, sizeof(bt_io_long)))
        return false;
    const size_t from = out.size();
    if (!io_.decode(reader, block, out))
        return false;
    keep_valid(out, from, plain_validate);
    return true;
}

bool ChunkDecoder::counters(ColumnReader &reader, Block &block, std::vector<CounterSnapshot> &out)
{
    if (!charge(block.count, counters_struct_bytes))
        return false;
    if (!reader.next_column(block, column_))
        return false;
    std::vector<CounterSnapshot> rows(block.count);
    bool good =
        take_times(column_, rows.size(), [&](size_t i, uint64_t ts_ns) { rows[i].ts_ns = ts_ns; });
    while (good && reader.next_column(block, column_)) {
        const auto each = [&](auto &&f) {
            good = take_values(column_, rows.size(), f);
        };
        if (column_.id == counters_id) {
            each([&](size_t i, uint64_t value) {
                rows[i].id = static_cast<uint16_t>(value);
                return value <= UINT16_MAX;
            });
        } else if (column_.id == counters_what) {
            each([&](size_t i, uint64_t value) {
                rows[i].what = static_cast<uint8_t>(value);
                return value <= UINT8_MAX;
            });
        } else if (column_.id == counters_count) {
            each([&](size_t i, uint64_t value) {
                rows[i].value.resize(std::min<uint64_t>(value, BT_NR_COUNTERS));
                return true;
            });
        } else if (column_.id >= counters_value &&
                   column_.id < uint32_t{counters_value} + BT_NR_COUNTERS) {
            const size_t at = column_.id - size_t{counters_value};
            each([&](size_t i, uint64_t value) {
                if (at < rows[i].value.size())
                    rows[i].value[at] = value;
                return true;
            });
        }
    }
    if (!good || reader.bad())
        return false;
    const size_t from = out.size();
    std::move(rows.begin(), rows.end(), std::back_inserter(out));
    keep_valid(out, from, plain_validate);
    return true;
}

bool ChunkDecoder::texts(Block &block, std::vector<std::string> &out)
{
    for (uint32_t i = 0; i < block.count; i++) {
        const auto size = take_varint(block.head);
        if (!size || *size > block.head.size() || *size > max_topology_bytes ||
            !charge(1, sizeof(std::string) + *size))
            return false;
        out.emplace_back(reinterpret_cast<const char *>(block.head.data()), *size);
        block.head = block.head.subspan(*size);
        result_.records++;
    }
    return true;
}

bool ChunkDecoder::lost(Block &block)
{
    for (uint32_t i = 0; i < block.count; i++) {
        const auto count = take_varint(block.head);
        if (!count)
            return false;
        if (result_.lost_by_kind.size() < BT_NR_RING_KINDS)
            result_.lost_by_kind.push_back(*count);
    }
    return true;
}

bool ChunkDecoder::known_record(ColumnReader &reader, Block &b, Batch &batch)
{
    const auto plain = [&](auto &out) {
        using T = std::remove_cvref_t<decltype(out)>::value_type;
        return records(reader, b, fields_of<T>, out, plain_validate);
    };
    switch (b.kind) {
    case BT_K_TASK:
        return plain(batch.tasks);
    case BT_K_WAIT:
        return plain(batch.waits);
    case BT_K_DWAIT:
        return plain(batch.dwaits);
    case BT_K_RESTART:
        return plain(batch.restarts);
    case BT_K_RUN:
        return records(reader, b, fields_of<bt_run>, batch.runs, decode::validate_run);
    case BT_K_ARM:
        return records(reader, b, arm_fields, batch.arms, decode::validate_arm);
    case BT_K_REFUSE:
        return plain(batch.refusals);
    case BT_K_REQUEUE:
        return plain(batch.requeues);
    case BT_K_BATCH:
        return plain(batch.batches);
    case BT_K_BUDGET:
        return plain(batch.budgets);
    case BT_K_OTHER:
        return plain(batch.other_waits);
    case BT_K_IDENT:
        return plain(batch.idents);
    case BT_K_GAUGE:
        return plain(batch.gauges);
    case BT_K_HGAUGE:
        return plain(batch.hgauges);
    case BT_K_LOSS:
        return plain(batch.losses);
    default:
        if (!charge(b.count, 0))
            return false;
        result_.unknown[b.kind] += b.count;
        return true;
    }
}

bool ChunkDecoder::block(ColumnReader &reader, Block &b, Batch &batch)
{
    switch (b.kind) {
    case BT_K_IO_LONG:
        return io(reader, b, batch.io);
    case BT_K_COUNTERS:
        return counters(reader, b, batch.counters);
    case block_topology:
        return texts(b, batch.topology_json);
    case block_lost_by_kind:
        return lost(b);
    default:
        return known_record(reader, b, batch);
    }
}

std::expected<ChunkResult, std::string> ChunkDecoder::decode(std::span<const uint8_t> payload,
                                                             Batch &batch)
{
    batch.clear();
    result_ = {};
    decoded_bytes_ = 0;
    const auto header = parse_chunk_header(payload);
    if (!header)
        return std::unexpected("chunk header is not possible");
    records_left_ = header->summary.records;
    const auto body = payload.subspan(header->header_bytes, header->body_bytes);
    std::span<const uint8_t> head = payload.subspan(
        header->header_bytes + size_t{header->body_bytes}, header->head_stored_bytes);
    if (header->compressed) {
        head_.resize(header->head_bytes);
        if (!decompressor_.decode(head, head_))
            return std::unexpected("chunk head does not decompress");
        head = head_;
    }
    ColumnReader reader(head, body, decompressor_);
    while (auto next = reader.next_block()) {
        if (!block(reader, *next, batch))
            return std::unexpected(fmt::format("records of kind {} cannot be decoded", next->kind));
    }
    if (reader.bad())
        return std::unexpected("chunk head is cut");
    return std::move(result_);
}

} // namespace blktag::store
