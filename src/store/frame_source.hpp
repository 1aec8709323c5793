// SPDX-License-Identifier: GPL-2.0-or-later
// Whole, checked frames from a file or a pipe. Input: a descriptor, read forward only. Output:
// frames in order, and what was damaged between them. After damage it looks for the next marker
// whose frame's checksum holds.
#pragma once

#include "base/fd.hpp"
#include "store/format.hpp"

#include <expected>
#include <optional>
#include <vector>

namespace blktag::store {

struct Frame {
    FrameHeader header;
    uint64_t offset_bytes = 0;
    uint64_t size_bytes = 0;          // header and payload
    std::span<const uint8_t> payload; // valid until the next call
};

// Damage met so far, bounded: what a hostile file can make of it is a list of max_entries.
class DamageList {
  public:
    void add(uint64_t offset_bytes, uint64_t length_bytes, std::string what);
    [[nodiscard]] const std::vector<Damage> &entries() const { return entries_; }

  private:
    static constexpr size_t max_entries = 1000;
    std::vector<Damage> entries_;
    uint64_t more_ = 0;
};

class FrameSource {
  public:
    // Reads from the descriptor's position, which is offset 0 of everything said here. Does not own
    // it.
    explicit FrameSource(int fd) : fd_(fd) {}

    // nullopt at the end. An error is one of reading, or another major version of the format.
    std::expected<std::optional<Frame>, Error> next(DamageList &damage);
    // What follows the footer, which has been read: nothing but the trailer may.
    std::expected<void, Error> end(DamageList &damage);

    [[nodiscard]] uint64_t bytes_read() const { return base_ + end_; }
    [[nodiscard]] bool any_frame() const { return expected_sequence_.has_value(); }

  private:
    [[nodiscard]] size_t available() const { return end_ - begin_; }
    [[nodiscard]] uint64_t offset() const { return base_ + begin_; }
    std::expected<bool, Error> fill(size_t bytes);
    std::expected<bool, Error> try_frame(Frame &frame);
    std::expected<bool, Error> find_marker();
    std::expected<std::optional<Frame>, Error> accept(const Frame &frame, DamageList &damage);
    void note_damage(DamageList &damage, bool to_end);

    int fd_;
    Bytes buffer_; // [begin_, end_) is not consumed yet
    size_t begin_ = 0, end_ = 0;
    uint64_t base_ = 0; // offset of buffer_[0]
    bool at_eof_ = false;
    std::optional<uint64_t> bad_from_;
    uint64_t wasted_bytes_ = 0; // hashed for frames that were none
    std::optional<uint32_t> expected_sequence_;
    uint64_t latest_frame_bytes_ = 0; // offset of the latest frame given out
};

} // namespace blktag::store
