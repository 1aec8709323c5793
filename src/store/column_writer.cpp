// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of numbers to bytes: values are cut into byte planes, so that the noise of low bytes is
// stored as it is and only planes with something to gain go through zstd.
#include "store/bit_pack.hpp"
#include "store/columns.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace blktag::store {
namespace {

constexpr size_t sample_bytes = 1024;
constexpr unsigned repeats_1024 = 800; // below, matches beat the entropy coder's one bit a value
constexpr unsigned min_saving_1024 = 1792; // 1.75 bits a value
constexpr size_t block_header_bytes = 16;

// Binary logarithms in 1/1024 bits by repeated squaring: integers, so the same choice is made on
// every machine.
constexpr auto log2_1024 = [] {
    std::array<uint16_t, sample_bytes + 1> table{};
    for (unsigned n = 1; n < table.size(); n++) {
        const unsigned whole = static_cast<unsigned>(std::bit_width(n)) - 1;
        unsigned log = whole << 10;
        uint64_t mantissa = (uint64_t{n} << 30) >> whole; // 1.0 .. 2.0
        for (unsigned bit = 512; bit; bit >>= 1) {
            mantissa = (mantissa * mantissa) >> 30;
            if (mantissa >= uint64_t{2} << 30) {
                mantissa >>= 1;
                log += bit;
            }
        }
        table[n] = static_cast<uint16_t>(log);
    }
    return table;
}();

// Entropy of a plane in 1/1024 bits a value, judged by a sample spread over it.
unsigned entropy_1024(std::span<const uint8_t> plane)
{
    std::array<uint16_t, 256> seen{};
    const size_t step = plane.size() / sample_bytes;
    for (size_t i = 0; i < sample_bytes; i++)
        seen[plane[i * step]]++;
    uint64_t sum = 0; // of count * (log2(total) - log2(count))
    for (const unsigned count : seen)
        sum += uint64_t{count} * (unsigned{log2_1024[sample_bytes]} - log2_1024[count]);
    return static_cast<unsigned>(sum / sample_bytes);
}

template<class T>
void cut_plane(std::span<const T> values, unsigned shift, uint8_t *out)
{
    const T *in = values.data();
    const size_t count = values.size();
    for (size_t i = 0; i < count; i++)
        out[i] = static_cast<uint8_t>(in[i] >> shift);
}

} // namespace

void ColumnWriter::begin_chunk(Bytes *body)
{
    head_.clear();
    body_ = body;
}

void ColumnWriter::begin_block(uint16_t kind, uint32_t count)
{
    block_at_ = head_.size();
    block_body_at_ = body_->size();
    append_le(head_, kind);
    append_le(head_, uint16_t{0});
    append_le(head_, count);
    head_.resize(head_.size() + 8, 0); // sizes, by end_block()
}

void ColumnWriter::end_block()
{
    uint8_t *sizes = head_.data() + block_at_ + 8;
    store_le(sizes, static_cast<uint32_t>(head_.size() - block_at_ - block_header_bytes));
    store_le(sizes + 4, static_cast<uint32_t>(body_->size() - block_body_at_));
}

void ColumnWriter::describe(uint16_t id, Encoding encoding, unsigned shift)
{
    append_le(head_, id);
    head_.push_back(static_cast<uint8_t>(encoding));
    head_.push_back(static_cast<uint8_t>(shift));
}

void ColumnWriter::constant(uint16_t id, uint64_t value)
{
    describe(id, Encoding::constant, 0);
    append_varint(head_, value);
}

void ColumnWriter::values(uint16_t id, std::span<const uint64_t> values)
{
    uint64_t bits = 0, changes = 0;
    for (const uint64_t value : values) {
        bits |= value;
        changes |= value ^ values[0];
    }
    if (changes == 0)
        constant(id, values.empty() ? 0 : values[0]);
    else
        planes(id, values, bits);
}

template<class T>
void ColumnWriter::planes(uint16_t id, std::span<const T> values, uint64_t bits)
{
    const auto shift = static_cast<unsigned>(std::countr_zero(bits));
    describe(id, Encoding::planes, shift);
    plane_list(values, bits, shift);
}

template<class T>
void ColumnWriter::deltas(uint16_t id, uint64_t base, std::span<const T> differences, uint64_t bits)
{
    const unsigned shift = bits ? static_cast<unsigned>(std::countr_zero(bits)) : 0;
    describe(id, Encoding::delta, shift);
    append_varint(head_, base);
    plane_list(differences, bits, shift);
}

