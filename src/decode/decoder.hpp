// SPDX-License-Identifier: GPL-2.0-or-later
// Raw live records to typed, validated ones. Input: bytes as they lie in a ring (wire.h). Output:
// records appended to a Batch, in the order met, and exact counts of what was refused. The only
// code that casts raw record bytes.
//
//     decode::Decoder decoder;
//     size_t used = decoder.feed(bytes, batch); // bytes after `used`: not ready yet
#pragma once

#include "blktag/records.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace blktag::decode {

// Every record fed is in exactly one of: by_kind, unknown, malformed.
struct Counts {
    std::array<uint64_t, 256> by_kind{}; // accepted, by the kind on the wire
    uint64_t unknown = 0;                // kinds of a newer producer, skipped by their size
    uint64_t malformed = 0;              // wrong size, enum, tag or time
    uint64_t skewed = 0;                 // of by_kind: a stamp was moved (validate.hpp)
    uint64_t malformed_bytes = 0;        // given up: behind a size that cannot be one
};

// Not thread-safe; one per drain thread.
class Decoder {
  public:
    // Decodes whole records until the bytes end, or a record is not complete or not ready (size 0).
    // Returns the bytes used. A size that cannot be one makes the rest of `bytes` unreadable: it is
    // counted and used up.
    size_t feed(std::span<const std::byte> bytes, Batch &out);
    [[nodiscard]] const Counts &counts() const { return counts_; }

  private:
    void record(const std::byte *bytes, const bt_hdr &header, Batch &out);
    Counts counts_;
};

} // namespace blktag::decode
