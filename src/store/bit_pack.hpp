// SPDX-License-Identifier: GPL-2.0-or-later
// Values below 2^n, one a byte, to n bits each and back. Input: bytes. Output: bytes; the first
// value takes the lowest bits of the first byte; a group of 8 values takes n bytes, the last group
// is filled with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace blktag::store {

inline constexpr size_t packed_size(size_t values, unsigned bits)
{
    return (values + 7) / 8 * bits;
}

// `bytes` holds the values and takes the result: packing never writes ahead of reading. Its
// capacity must be a multiple of 8 that is at least the value count; what lies behind the values is
// overwritten with zeros.
void pack_bits(uint8_t *bytes, size_t values, unsigned bits);
// out.size() values; packed.size() must be packed_size() of them.
void unpack_bits(std::span<const uint8_t> packed, unsigned bits, std::span<uint8_t> out);

} // namespace blktag::store
