// SPDX-License-Identifier: GPL-2.0-or-later
// One time order from several CPUs. Input: batches as each CPU gives them. Output: verdicts.
#include "order/sorter.hpp"
#include "support/random_batch.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace blktag::order {
namespace {

Batch restarts(std::initializer_list<uint64_t> times_ns)
{
    Batch batch;
    for (const uint64_t ts_ns : times_ns) {
        bt_restart restart{};
        restart.h.ts_ns = ts_ns;
        batch.restarts.push_back(restart);
    }
    return batch;
}

std::vector<uint64_t> times(const Batch &batch)
{
    std::vector<uint64_t> out;
    for (const bt_restart &restart : batch.restarts)
        out.push_back(restart.h.ts_ns);
    return out;
}

void push(Sorter &sorter, Batch batch)
{
    sorter.push(batch);
    EXPECT_EQ(batch.size(), 0U);
}

TEST(Sorter, merges_cpus_and_holds_back_the_window)
{
    Sorter sorter(100);
    Batch ready;
    push(sorter, restarts({10, 20, 150}));
    push(sorter, restarts({5, 15, 160}));
    sorter.pop(200, ready);
    EXPECT_EQ(times(ready), (std::vector<uint64_t>{5, 10, 15, 20}));
    EXPECT_EQ(sorter.held(), 2U);
    push(sorter, restarts({155}));
    sorter.pop(400, ready);
    EXPECT_EQ(times(ready), (std::vector<uint64_t>{150, 155, 160}));
    EXPECT_EQ(sorter.counts().late, 0U);
    sorter.flush(ready);
    EXPECT_EQ(ready.size(), 0U);
}

TEST(Sorter, late_records_are_passed_on_and_counted)
{
    Sorter sorter(100);
    Batch ready;
    push(sorter, restarts({50}));
    sorter.pop(200, ready);
    EXPECT_EQ(times(ready), std::vector<uint64_t>{50});
    push(sorter, restarts({20, 60}));
    sorter.pop(300, ready);
    EXPECT_EQ(times(ready), (std::vector<uint64_t>{20, 60}));
    EXPECT_EQ(sorter.counts().late, 1U);
    EXPECT_EQ(sorter.counts().most_late_ns, 30U);
}

TEST(Sorter, memory_is_bounded)
{
    Sorter sorter(1'000'000, 3);
    Batch ready;
    push(sorter, restarts({10, 20, 30, 40}));
    sorter.pop(50, ready);
    EXPECT_EQ(ready.size(), 4U);
    EXPECT_EQ(sorter.held(), 0U);
    EXPECT_EQ(sorter.counts().forced, 4U);
}

RC_GTEST_PROP(Sorter, nothing_is_lost_and_all_is_ordered, (uint64_t seed))
{
    test::RandomBatch random(seed);
    const uint64_t window_ns = 1ULL << 50;
    Sorter sorter(window_ns);
    Batch all, given, ready;
    for (uint64_t round = 1; round < 12; round++) {
        Batch batch = random.make(random.any(20), random.any(5));
        test::append(all, batch);
        sorter.push(batch);
        sorter.pop(round << 58, ready);
        decode::for_each_kind(ready, [&](const auto &records, bt_kind) {
            for (size_t i = 1; i < records.size(); i++)
                RC_ASSERT(decode::time_of(records[i - 1]) <= decode::time_of(records[i]));
        });
        test::append(given, ready);
    }
    sorter.flush(ready);
    test::append(given, ready);
    RC_ASSERT(given.size() == all.size());
    // As many steps back in what was given out as were counted late, at the most.
    uint64_t back = 0;
    decode::for_each_kind(given, [&](const auto &records, bt_kind) {
        for (size_t i = 1; i < records.size(); i++)
            back += decode::time_of(records[i]) < decode::time_of(records[i - 1]);
    });
    RC_ASSERT(back <= sorter.counts().late);
}

} // namespace
} // namespace blktag::order
