// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of numbers to bytes and back: blktag-trace(5), COLUMNS. Input: arrays of values. Output:
// a chunk's head (how each column is stored, small planes) and body (large planes), and the arrays
// again.
#pragma once

#include "store/format.hpp"
#include "store/zstd_context.hpp"

#include <optional>
#include <span>
#include <vector>

namespace blktag::store {

// Appends blocks of columns to a head and a body. Reused over chunks: it keeps its memory.
class ColumnWriter {
  public:
    // The body is appended to `body`, which may hold other things before it.
    void begin_chunk(Bytes *body);
    void begin_block(uint16_t kind, uint32_t count);
    void end_block();

    void constant(uint16_t id, uint64_t value);
    // Constant where all values are equal, else planes.
    void values(uint16_t id, std::span<const uint64_t> values);
    // Planes; `bits` is the OR of all values, not 0.
    template<class T>
    void planes(uint16_t id, std::span<const T> values, uint64_t bits);
    // Differences that were made already, from `base`; `bits` is their OR, not 0.
    template<class T>
    void deltas(uint16_t id, uint64_t base, std::span<const T> differences, uint64_t bits);
    // Distances (zigzag) for Encoding::stream; `bits` is their OR.
    template<class T>
    void stream(uint16_t id, std::span<const T> distances, uint64_t bits);
    // One value per dictionary entry.
    void dictionary(uint16_t id, std::span<const uint64_t> entries);
    // Bytes that are no column (topology, lost by kind).
    Bytes &raw() { return head_; }

    [[nodiscard]] std::span<const uint8_t> head() const { return head_; }
    Compressor &compressor() { return compressor_; }

  private:
    void describe(uint16_t id, Encoding encoding, unsigned shift);
    template<class T>
    void plane_list(std::span<const T> values, uint64_t bits, unsigned shift);
    void large_plane(size_t count, unsigned bits);

    Bytes head_;
    Bytes *body_ = nullptr;
    size_t block_at_ = 0;
    size_t block_body_at_ = 0;
    Bytes plane_;
    Raw<uint32_t> narrow_;
    Compressor compressor_;
};

// One column as found. `values` is what is stored, before sums, dictionary or streams are resolved.
struct Column {
    uint16_t id = 0;
    Encoding encoding = Encoding::constant;
    uint64_t base = 0;    // constant: the value; delta: what the first difference is added to
    Raw<uint64_t> values; // planes, delta, stream, dictionary
};

// Walks a head. Every size is checked against what is there; nothing is allocated beyond the
// block's record count.
class ColumnReader {
  public:
    ColumnReader(std::span<const uint8_t> head, std::span<const uint8_t> body,
                 Decompressor &decompressor)
        : head_(head), body_(body), decompressor_(decompressor)
    {}

    struct Block {
        uint16_t kind = 0;
        uint32_t count = 0;
        std::span<const uint8_t> head, body; // what is left of them
        uint32_t columns = 0;                // read so far
    };
    // nullopt at the end, or (bad() is true then) where the head is damaged.
    std::optional<Block> next_block();
    // The block's next column, into `column` whose memory is reused. false at the block's end or
    // where it is bad.
    bool next_column(Block &block, Column &column);
    [[nodiscard]] bool bad() const { return bad_; }

  private:
    bool fail();
    bool read_planes(Block &block, Column &column, unsigned shift);
    bool read_plane(Block &block, size_t count, std::span<const uint8_t> &plane);

    std::span<const uint8_t> head_, body_;
    Decompressor &decompressor_;
    Bytes plane_;
    uint32_t blocks_ = 0;
    bool bad_ = false;
};

// Reads a varint and moves past it; nullopt where there is none.
std::optional<uint64_t> take_varint(std::span<const uint8_t> &bytes);

inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}
inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

} // namespace blktag::store
