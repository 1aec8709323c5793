// SPDX-License-Identifier: GPL-2.0-or-later
// One chunk to a batch. Input: a chunk's payload, from anybody. Output: validated records, sorted
// by ts within each kind, and counts of what could not be used. Memory is bounded by the limits of
// format.hpp.
#pragma once

#include "store/chunk_encode.hpp"
#include "store/io_decode.hpp"

#include <expected>
#include <map>
#include <string>

namespace blktag::store {

struct ChunkHeader {
    ChunkSummary summary;
    Books
        books; // as they stood when the chunk was written; lost_by_kind is filled by decoding only
    uint32_t header_bytes = 0;
    uint32_t body_bytes = 0;
    uint32_t head_stored_bytes = 0;
    uint32_t head_bytes = 0;
    bool compressed = false;
};

// nullopt where the payload cannot be a chunk's.
std::optional<ChunkHeader> parse_chunk_header(std::span<const uint8_t> payload);

struct ChunkResult {
    uint64_t records = 0;                 // in the batch
    uint64_t malformed = 0;               // refused by validation
    uint64_t skewed = 0;                  // accepted with a stamp moved
    std::map<uint16_t, uint64_t> unknown; // records by kind that this version does not know
    uint64_t unsorted = 0;                // kinds that had to be sorted
    std::vector<uint64_t> lost_by_kind;
};

// Reused over chunks, one per thread: it keeps its memory.
class ChunkDecoder {
  public:
    // Fills `batch` (cleared first). An error says what is wrong; the batch may then hold a part.
    std::expected<ChunkResult, std::string> decode(std::span<const uint8_t> payload, Batch &batch);

  private:
    using Block = ColumnReader::Block;
    bool block(ColumnReader &reader, Block &block, Batch &batch);
    template<class T, size_t N, class V>
    bool records(ColumnReader &reader, Block &block, const std::array<Field, N> &fields,
                 std::vector<T> &out, V &&validate);
    bool known_record(ColumnReader &reader, Block &block, Batch &batch);
    bool io(ColumnReader &reader, Block &block, std::vector<bt_io_long> &out);
    bool counters(ColumnReader &reader, Block &block, std::vector<CounterSnapshot> &out);
    bool texts(Block &block, std::vector<std::string> &out);
    bool lost(Block &block);
    bool charge(uint64_t records, size_t record_bytes);
    template<class T, class V>
    void keep_valid(std::vector<T> &out, size_t from, V &&validate);

    Decompressor decompressor_;
    Bytes head_;
    Column column_;
    ChunkResult result_;
    uint64_t decoded_bytes_ = 0;
    uint64_t records_left_ = 0;
    IoDecoder io_;
};

} // namespace blktag::store
