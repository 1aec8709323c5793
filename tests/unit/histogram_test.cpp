// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's histograms against the recorded ones: the same bins, the same Distribution. Input:
// durations. Output: test results.
#include "agg/aggregate.hpp"
#include "agg/difference.hpp"
#include "agg/make_snapshot.hpp"
#include "agg/log_axis.hpp"

#include "blktag/knobs.h"

#include <gtest/gtest.h>
#include <random>

namespace {

using namespace blktag;

TEST(KernelHistogram, bins_are_those_of_the_axis)
{
    const agg::LogAxis axis;
    for (unsigned bit = 0; bit < 64; ++bit)
        for (const int64_t by : {-2, -1, 0, 1, 2}) {
            const uint64_t v = (uint64_t{1} << bit) + static_cast<uint64_t>(by);
            EXPECT_EQ(bt_hist_bin(v), static_cast<uint32_t>(axis.index(v))) << v;
        }
    for (int bin = 0; bin < agg::LogAxis::size(); ++bin) {
        EXPECT_EQ(bt_hist_bin(agg::LogAxis::low(bin)), static_cast<uint32_t>(bin));
        EXPECT_EQ(bt_hist_bin(agg::LogAxis::low(bin + 1) - 1), static_cast<uint32_t>(bin));
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 200'000; ++i) {
        const uint64_t v = random() >> (random() % 64);
        ASSERT_EQ(bt_hist_bin(v), static_cast<uint32_t>(axis.index(v))) << v;
    }
}

// As the kernel would have summed these durations up, in two looks.
std::array<HistogramDelta::Part, 2> summed(const std::vector<uint64_t> &durations)
{
    std::array<HistogramDelta::Part, 2> out;
    uint64_t max_ns = 0;
    for (size_t i = 0; i < durations.size(); ++i) {
        HistogramDelta::Part &part = out[i < durations.size() / 2 ? 0 : 1];
        max_ns = std::max(max_ns, durations[i]);
        part.max_ns = max_ns;
        part.sum_ns += durations[i];
        if (durations[i] == 0)
            ++part.zeros;
        else
            part.bins.push_back({static_cast<uint16_t>(bt_hist_bin(durations[i])), 1});
    }
    return out;
}

TEST(KernelHistogram, gives_the_same_distribution_as_records)
{
    std::mt19937_64 random(2);
    agg::Budget budget;
    agg::Histogram recorded, kernel;
    std::vector<uint64_t> durations;
    for (int i = 0; i < 5000; ++i)
        durations.push_back(i % 7 == 0 ? 0 : random() >> (20 + random() % 40));
    for (const uint64_t ns : durations)
        recorded.fill(ns, budget);
    for (const HistogramDelta::Part &part : summed(durations))
        kernel.add(part, budget);
    const Distribution a = recorded.distribution();
    const Distribution b = kernel.distribution();
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.sum_ns, b.sum_ns);
    EXPECT_EQ(a.max_ns, b.max_ns);
    EXPECT_EQ(a.bins, b.bins);
    EXPECT_EQ(a.quantile_ns(0.99), b.quantile_ns(0.99));
}

TEST(KernelHistogram, requests_and_waits_become_what_records_would_be)
{
    agg::Aggregate aggregate;
    Batch batch;
    HistogramDelta io;
    io.ts_ns = 5;
    io.hctx_id = 3;
    io.kind = BT_HB_IO;
    io.op = BT_OP_WRITE;
    io.requests = 10;
    io.bytes = 40960;
    io.of[BT_H_WHOLE].bins = {{static_cast<uint16_t>(bt_hist_bin(1000)), 10}};
    io.of[BT_H_DEVICE].bins = {{static_cast<uint16_t>(bt_hist_bin(900)), 10}};
    io.of[BT_H_SUBMIT_WAIT].zeros = 10;
    batch.histograms.push_back(io);
    HistogramDelta wait;
    wait.ts_ns = 5;
    wait.hctx_id = 3;
    wait.kind = BT_HB_WAIT;
    wait.of[BT_CAUSE_FAIR_SHARE].bins = {{static_cast<uint16_t>(bt_hist_bin(7000)), 4}};
    batch.histograms.push_back(wait);
    aggregate.add(batch);
    const agg::IoCell *cell = aggregate.io_cell(3, BT_OP_WRITE);
    ASSERT_NE(cell, nullptr);
    EXPECT_EQ(cell->requests, 10U);
    EXPECT_FALSE(cell->recorded);
    EXPECT_EQ(cell->phase[BT_H_SUBMIT_WAIT].distribution().count, 10U);
    EXPECT_EQ(aggregate.rare(3)->waits[BT_CAUSE_FAIR_SHARE].time.distribution().count, 4U);
    EXPECT_EQ(aggregate.counts().waits, 4U);
    const TraceInfo info;
    const Books books;
    const std::vector<Damage> damage;
    const Snapshot snapshot = agg::make_snapshot(aggregate, {info, books, damage});
    ASSERT_EQ(snapshot.ops.size(), 1U);
    EXPECT_FALSE(snapshot.ops[0].sequential); // nothing recorded where they lay
    EXPECT_FALSE(snapshot.waits.by_cause[BT_CAUSE_FAIR_SHARE].at_longest);
}

TEST(Difference, is_what_came_between)
{
    std::mt19937_64 random(3);
    agg::Budget budget;
    agg::Histogram all, second;
    for (int i = 0; i < 2000; ++i)
        all.fill(random() % 1'000'000, budget);
    const Distribution earlier = all.distribution();
    for (int i = 0; i < 1000; ++i) {
        const uint64_t ns = 1000 + random() % 500'000;
        all.fill(ns, budget);
        second.fill(ns, budget);
    }
    const Distribution between = agg::difference(all.distribution(), earlier);
    const Distribution alone = second.distribution();
    EXPECT_EQ(between.count, alone.count);
    EXPECT_EQ(between.sum_ns, alone.sum_ns);
    EXPECT_EQ(between.bins, alone.bins);
    EXPECT_GE(between.max_ns, alone.max_ns);
    EXPECT_LE(between.max_ns, alone.max_ns + alone.max_ns / 16 + 1);
    EXPECT_LE(between.min_ns, alone.min_ns);
}

} // namespace
