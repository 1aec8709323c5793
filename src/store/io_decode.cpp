// SPDX-License-Identifier: GPL-2.0-or-later
// The io block of one chunk to rows: each row starts as a copy of its dictionary entry, then gets
// what is its own.
#include "store/io_decode.hpp"
#include "store/io_stamps.hpp"
#include "store/kinds.hpp"

#include <algorithm>
#include <utility>

namespace blktag::store {
namespace {

using Io = bt_io_long;

// Fields that may come by dictionary, constant or planes; a missing one is 0.
constexpr std::array prototype_fields{
    Field{IO_TID, offsetof(Io, tid), 4, false},
    Field{IO_CPU, offsetof(Io, h.cpu), 4, false},
    Field{IO_SUBMIT_CPU, offsetof(Io, submit_cpu), 2, false},
    Field{IO_COMPLETE_CPU, offsetof(Io, complete_cpu), 2, false},
    Field{IO_REQUEUES, offsetof(Io, requeues), 2, false},
    Field{IO_OP, offsetof(Io, op), 1, false},
    Field{IO_STATUS, offsetof(Io, status), 1, false},
    Field{IO_HCTX_ID, offsetof(Io, hctx_id), 2, false},
    Field{IO_FLAGS, offsetof(Io, flags), 2, false},
};

bool sparse(uint16_t id)
{
    return id == IO_WAIT_NS || id == IO_INSERT_NS || id == IO_REFUSED_NS;
}

} // namespace

bool IoDecoder::read_columns(ColumnReader &reader, ColumnReader::Block &block)
{
    seen_.fill(false);
    for (;;) {
        if (block.head.empty())
            return true;
        if (!reader.next_column(block, other_))
            return false;
        if (other_.id >= known_columns)
            continue; // a newer writer's
        seen_[other_.id] = true;
        std::swap(columns_[other_.id], other_);
    }
}

bool IoDecoder::check_index()
{
    const Column &index = columns_[IO_INDEX];
    if (!seen_[IO_INDEX])
        return entries_ == 1;
    if (index.encoding == Encoding::constant)
        return index.base < entries_;
    return std::all_of(index.values.begin(), index.values.end(),
                       [&](uint64_t entry) { return entry < entries_; });
}

// Every column has as many values as its encoding asks for.
bool IoDecoder::check_counts()
{
    entries_ = 1;
    bool any_dictionary = false;
    for (size_t id = 0; id < known_columns; id++) {
        const Column &column = columns_[id];
        if (!seen_[id] || column.encoding == Encoding::constant)
            continue;
        if (column.encoding == Encoding::dictionary) {
            if (column.values.empty() || (any_dictionary && column.values.size() != entries_))
                return false;
            any_dictionary = true;
            entries_ = column.values.size();
            continue;
        }
        const bool moved = column.encoding == Encoding::delta;
        const bool streamed = column.encoding == Encoding::stream;
        if (moved != (id == IO_TS) || (streamed && id != IO_SECTOR) ||
            (!sparse(static_cast<uint16_t>(id)) && column.values.size() != count_))
            return false;
    }
    const Column &index = columns_[IO_INDEX];
    // Without a dictionary, an index (of one entry, or of stream starts alone) selects nothing.
    if (seen_[IO_INDEX] && index.encoding == Encoding::dictionary)
        return false;
    return seen_[IO_TS] && columns_[IO_TS].encoding != Encoding::dictionary && check_index();
}

bool IoDecoder::view(IoColumn id, View &out)
{
    static constexpr uint64_t zero = 0;
    Column &column = columns_[id];
    if (!seen_[id]) {
        out = {&zero, 0};
    } else if (column.encoding == Encoding::constant) {
        out = {&column.base, 0};
    } else if (column.encoding == Encoding::dictionary) {
        View index;
        if (!view(IO_INDEX, index))
            return false;
        expanded_[id].resize(count_);
        for (size_t i = 0; i < count_; i++)
            expanded_[id][i] = column.values[index[i]];
        out = {expanded_[id].data(), SIZE_MAX};
    } else {
        out = {column.values.data(), SIZE_MAX};
    }
    return true;
}

bool IoDecoder::prototypes()
{
    bt_io_long empty{};
    empty.h.size = sizeof(empty);
    empty.h.kind = BT_K_IO_LONG;
    prototypes_.assign(entries_, empty);
    bool fits = true;
    for (const Field &field : prototype_fields) {
        const Column &column = columns_[field.id];
        if (!seen_[field.id])
            continue;
        for (size_t entry = 0; entry < entries_; entry++) {
            if (column.encoding == Encoding::constant)
                fits &= set_field(&prototypes_[entry], field, column.base);
            else if (column.encoding == Encoding::dictionary)
                fits &= set_field(&prototypes_[entry], field, column.values[entry]);
        }
    }
    return fits;
}

bool IoDecoder::plain_columns(std::span<bt_io_long> out)
{
    bool fits = true;
    for (const Field &field : prototype_fields) {
        const Column &column = columns_[field.id];
        if (!seen_[field.id] || column.encoding != Encoding::planes)
            continue;
        for (size_t i = 0; i < out.size(); i++)
            fits &= set_field(&out[i], field, column.values[i]);
    }
    return fits;
}

// All that is stored for every row. Rows are made one after another and written once.
bool IoDecoder::rows(std::vector<bt_io_long> &out)
{
    View index, step_ns, put, complete, issue, present, bytes, tag, sched_tag, sector;
    if (!view(IO_INDEX, index) || !view(IO_TS, step_ns) || !view(IO_TO_PUT_NS, put) ||
        !view(IO_TO_COMPLETE_NS, complete) || !view(IO_TO_ISSUE_NS, issue) ||
        !view(IO_PRESENT, present) || !view(IO_BYTES, bytes) || !view(IO_TAG, tag) ||
        !view(IO_SCHED_TAG, sched_tag) || !view(IO_SECTOR, sector))
        return false;
    const bool moving = columns_[IO_TS].encoding == Encoding::delta;
    uint64_t ts_ns = moving ? columns_[IO_TS].base : 0;
    uint64_t rare = 0, too_large = 0;
    const size_t from = out.size();
    out.reserve(from + count_);
    for (size_t i = 0; i < count_; i++) {
        bt_io_long io = prototypes_[index[i]];
        ts_ns = moving ? ts_ns + step_ns[i] : step_ns[i];
        io.h.ts_ns = ts_ns;
        rare |= present[i] ^ usual_stamps;
        set_stamps(io, static_cast<uint8_t>(present[i]), {put[i], complete[i], issue[i]});
        io.start_ns = io.get_ns;
        too_large |= bytes[i] >> 32 | tag[i] >> 16 | sched_tag[i] >> 16;
        io.bytes = static_cast<uint32_t>(bytes[i]);
        io.tag = static_cast<uint16_t>(tag[i]);
        io.sched_tag = static_cast<uint16_t>(sched_tag[i]);
        io.sector = sector[i]; // for streams: the distance, until streams()
        out.push_back(io);
    }
    const std::span<bt_io_long> made = std::span(out).subspan(from);
    const bool streamed = seen_[IO_SECTOR] && columns_[IO_SECTOR].encoding == Encoding::stream;
    return too_large == 0 && plain_columns(made) && (!streamed || streams(made)) &&
           (rare == 0 || rare_stamps(made, present));
}

bool IoDecoder::streams(std::span<bt_io_long> out)
{
    const Column &start = columns_[IO_STREAM_START];
    if (!seen_[IO_STREAM_START])
        return false;
    if (start.encoding == Encoding::dictionary)
        end_.assign(start.values.begin(), start.values.end());
    else if (start.encoding == Encoding::constant)
        end_.assign(entries_, start.base);
    else
        return false;
    View index;
    if (!view(IO_INDEX, index))
        return false;
    for (size_t i = 0; i < out.size(); i++) {
        uint64_t &end = end_[index[i]];
        out[i].sector = end + unzigzag(out[i].sector);
        end = out[i].sector + (out[i].bytes >> 9);
    }
    return true;
}

bool IoDecoder::rare_stamps(std::span<bt_io_long> out, const View &present)
{
    View wait, insert, refused;
    if (!view(IO_WAIT_NS, wait) || !view(IO_INSERT_NS, insert) || !view(IO_REFUSED_NS, refused))
        return false;
    size_t waits = 0, inserts = 0, refusals = 0;
    std::array<size_t, 3> wanted{};
    for (size_t i = 0; i < out.size(); i++) {
        wanted[0] += (present[i] & HAS_WAIT) != 0;
        wanted[1] += (present[i] & HAS_INSERT) != 0;
        wanted[2] += (present[i] & HAS_REFUSED) != 0;
    }
    const auto enough = [&](const View &v, IoColumn id, size_t count) {
        return v.mask == 0 ||
               (columns_[id].encoding == Encoding::planes && columns_[id].values.size() == count);
    };
    if (!enough(wait, IO_WAIT_NS, wanted[0]) || !enough(insert, IO_INSERT_NS, wanted[1]) ||
        !enough(refused, IO_REFUSED_NS, wanted[2]))
        return false;
    for (size_t i = 0; i < out.size(); i++) {
        bt_io_long &io = out[i];
        if (present[i] & HAS_WAIT)
            io.start_ns = io.get_ns - wait[waits++];
        if (present[i] & HAS_INSERT)
            io.insert_ns = io.get_ns + insert[inserts++];
        if (present[i] & HAS_REFUSED)
            io.refused_ns = io.get_ns + refused[refusals++];
    }
    return true;
}

bool IoDecoder::decode(ColumnReader &reader, ColumnReader::Block &block,
                       std::vector<bt_io_long> &out)
{
    count_ = block.count;
    if (!read_columns(reader, block) || !check_counts() || !prototypes())
        return false;
    const size_t from = out.size();
    if (rows(out))
        return true;
    out.resize(from);
    return false;
}

} // namespace blktag::store
