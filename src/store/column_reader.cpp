// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes back to columns of numbers. The bytes may be anybody's: every length is checked before it
// is used.
#include "store/bit_pack.hpp"
#include "store/columns.hpp"

namespace blktag::store {
namespace {

constexpr size_t block_header_bytes = 16;

bool take(std::span<const uint8_t> &bytes, size_t size, std::span<const uint8_t> &out)
{
    if (bytes.size() < size)
        return false;
    out = bytes.first(size);
    bytes = bytes.subspan(size);
    return true;
}

void add_plane(std::span<const uint8_t> plane, unsigned at, Raw<uint64_t> &values)
{
    uint64_t *out = values.data();
    const uint8_t *in = plane.data();
    const size_t count = plane.size();
    for (size_t i = 0; i < count; i++)
        out[i] |= static_cast<uint64_t>(in[i]) << at;
}

void set_plane(std::span<const uint8_t> plane, unsigned at, Raw<uint64_t> &values)
{
    uint64_t *out = values.data();
    const uint8_t *in = plane.data();
    const size_t count = plane.size();
    for (size_t i = 0; i < count; i++)
        out[i] = static_cast<uint64_t>(in[i]) << at;
}

} // namespace

std::optional<uint64_t> take_varint(std::span<const uint8_t> &bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size() && i < 10; i++) {
        const uint64_t low = bytes[i] & 0x7f;
        if (i == 9 && low > 1)
            return std::nullopt;
        value |= low << (7 * i);
        if (bytes[i] < 0x80) {
            bytes = bytes.subspan(i + 1);
            return value;
        }
    }
    return std::nullopt;
}

bool ColumnReader::fail()
{
    bad_ = true;
    return false;
}

std::optional<ColumnReader::Block> ColumnReader::next_block()
{
    if (head_.empty() || bad_)
        return std::nullopt;
    std::span<const uint8_t> header;
    if (++blocks_ > max_blocks || !take(head_, block_header_bytes, header)) {
        fail();
        return std::nullopt;
    }
    Block block;
    block.kind = load_le<uint16_t>(header.data());
    block.count = load_le<uint32_t>(header.data() + 4);
    if (!take(head_, load_le<uint32_t>(header.data() + 8), block.head) ||
        !take(body_, load_le<uint32_t>(header.data() + 12), block.body)) {
        fail();
        return std::nullopt;
    }
    return block;
}

bool ColumnReader::next_column(Block &block, Column &column)
{
    if (block.head.empty() || bad_)
        return false;
    std::span<const uint8_t> description;
    if (++block.columns > max_columns || !take(block.head, 4, description))
        return fail();
    column.id = load_le<uint16_t>(description.data());
    column.encoding = static_cast<Encoding>(description[2]);
    const unsigned shift = description[3];
    column.base = 0;
    column.values.clear();
    switch (column.encoding) {
    case Encoding::constant:
    case Encoding::delta: {
        const auto base = take_varint(block.head);
        if (!base)
            return fail();
        column.base = *base;
        return column.encoding == Encoding::constant || read_planes(block, column, shift);
    }
    case Encoding::planes:
    case Encoding::stream:
        return read_planes(block, column, shift);
    case Encoding::dictionary: {
        const auto entries = take_varint(block.head);
        // Each entry takes a byte at least, so the count is bounded by what is there.
        if (!entries || *entries > block.head.size() || *entries > block.count)
            return fail();
        for (uint64_t i = 0; i < *entries; i++) {
            const auto value = take_varint(block.head);
            if (!value)
                return fail();
            column.values.push_back(*value);
        }
        return true;
    }
    }
    return fail();
}

bool ColumnReader::read_planes(Block &block, Column &column, unsigned shift)
{
    const auto count = take_varint(block.head);
    std::span<const uint8_t> width;
    if (!count || *count > block.count || !take(block.head, 1, width) || width[0] > 8 || shift > 63)
        return fail();
    const unsigned planes = width[0];
    bool first = true;
    for (unsigned plane = 0; plane < planes; plane++) {
        std::span<const uint8_t> bytes;
        if (!read_plane(block, *count, bytes))
            return fail();
        const unsigned at = shift + 8 * plane;
        if (bytes.empty() || at > 63)
            continue;
        if (first) {
            column.values.resize(*count);
            set_plane(bytes, at, column.values);
        } else {
            add_plane(bytes, at, column.values);
        }
        first = false;
    }
    if (first)
        column.values.assign(*count, 0);
    return true;
}

// An all-zero plane is given as empty.
bool ColumnReader::read_plane(Block &block, size_t count, std::span<const uint8_t> &plane)
{
    std::span<const uint8_t> bytes;
    if (!take(block.head, 1, bytes))
        return false;
    switch (static_cast<Plane>(bytes[0])) {
    case Plane::zero:
        plane = {};
        return true;
    case Plane::in_head:
        return take(block.head, count, plane);
    case Plane::in_body:
        return take(block.body, count, plane);
    case Plane::zstd_body:
        if (!take(block.head, 4, bytes) ||
            !take(block.body, load_le<uint32_t>(bytes.data()), bytes))
            return false;
        plane_.resize(count);
        plane = plane_;
        return decompressor_.decode(bytes, plane_);
    default:
        break;
    }
    const unsigned width = bytes[0] + 1U - static_cast<unsigned>(Plane::packed_1);
    if (width < 1 || width > 7 || !take(block.body, packed_size(count, width), bytes))
        return false;
    plane_.resize(count);
    plane = plane_;
    unpack_bits(bytes, width, plane_);
    return true;
}

} // namespace blktag::store
