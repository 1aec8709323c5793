// SPDX-License-Identifier: GPL-2.0-or-later
// Intervals of a replay whose steps are shorter than the time between two readings of counters.
#include "view/screen.hpp"

#include <gtest/gtest.h>

namespace blktag::view {
namespace {

constexpr uint64_t ms = 1'000'000;

// A recording at `at_ms`, whose counters were read at `counted_ms` and said `completes`.
std::shared_ptr<const Snapshot> look(uint64_t at_ms, uint64_t counted_ms, uint64_t completes)
{
    auto out = std::make_shared<Snapshot>();
    out->recording.duration_ns = at_ms * ms;
    out->recording.counters_ns = counted_ms * ms;
    out->counters.value[BT_C_completes] = completes;
    return out;
}

TEST(Looks, rates_are_over_the_time_that_counters_cover)
{
    Looks looks;
    // 700 a second, counters once a second, steps of a quarter of one
    for (uint64_t step = 0; step <= 16; ++step) {
        const uint64_t counted_ms = step / 4 * 1000;
        looks.push(look(step * 250, counted_ms, counted_ms * 7 / 10));
        if (step < 4)
            continue;
        const Screen screen = looks.screen();
        ASSERT_TRUE(screen.interval->requests_per_s) << step;
        EXPECT_DOUBLE_EQ(*screen.interval->requests_per_s, 700) << step;
    }
}

TEST(Looks, live_intervals_are_from_look_to_look)
{
    Looks looks;
    looks.push(look(1000, 1000, 100));
    looks.push(look(1500, 1500, 200));
    looks.push(look(2000, 2000, 201));
    EXPECT_DOUBLE_EQ(*looks.screen().interval->requests_per_s, 2);
    EXPECT_EQ(looks.screen().interval->recording.duration_ns, 500 * ms);
}

} // namespace
} // namespace blktag::view
