// SPDX-License-Identifier: GPL-2.0-or-later
// io records to columns, in one pass over the rows. Input: records as they come. Output: one block
// per chunk.
//
// This is the hot part of recording. What does not vary on its own (task, CPUs, hctx, flags,
// operation, which stamps there are) becomes one index into a dictionary of combinations; the rest
// are differences that are small. Rows are taken apart as they arrive: they are read once and
// copied never.
#pragma once

#include "store/columns.hpp"
#include "store/io_stamps.hpp"

#include "blktag/records.hpp"

#include <memory>
#include <span>

namespace blktag::store {

class IoEncoder {
  public:
    static constexpr size_t capacity = 65536;

    IoEncoder();
    // Takes records until the chunk is full: so many were taken.
    size_t add(std::span<const bt_io_long> records);
    [[nodiscard]] size_t count() const { return count_; }
    [[nodiscard]] uint64_t first_ts_ns() const { return first_ts_ns_; }
    [[nodiscard]] uint64_t last_ts_ns() const { return last_ts_ns_; }
    // Writes the block, if there are records, and starts anew.
    void encode(ColumnWriter &out);

  private:
    // What a dictionary entry stands for, as words made of the record's own bytes.
    struct Key {
        uint64_t task = 0;  // tid, h.cpu, present
        uint64_t place = 0; // hctx_id, zeros, flags
        uint64_t rest = 0;  // submit_cpu, complete_cpu, requeues, op, status
        bool operator==(const Key &) const = default;
    };
    enum Step : uint8_t { TO_TS, TO_PUT, TO_COMPLETE, TO_ISSUE, NR_STEPS };
    // A difference too long for the narrow array, which holds its low half.
    struct Long {
        Step step;
        uint32_t row;
        uint32_t high;
    };

    // One allocation of fixed arrays: each is reached from one pointer.
    struct Rows {
        uint64_t sector[capacity];
        uint32_t steps[NR_STEPS][capacity];
        uint32_t bytes[capacity];
        uint16_t index[capacity];
        uint16_t tag[capacity];
        uint16_t sched_tag[capacity];
    };

    uint32_t entry_of(const Key &key, uint64_t sector, const Key *keys, const uint16_t *slots);
    uint32_t new_entry(const Key &key, uint64_t hash, uint64_t sector);
    void long_steps(size_t row, uint64_t step_ns, StampSteps steps);
    void rare_stamps(const bt_io_long &io, uint8_t present);
    void backwards(uint64_t ts_ns);
    void put_step(uint16_t id, Step step, ColumnWriter &out);
    void put_dictionary(ColumnWriter &out);
    bool put_streams(ColumnWriter &out);
    void reset();

    size_t count_ = 0;
    uint64_t base_ts_ns_ = 0, before_ts_ns_ = 0; // of the first and of the latest row
    uint64_t first_ts_ns_ = 0, last_ts_ns_ = 0;  // smallest and greatest
    Raw<Key> keys_;                              // the dictionary
    std::vector<uint64_t> stream_start_;
    std::vector<uint16_t> slots_; // hash table: entry + 1
    std::unique_ptr<Rows> rows_;
    std::vector<Long> long_;
    std::vector<uint64_t> wait_, insert_, refused_; // of those that have one
    std::vector<uint64_t> end_;
    Raw<uint64_t> wide_;
};

} // namespace blktag::store
