// SPDX-License-Identifier: GPL-2.0-or-later
// A Boost.Histogram axis for durations: exact below 32 ns, then 16 bins per power of two, so that
// no bin is wider than 6.25 % of its lower edge. Input: nanoseconds. Output: bin numbers by a shift
// and an add, no logarithm, no search.
#pragma once

#include <bit>
#include <boost/histogram/axis/option.hpp>
#include <cstdint>

namespace blktag::agg {

class LogAxis {
  public:
    static constexpr unsigned sub_bits = 4; // 2^4 bins per power of two
    static constexpr unsigned max_bits =
        42; // 2^42 ns = 73 minutes; longer goes to the overflow bin

    using value_type = uint64_t;
    static constexpr unsigned options()
    {
        return boost::histogram::axis::option::overflow_t::value;
    }

    [[nodiscard]] static constexpr int size()
    {
        return index_of((uint64_t{1} << max_bits) - 1) + 1;
    }
    [[nodiscard]] constexpr int index(uint64_t value_ns) const noexcept
    {
        return value_ns >> max_bits ? size() : index_of(value_ns);
    }
    // Lower edge of a bin; low(size()) is the upper edge of the last one.
    [[nodiscard]] static constexpr uint64_t low(int bin) noexcept
    {
        const auto b = static_cast<uint64_t>(bin);
        const uint64_t per_octave = uint64_t{1} << sub_bits;
        if (b < 2 * per_octave)
            return b;
        const uint64_t shift = (b >> sub_bits) - 1;
        return (b - shift * per_octave) << shift;
    }
    [[nodiscard]] value_type value(int bin) const noexcept { return low(bin); }
    bool operator==(const LogAxis &) const = default;

  private:
    static constexpr int index_of(uint64_t value_ns) noexcept
    {
        const unsigned msb = 63U - static_cast<unsigned>(std::countl_zero(value_ns | 1));
        const unsigned shift = msb > sub_bits ? msb - sub_bits : 0;
        return static_cast<int>((shift << sub_bits) + (value_ns >> shift));
    }
};

} // namespace blktag::agg
