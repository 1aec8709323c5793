// SPDX-License-Identifier: GPL-2.0-or-later
// Frame headers: parse, checksum, seal. Input and output: bytes.
#include "store/format.hpp"

#include <cstring>
#include <xxhash.h>

namespace blktag::store {

bool parse_frame_header(const uint8_t *bytes, FrameHeader &out)
{
    if (std::memcmp(bytes, marker.data(), marker.size()) != 0)
        return false;
    out.major = load_le<uint16_t>(bytes + 8);
    out.minor = load_le<uint16_t>(bytes + 10);
    out.type = static_cast<FrameType>(bytes[12]);
    out.header_bytes = load_le<uint16_t>(bytes + 14);
    out.payload_bytes = load_le<uint32_t>(bytes + 16);
    out.sequence = load_le<uint32_t>(bytes + 20);
    out.checksum = load_le<uint64_t>(bytes + 24);
    return out.header_bytes >= frame_header_bytes && out.payload_bytes <= max_payload_bytes;
}

uint64_t frame_checksum(const uint8_t *header, std::span<const uint8_t> after_header)
{
    const uint64_t seed = XXH3_64bits(header + 8, 16);
    return XXH3_64bits_withSeed(after_header.data(), after_header.size(), seed);
}

void seal_frame(Bytes &frame, FrameType type, uint32_t sequence)
{
    uint8_t *h = frame.data();
    std::memcpy(h, marker.data(), marker.size());
    store_le(h + 8, format_major);
    store_le(h + 10, format_minor);
    h[12] = static_cast<uint8_t>(type);
    h[13] = 0;
    store_le(h + 14, static_cast<uint16_t>(frame_header_bytes));
    store_le(h + 16, static_cast<uint32_t>(frame.size() - frame_header_bytes));
    store_le(h + 20, sequence);
    const std::span<const uint8_t> payload(h + frame_header_bytes,
                                           frame.size() - frame_header_bytes);
    store_le(h + 24, frame_checksum(h, payload));
}

} // namespace blktag::store
