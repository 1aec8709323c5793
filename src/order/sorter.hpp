// SPDX-License-Identifier: GPL-2.0-or-later
// Batches of several CPUs to one time order per kind. Input: batches, each CPU's records in order.
// Output: batches sorted by ts within each kind, that follow each other in time; what comes too
// late is passed on, and counted.
//
//     order::Sorter sorter(window_ns);
//     sorter.push(batch);               // takes the records out of it
//     sorter.pop(now_ns, ready);        // what no CPU can still add to
//     sorter.flush(ready);              // the rest, at the end
#pragma once

#include "blktag/records.hpp"

#include <array>
#include <cstdint>

namespace blktag::order {

struct Counts {
    uint64_t late = 0;         // records older than something that was given out before
    uint64_t most_late_ns = 0; // by how much at worst
    uint64_t forced = 0;       // records given out before their window ended, to bound memory
};

// Not thread-safe. Holds at most max_records beyond one batch.
class Sorter {
  public:
    // A record is held until it is `window_ns` older than now: so late may another CPU's records
    // arrive.
    explicit Sorter(uint64_t window_ns, size_t max_records = 1U << 20)
        : window_ns_(window_ns), max_records_(max_records)
    {}

    // Moves the records of `batch` in, and clears it.
    void push(Batch &batch);
    // Fills `ready` (cleared first) with what is older than now - window.
    void pop(uint64_t now_ns, Batch &ready);
    // Fills `ready` (cleared first) with everything.
    void flush(Batch &ready);

    [[nodiscard]] size_t held() const { return pending_.size(); }
    [[nodiscard]] const Counts &counts() const { return counts_; }

  private:
    void release(uint64_t until_ns, Batch &ready);
    template<class T>
    void release_kind(std::vector<T> &pending, uint64_t until_ns, std::vector<T> &ready,
                      uint64_t &given_until_ns);

    uint64_t window_ns_;
    size_t max_records_;
    Batch pending_;
    std::array<uint64_t, 64> given_until_ns_{}; // by kind: nothing given out is later
    Counts counts_;
};

} // namespace blktag::order
