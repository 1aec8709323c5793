// SPDX-License-Identifier: GPL-2.0-or-later
// The trace file's numbers: frames, limits, encodings, column ids, as documented in
// blktag-trace(5). Input: none. Output: constants, and little-endian loads and stores. Column ids
// are numbered by hand and only ever appended.
#pragma once

#include "store/bytes.hpp"

#include "blktag/wire.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace blktag::store {

inline constexpr uint16_t format_major = 1;
inline constexpr uint16_t format_minor = 0;

// Not text, not UTF-8, survives no newline translation: damage by a text-mode copy shows at once.
inline constexpr std::array<uint8_t, 8> marker{0xb1, 'B', 'L', 'K', 'T', 'A', 'G', 0x0d};
inline constexpr std::array<uint8_t, 8> end_marker{0xb1, 'E', 'N', 'D', 'T', 'A', 'G', 0x0a};

enum class FrameType : uint8_t { info = 1, chunk = 2, footer = 3 };

// marker, major, minor, type, zero, header size, payload size, sequence, checksum
inline constexpr size_t frame_header_bytes = 32;
inline constexpr size_t chunk_header_bytes = 72;
inline constexpr size_t trailer_bytes = 16; // offset of the footer's frame, end_marker

// What a reader accepts; a writer stays well below.
inline constexpr uint32_t max_payload_bytes = 32U << 20;
inline constexpr uint32_t max_head_bytes = 16U << 20;
inline constexpr uint64_t max_decoded_bytes = 16U << 20; // of one chunk's records, as structs
inline constexpr uint32_t head_bytes_free =
    65536; // a head of n stored bytes decodes to at most this
inline constexpr uint32_t head_bytes_factor = 100; // and n times this
inline constexpr uint32_t max_columns = 512;       // of one block
inline constexpr uint32_t max_blocks = 4096;       // of one chunk
inline constexpr uint32_t max_topology_bytes = 4U << 20;
inline constexpr uint64_t records_per_byte =
    32; // a chunk of n records has a payload of at least n / 32 bytes
inline constexpr uint32_t max_index_entries = 1U << 18;
inline constexpr size_t index_entry_bytes = 40;

// What a writer makes.
inline constexpr size_t chunk_struct_bytes =
    65536 * sizeof(bt_io_long);                    // records of all kinds, as structs
inline constexpr size_t inline_plane_bytes = 1024; // shorter planes stay in the head
inline constexpr uint32_t max_dictionary = 8192;
inline constexpr size_t counters_struct_bytes = sizeof(bt_counters) + 16;

enum class Encoding : uint8_t {
    constant = 0,   // one value for all
    planes = 1,     // byte planes, low byte first
    delta = 2,      // planes of the differences to the value before, the first one to 0
    dictionary = 3, // one value per dictionary entry
    stream = 4,     // io sectors: distance to where the same dictionary entry's last request ended
};
enum class Plane : uint8_t {
    zero = 0,      // all bytes 0, nothing stored
    in_head = 1,   // in the head, right here
    in_body = 2,   // in the body, as it is
    zstd_body = 3, // in the body, one zstd frame; its size (u32) follows the mode
    packed_1 = 16, // packed_1 + n - 1: in the body, n = 1 .. 7 bits a value, low bits first
};

// Blocks that are no records.
inline constexpr uint16_t block_topology = 256;
inline constexpr uint16_t block_lost_by_kind = 257;

// Column ids of io; the other kinds' are in kinds.hpp.
enum IoColumn : uint16_t {
    IO_TS = 1,
    IO_INDEX = 2,        // which dictionary entry
    IO_STREAM_START = 3, // per dictionary entry, for Encoding::stream
    IO_CPU = 4,
    IO_SECTOR = 5,
    IO_BYTES = 6,
    IO_TID = 7,
    IO_HCTX_ID = 8,
    IO_TAG = 9,
    IO_SCHED_TAG = 10,
    IO_FLAGS = 11,
    IO_SUBMIT_CPU = 12,
    IO_COMPLETE_CPU = 13,
    IO_REQUEUES = 14,
    IO_OP = 15,
    IO_STATUS = 16,
    IO_PRESENT = 17,   // IoPresent bits
    IO_TO_PUT_NS = 18, // ts - complete
    IO_TO_COMPLETE_NS = 19,
    IO_TO_ISSUE_NS = 20,
    IO_WAIT_NS = 21,    // get - start
    IO_INSERT_NS = 22,  // insert - get
    IO_REFUSED_NS = 23, // refused - get
};
enum IoPresent : uint8_t {
    HAS_COMPLETE = 1, // stamps that are not 0
    HAS_ISSUE = 2,
    HAS_GET = 4,
    HAS_WAIT = 8, // start differs from get
    HAS_INSERT = 16,
    HAS_REFUSED = 32,
};

// The value's bytes in the other order where this machine is big-endian. (Compilers see through
// memcpy, but not through a loop of shifts.)
template<class T>
T to_little_endian(T value)
{
    if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1)
        return value;
    else if constexpr (sizeof(T) == 2)
        return __builtin_bswap16(value);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bswap32(value);
    else
        return __builtin_bswap64(value);
}

template<class T>
T load_le(const uint8_t *bytes)
{
    T value;
    std::memcpy(&value, bytes, sizeof(value));
    return to_little_endian(value);
}

template<class T>
void store_le(uint8_t *bytes, T value)
{
    value = to_little_endian(value);
    std::memcpy(bytes, &value, sizeof(value));
}

template<class T>
void append_le(Bytes &out, T value)
{
    const size_t at = out.size();
    out.resize(at + sizeof(T));
    store_le(out.data() + at, value);
}

// Seven bits a byte, low ones first, the top bit says that more follow.
inline void append_varint(Bytes &out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out.push_back(static_cast<uint8_t>(value | 0x80));
    out.push_back(static_cast<uint8_t>(value));
}

struct FrameHeader {
    uint16_t major = 0;
    uint16_t minor = 0;
    FrameType type{};
    uint16_t header_bytes = 0;
    uint32_t payload_bytes = 0;
    uint32_t sequence = 0;
    uint64_t checksum = 0;
};

// `bytes` has at least frame_header_bytes. false = no frame begins here.
bool parse_frame_header(const uint8_t *bytes, FrameHeader &out);
// Of bytes 8..23 of the header and of all that follows byte 31 in the frame.
uint64_t frame_checksum(const uint8_t *header, std::span<const uint8_t> after_header);
// Fills the first frame_header_bytes of `frame`, whose payload follows them.
void seal_frame(Bytes &frame, FrameType type, uint32_t sequence);

} // namespace blktag::store
