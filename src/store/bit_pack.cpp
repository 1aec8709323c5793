// SPDX-License-Identifier: GPL-2.0-or-later
// Values to n bits each, eight at a time: neighbours are joined in pairs, then fours, then eights,
// within one word.
#include "store/bit_pack.hpp"
#include "store/format.hpp"

#include <algorithm>

namespace blktag::store {
namespace {

// Eight bytes of `bits` bits each to one run of 8 * bits bits.
template<unsigned bits>
uint64_t join(uint64_t x)
{
    constexpr uint64_t pair = 0x0001000100010001 * ((1ULL << bits) - 1);
    constexpr uint64_t four = 0x0000000100000001 * ((1ULL << 2 * bits) - 1);
    constexpr uint64_t half = (1ULL << 4 * bits) - 1;
    x = (x & pair) | (x >> (8 - bits) & pair << bits);
    x = (x & four) | (x >> (16 - 2 * bits) & four << 2 * bits);
    return (x & half) | (x >> (32 - 4 * bits) & half << 4 * bits);
}

template<unsigned bits>
uint64_t split(uint64_t x)
{
    constexpr uint64_t half = (1ULL << 4 * bits) - 1;
    constexpr uint64_t four = 0x0000000100000001 * ((1ULL << 2 * bits) - 1);
    constexpr uint64_t pair = 0x0001000100010001 * ((1ULL << bits) - 1);
    x = (x & half) | (x & half << 4 * bits) << (32 - 4 * bits);
    x = (x & four) | (x & four << 2 * bits) << (16 - 2 * bits);
    return (x & pair) | (x & pair << bits) << (8 - bits);
}

// Stores 8 bytes a group, of which the next group overwrites the last ones: never beyond what was
// read already.
template<unsigned bits>
void pack(uint8_t *bytes, size_t groups)
{
    for (size_t group = 0; group < groups; group++) {
        const uint64_t joined = join<bits>(load_le<uint64_t>(bytes + 8 * group));
        store_le(bytes + bits * group, joined);
    }
}

template<unsigned bits>
void unpack(std::span<const uint8_t> packed, std::span<uint8_t> out)
{
    const size_t groups = packed.size() / bits;
    for (size_t group = 0; group < groups; group++) {
        const uint8_t *from = packed.data() + bits * group;
        uint8_t joined[8] = {}; // split() ignores what lies above its bits
        if (bits * group + 8 <= packed.size())
            std::memcpy(joined, from, 8);
        else
            std::memcpy(joined, from, bits);
        uint8_t values[8];
        store_le(values, split<bits>(load_le<uint64_t>(joined)));
        std::memcpy(out.data() + 8 * group, values, std::min<size_t>(8, out.size() - 8 * group));
    }
}

} // namespace

void pack_bits(uint8_t *bytes, size_t values, unsigned bits)
{
    const size_t groups = (values + 7) / 8;
    std::fill(bytes + values, bytes + 8 * groups, uint8_t{0});
    constexpr void (*by_bits[])(uint8_t *, size_t) = {pack<1>, pack<2>, pack<3>, pack<4>,
                                                      pack<5>, pack<6>, pack<7>};
    by_bits[bits - 1](bytes, groups);
}

void unpack_bits(std::span<const uint8_t> packed, unsigned bits, std::span<uint8_t> out)
{
    constexpr void (*by_bits[])(std::span<const uint8_t>, std::span<uint8_t>) = {
        unpack<1>, unpack<2>, unpack<3>, unpack<4>, unpack<5>, unpack<6>, unpack<7>};
    by_bits[bits - 1](packed, out);
}

} // namespace blktag::store