template<class T>
void ColumnWriter::stream(uint16_t id, std::span<const T> distances, uint64_t bits)
{
    const unsigned shift = bits ? static_cast<unsigned>(std::countr_zero(bits)) : 0;
    describe(id, Encoding::stream, shift);
    plane_list(distances, bits, shift);
}

void ColumnWriter::dictionary(uint16_t id, std::span<const uint64_t> entries)
{
    if (std::all_of(entries.begin(), entries.end(), [&](uint64_t v) { return v == entries[0]; }))
        return constant(id, entries[0]);
    describe(id, Encoding::dictionary, 0);
    append_varint(head_, entries.size());
    for (const uint64_t entry : entries)
        append_varint(head_, entry);
}

template<class T>
void ColumnWriter::plane_list(std::span<const T> values, uint64_t bits, unsigned shift)
{
    if constexpr (sizeof(T) == 8) {
        // Half the work where the values fit into half the width.
        if (bits >> shift <= UINT32_MAX && values.size() >= inline_plane_bytes) {
            narrow_.resize(values.size());
            for (size_t i = 0; i < values.size(); i++)
                narrow_[i] = static_cast<uint32_t>(values[i] >> shift);
            return plane_list(std::span<const uint32_t>(narrow_), bits >> shift, 0);
        }
    }
    append_varint(head_, values.size());
    const auto width = static_cast<unsigned>(std::bit_width(bits >> shift) + 7) / 8;
    head_.push_back(static_cast<uint8_t>(width));
    for (unsigned plane = 0; plane < width; plane++) {
        const unsigned at = shift + 8 * plane;
        if ((bits >> at & 0xff) == 0) {
            head_.push_back(static_cast<uint8_t>(Plane::zero));
            continue;
        }
        if (values.size() < inline_plane_bytes) {
            head_.push_back(static_cast<uint8_t>(Plane::in_head));
            const size_t from = head_.size();
            head_.resize(from + values.size());
            cut_plane(values, at, head_.data() + from);
            continue;
        }
        const size_t from = body_->size();
        body_->resize(from + values.size());
        cut_plane(values, at, body_->data() + from);
        large_plane(values.size(), bits >> at & 0xff);
    }
}

// The plane is the last `count` bytes of the body; `bits` is the OR of its values. Packing costs
// two instructions a value and zstd fifteen to forty: it is taken only where it saves much.
void ColumnWriter::large_plane(size_t count, unsigned bits)
{
    Bytes &body = *body_;
    const size_t at = body.size() - count;
    const auto width = static_cast<unsigned>(std::bit_width(bits));
    const std::span<const uint8_t> plane(body.data() + at, count);
    const unsigned entropy = entropy_1024(plane);
    if (entropy + min_saving_1024 <= width * 1024) {
        // The frame is made behind the plane and moved down: zstd wants its input whole.
        const auto kind =
            entropy < repeats_1024 ? Compressor::Kind::repeats : Compressor::Kind::noise;
        const size_t limit = packed_size(count, width) - count / 32;
        plane_.clear();
        if (const size_t size = compressor_.append(plane, kind, limit, plane_)) {
            head_.push_back(static_cast<uint8_t>(Plane::zstd_body));
            append_le(head_, static_cast<uint32_t>(size));
            body.resize(at);
            body.insert(body.end(), plane_.begin(), plane_.end());
            return;
        }
    }
    if (width == 8) {
        head_.push_back(static_cast<uint8_t>(Plane::in_body));
        return;
    }
    head_.push_back(static_cast<uint8_t>(static_cast<unsigned>(Plane::packed_1) + width - 1));
    body.resize(at + (count + 7) / 8 * 8);
    pack_bits(body.data() + at, count, width);
    body.resize(at + packed_size(count, width));
}

template void ColumnWriter::planes(uint16_t, std::span<const uint32_t>, uint64_t);
template void ColumnWriter::planes(uint16_t, std::span<const uint64_t>, uint64_t);
template void ColumnWriter::planes(uint16_t, std::span<const uint16_t>, uint64_t);
template void ColumnWriter::deltas(uint16_t, uint64_t, std::span<const uint32_t>, uint64_t);
template void ColumnWriter::deltas(uint16_t, uint64_t, std::span<const uint64_t>, uint64_t);
template void ColumnWriter::stream(uint16_t, std::span<const uint32_t>, uint64_t);
template void ColumnWriter::stream(uint16_t, std::span<const uint64_t>, uint64_t);

} // namespace blktag::store
