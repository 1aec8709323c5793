// SPDX-License-Identifier: GPL-2.0-or-later
// Records to one chunk. Input: io as it comes, a batch of the other kinds sorted by ts. Output: a
// whole frame.
#pragma once

#include "store/columns.hpp"
#include "store/io_encode.hpp"
#include "store/kinds.hpp"

#include "blktag/records.hpp"

#include <vector>

namespace blktag::store {

// What a chunk says of itself without being decoded.
struct ChunkSummary {
    uint32_t records = 0;
    uint32_t io_records = 0;
    uint64_t first_ts_ns = 0; // smallest and greatest ts in it
    uint64_t last_ts_ns = 0;
};

class ChunkEncoder {
  public:
    // Takes io records until the chunk is full: so many were taken.
    size_t add_io(std::span<const bt_io_long> records) { return io_.add(records); }
    [[nodiscard]] size_t io_count() const { return io_.count(); }
    // Replaces `frame` by the chunk: the io records added, and the batch's others, whose structs
    // are within chunk_struct_bytes.
    ChunkSummary encode(const Batch &batch, const Books &books, uint32_t sequence, Bytes &frame);

  private:
    [[nodiscard]] ChunkSummary summarize(const Batch &batch) const;
    template<class T, size_t N>
    void block(const std::vector<T> &records, const std::array<Field, N> &fields, uint16_t kind);
    void counters(const std::vector<CounterSnapshot> &records);
    void texts(const std::vector<std::string> &texts);
    void lost(const Books &books);
    void finish(const ChunkSummary &summary, const Books &books, Bytes &frame);

    ColumnWriter columns_;
    IoEncoder io_;
    std::vector<uint64_t> values_;
};

} // namespace blktag::store
