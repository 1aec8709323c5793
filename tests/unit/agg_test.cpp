// SPDX-License-Identifier: GPL-2.0-or-later
// Counting: bins, quantiles, lifecycles, counters, gauges, merging, bounds. Input: records made
// here. Output: results.
#include "agg/make_snapshot.hpp"
#include "support/trace_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/json.hpp"

namespace {

using namespace blktag;
using agg::LogAxis;

using test::snapshot_of;

bt_io_long io_at(uint64_t get_ns, uint64_t device_ns)
{
    bt_io_long io{};
    io.start_ns = io.get_ns = io.issue_ns = get_ns;
    io.complete_ns = io.h.ts_ns = get_ns + device_ns;
    io.bytes = 4096;
    return io;
}

TEST(LogAxis, BinsMeetWithoutGapsAndStayNarrow)
{
    for (int bin = 0; bin < LogAxis::size(); ++bin) {
        const uint64_t low = LogAxis::low(bin);
        const uint64_t high = LogAxis::low(bin + 1);
        ASSERT_EQ(LogAxis().index(low), bin);
        ASSERT_EQ(LogAxis().index(high - 1), bin);
        if (high - low > 1) {
            ASSERT_LE(static_cast<double>(high - low), 0.0625 * static_cast<double>(low)) << bin;
        }
    }
    EXPECT_EQ(LogAxis().index(uint64_t{1} << LogAxis::max_bits), LogAxis::size());
    EXPECT_EQ(LogAxis().index(UINT64_MAX), LogAxis::size());
}

RC_GTEST_PROP(LogAxis, IndexIsMonotonic, (uint64_t a, uint64_t b))
{
    RC_ASSERT((a <= b) == (LogAxis().index(a) <= LogAxis().index(b)) ||
              LogAxis().index(a) == LogAxis().index(b));
}

TEST(Histogram, KeepsExactCountSumMinMax)
{
    agg::Budget budget;
    agg::Histogram histogram;
    for (const uint64_t v : {0UL, 5UL, 5UL, 1000UL, 1UL << 60})
        histogram.fill(v, budget);
    const Distribution d = histogram.distribution();
    EXPECT_EQ(d.count, 5U);
    EXPECT_EQ(d.sum_ns, 1010U + (1UL << 60));
    EXPECT_EQ(d.min_ns, 0U);
    EXPECT_EQ(d.max_ns, 1UL << 60);
    ASSERT_EQ(d.bins.size(), 4U);
    EXPECT_EQ(d.bins[1], (Bin{5, 6, 2}));
    EXPECT_EQ(d.bins[3].high_ns, (1UL << 60) + 1);
}

TEST(Histogram, WithoutMemoryForBinsStillCounts)
{
    agg::Budget budget{.histograms_left = 0};
    agg::Histogram histogram;
    histogram.fill(7, budget);
    histogram.fill(9, budget);
    const Distribution d = histogram.distribution();
    EXPECT_EQ(d.count, 2U);
    EXPECT_EQ(d.max_ns, 9U);
    EXPECT_TRUE(d.bins.empty());
    EXPECT_EQ(d.quantile_ns(0.5), std::nullopt);
    EXPECT_EQ(budget.undetailed, 2U);
}

TEST(Distribution, QuantilesOfNothingOneAndMany)
{
    agg::Budget budget;
    EXPECT_EQ(Distribution().quantile_ns(0.5), std::nullopt);
    EXPECT_EQ(Distribution().mean_ns(), std::nullopt);
    agg::Histogram one;
    one.fill(123456, budget);
    for (const double q : {0.0, 0.5, 0.99, 1.0})
        EXPECT_EQ(one.distribution().quantile_ns(q), 123456U);
    agg::Histogram many;
    for (uint64_t v = 1; v <= 10000; ++v)
        many.fill(v * 100, budget);
    EXPECT_NEAR(static_cast<double>(*many.distribution().quantile_ns(0.5)), 500000, 500000 * 0.01);
    EXPECT_NEAR(static_cast<double>(*many.distribution().quantile_ns(0.99)), 990000, 990000 * 0.01);
    EXPECT_EQ(many.distribution().quantile_ns(1), 1000000U);
}

RC_GTEST_PROP(Distribution, MergeIsTheHistogramOfBoth,
              (std::vector<uint32_t> a, std::vector<uint32_t> b))
{
    agg::Budget budget;
    agg::Histogram left;
    agg::Histogram right;
    agg::Histogram both;
    for (const uint32_t v : a) {
        left.fill(v, budget);
        both.fill(v, budget);
    }
    for (const uint32_t v : b) {
        right.fill(v, budget);
        both.fill(v, budget);
    }
    Distribution merged = left.distribution();
    merged.merge(right.distribution());
    RC_ASSERT(merged == both.distribution());
    left.merge(right, budget);
    RC_ASSERT(left.distribution() == both.distribution());
}

TEST(Aggregate, GetsAreSingleAndBatchWithoutInactiveRetries)
{
    const Snapshot s = snapshot_of(test::parse_trace(
        "counters ts=1s hctx=0 gets_single=10 gets_batch=5 inactive_retries=2 issues=13\n"
        "counters ts=2s hctx=0 gets_single=20 gets_batch=5 inactive_retries=2 issues=23\n"
        "counters ts=2s hctx=1 gets_single=1\n"));
    EXPECT_EQ(s.totals.gets, 24U);
    EXPECT_EQ(s.totals.issued, 23U);
    EXPECT_EQ(s.totals.completed, 0U);
    EXPECT_TRUE(s.measured("completes"));
}

TEST(Aggregate, UnknownCountersAreNotZero)
{
    const Snapshot s =
        snapshot_of(test::parse_trace("unmeasured restarts dispatch_waits\n"
                                      "counters ts=2s hctx=0 known=40 gets_single=1\n"));
    EXPECT_EQ(s.totals.gets, 1U);
    EXPECT_EQ(s.totals.dispatch_waits, std::nullopt);
    EXPECT_EQ(s.totals.budget_refused, std::nullopt); // beyond what the recorder knew
    EXPECT_FALSE(s.measured("budget_refused"));
    EXPECT_FALSE(s.measured("restarts"));
    EXPECT_FALSE(s.measured("gauge"));
}

TEST(Aggregate, RecordsWithoutCountersGiveNoTotals)
{
    const Snapshot s = snapshot_of(
        test::parse_trace("io hctx=0 get=1s issue=1.1s complete=1.2s put=1.3s bytes=512\n"));
    EXPECT_EQ(s.totals.completed, std::nullopt);
    ASSERT_TRUE(s.latency);
    EXPECT_EQ(s.latency->whole.count, 1U);
    ASSERT_FALSE(s.notes.empty());
}

TEST(Aggregate, CountersWithoutRecordsStand)
{
    const Snapshot s = snapshot_of(test::parse_trace(
        "books produced=9 lost=9 lost.4=9\n"
        "counters ts=1s hctx=0 submit_waits=9 waits_exhausted=9 submit_wait_ns=900\n"));
    EXPECT_EQ(s.waits.count, 9U);
    EXPECT_EQ(s.waits.by_cause[BT_CAUSE_EXHAUSTED].count, 9U);
    EXPECT_EQ(s.waits.time.count, 0U);
    EXPECT_EQ(s.latency, std::nullopt);
    EXPECT_TRUE(s.impaired());
    for (const Note &note : s.notes)
        EXPECT_NE(note.id, "disagree_waits") << "lost records explain the difference";
}

TEST(Aggregate, DisagreementBeyondLossesIsNoted)
{
    const std::string whole = "info start=0 end=10s\nbooks produced=1 recorded=1 complete=1\n"
                              "wait hctx=0 tid=1 start=1s ts=1.5s\n";
    const auto noted = [](const Snapshot &s) {
        return std::any_of(s.notes.begin(), s.notes.end(),
                           [](const Note &n) { return n.id == "disagree_waits"; });
    };
    EXPECT_TRUE(
        noted(snapshot_of(test::parse_trace(whole + "counters ts=2s hctx=0 submit_waits=3\n"))));
    EXPECT_FALSE(
        noted(snapshot_of(test::parse_trace(whole + "counters ts=2s hctx=0 submit_waits=1\n"))));
}

TEST(Aggregate, WaitsWonWithoutSleepAreNoSubmitWaits)
{
    const Snapshot s =
        snapshot_of(test::parse_trace("wait hctx=0 tid=1 start=1s ts=1.1s flags=won\n"
                                      "wait hctx=0 tid=1 start=1s ts=1.2s\n"));
    EXPECT_EQ(s.waits.time.count, 1U);
    ASSERT_EQ(s.top_waiters.size(), 1U);
    EXPECT_EQ(s.top_waiters[0].waits, 1U);
}

TEST(Aggregate, WindowTakesDifferencesAndRecordsInside)
{
    const std::string text = "info start=1s end=11s\n"
                             "counters ts=2s hctx=0 gets_single=10\n"
                             "counters ts=5s hctx=0 gets_single=40\n"
                             "counters ts=9s hctx=0 gets_single=90\n"
                             "io repeat=9 step=1s hctx=0 get=1s issue=1s complete=1.5s put=1.5s\n";
    const Snapshot s = snapshot_of(test::parse_trace(text), {3'000'000'000, 6'000'000'000});
    EXPECT_EQ(s.totals.gets, 30U);
    EXPECT_EQ(s.latency->whole.count, 3U); // put at 3.5, 4.5, 5.5
    EXPECT_EQ(s.recording.duration_ns, 3'000'000'000U);
    EXPECT_EQ(s.recording.from_ns, 2'000'000'000U);
}

TEST(Aggregate, APartWithoutCountersHasNoTotals)
{
    const Snapshot s = snapshot_of(test::parse_trace("info start=1s end=11s\n"
                                                     "counters ts=2s hctx=0 gets_single=10\n"
                                                     "counters ts=9s hctx=0 gets_single=90\n"),
                                   {3'000'000'000, 6'000'000'000});
    EXPECT_EQ(s.totals.gets, std::nullopt);
    EXPECT_FALSE(s.measured("gets_single"));
}

TEST(Aggregate, ACutFileSaysHowOldItsTotalsAre)
{
    const Snapshot s = snapshot_of(test::parse_trace("counters ts=2s hctx=0 gets_single=10\n"
                                                     "wait hctx=0 tid=1 start=1s ts=5s\n"));
    ASSERT_EQ(s.notes.size(), 2U);
    EXPECT_EQ(s.notes[1].id, "old_counters");
    EXPECT_NE(s.notes[1].text.find("3.00 s"), std::string::npos) << s.notes[1].text;
}

TEST(Aggregate, CountersThatFallKeepTheLargerValue)
{
    const Snapshot s = snapshot_of(test::parse_trace("counters ts=1s hctx=0 gets_single=10\n"
                                                     "counters ts=2s hctx=0 gets_single=4\n"));
    EXPECT_EQ(s.totals.gets, 10U);
    EXPECT_EQ(s.anomalies.counter_backwards, 1U);
}

TEST(Aggregate, GaugesAreWeightedByTime)
{
    const Snapshot s = snapshot_of(test::parse_trace("space id=3 set=1 depth=64\n"
                                                     "gauge ts=1s space=3 depth=64 held=10\n"
                                                     "gauge ts=2s space=3 depth=64 held=64\n"
                                                     "gauge ts=5s space=3 depth=64 held=0\n"
                                                     "gauge ts=4s space=3 depth=64 held=60\n"));
    ASSERT_EQ(s.sets.size(), 1U);
    ASSERT_TRUE(s.sets[0].spaces[0].gauge);
    const SpaceGauge &gauge = *s.sets[0].spaces[0].gauge;
    EXPECT_DOUBLE_EQ(gauge.held_mean, (10 * 1 + 64 * 3) / 4.0);
    EXPECT_DOUBLE_EQ(gauge.full_share, 0.75);
    EXPECT_EQ(gauge.held_first, 10U);
    EXPECT_EQ(gauge.held_peak, 64U);
    EXPECT_EQ(gauge.samples, 3U);
    const Snapshot busier = snapshot_of(
        test::parse_trace("gauge ts=1s space=3 depth=64 held=10\n"
                          "wait hctx=0 space=3 tid=1 start=1s ts=2s depth=64 held=60\n"));
    EXPECT_EQ(busier.sets[0].spaces[0].gauge->held_peak, 60U) << "no sample met it, a wait did";
    EXPECT_EQ(s.anomalies.time_backwards, 1U);
}

TEST(Aggregate, SequentialRequestsAreSeenOutOfOrder)
{
    agg::Aggregate aggregate;
    Batch batch;
    for (uint64_t i = 0; i < 1000; ++i) {
        bt_io_long io = io_at(1000 + i, 10);
        io.sector = ((i & ~3UL) + (3 - (i & 3))) * 8; // fours, each completed in reverse
        batch.io.push_back(io);
    }
    aggregate.add(batch);
    EXPECT_GE(aggregate.io_cells().back().sequential, 990U);
    agg::Aggregate random;
    for (bt_io_long &io : batch.io)
        io.sector = (io.sector * 2654435761U) % (1UL << 30) & ~7UL;
    random.add(batch);
    EXPECT_LE(random.io_cells().back().sequential, 20U);
}

TEST(Aggregate, AbsurdFieldsAreCountedNeverIndexed)
{
    Batch batch;
    bt_io_long io = io_at(1000, 10);
    io.hctx_id = BT_NO_ID;
    io.op = 200;
    batch.io.push_back(io);
    io = io_at(1, 10);
    io.h.ts_ns = UINT64_MAX;
    batch.io.push_back(io);
    bt_wait wait{};
    wait.hctx_id = BT_NO_ID;
    wait.cause = 99;
    batch.waits.push_back(wait);
    wait.cause = 0;
    batch.waits.push_back(wait);
    bt_gauge gauge{};
    gauge.space_id = BT_NO_ID;
    batch.gauges.push_back(gauge);
    bt_budget budget{};
    budget.queue_id = BT_NO_ID;
    batch.budgets.push_back(budget);
    CounterSnapshot counters{.ts_ns = 1, .id = BT_NO_ID, .what = BT_ID_HCTX, .value = {1, 2, 3}};
    batch.counters.push_back(counters);
    counters = {.ts_ns = 1, .id = 1, .what = 77, .value = std::vector<uint64_t>(5000, 1)};
    batch.counters.push_back(counters);
    bt_ident_rec ident{};
    ident.id = BT_NO_ID;
    batch.idents.push_back(ident);
    batch.topology_json.emplace_back("[[[[");
    agg::Aggregate aggregate;
    aggregate.add(batch);
    const TraceInfo info;
    const Books books;
    const std::vector<Damage> damage;
    const Snapshot s = agg::make_snapshot(aggregate, {info, books, damage});
    EXPECT_EQ(s.anomalies.absurd, 7U);
    EXPECT_EQ(s.waits.time.count, 1U);
    EXPECT_EQ(s.anomalies.unparsed_topology, 1U);
}

TEST(Aggregate, MemoryForCellsIsBounded)
{
    agg::Aggregate aggregate({}, {.histograms = 8, .io_cells = 4});
    Batch batch;
    for (uint16_t id = 0; id < 100; ++id) {
        bt_io_long io = io_at(1000 + id, 10 + id);
        io.hctx_id = id;
        batch.io.push_back(io);
    }
    aggregate.add(batch);
    EXPECT_EQ(aggregate.io_cells().size(), 4U + BT_NR_OPS);
    const TraceInfo info;
    const Books books;
    const std::vector<Damage> damage;
    const Snapshot s = agg::make_snapshot(aggregate, {info, books, damage});
    ASSERT_TRUE(s.latency);
    EXPECT_EQ(s.latency->whole.count, 100U) << "nothing is left out of the whole";
    EXPECT_GT(s.anomalies.undetailed, 0U);
}

TEST(Aggregate, ManyTasksFoldIntoOthersAndTheTopStays)
{
    agg::Aggregate aggregate;
    Batch batch;
    uint64_t held = 0;
    for (uint32_t tid = 1; tid <= 100000; ++tid) {
        bt_io_long io = io_at(1000 + tid, tid == 77 ? 1'000'000 : 10);
        io.tid = tid;
        held += io.h.ts_ns - io.get_ns;
        batch.io.push_back(io);
    }
    aggregate.add(batch);
    uint64_t sum = 0;
    for (const agg::TaskSums &sums : aggregate.task_sums())
        sum += sums.held_ns;
    EXPECT_EQ(sum, held);
    EXPECT_LE(aggregate.tasks().tasks().size(), model::TaskTable::capacity);
    const TraceInfo info;
    const Books books;
    const std::vector<Damage> damage;
    const Snapshot s = agg::make_snapshot(aggregate, {info, books, damage});
    ASSERT_FALSE(s.top_holders.empty());
    EXPECT_EQ(s.top_holders[0].tid, 77U);
    EXPECT_GT(s.anomalies.tasks_summed, 0U);
}

// A whole recording and its pieces must give the same report, to the byte.
TEST(Aggregate, MergedPiecesEqualTheWhole)
{
    const std::string head =
        "info start=0 end=20s\nbooks complete=1\n"
        "topology {\"queues\":[{\"queue_id\":0,\"name\":\"a\",\"dev\":\"8:0\",\"set_id\":0}]}\n";
    const std::string first =
        "queue id=0 set=0 major=8 nr_requests=4 nr_hw_queues=1\n"
        "space id=0 set=0 depth=4\nhctx id=0 queue=0 num=0 space=0\n"
        "task ts=1s tid=5 start=1 comm=old\n"
        "io repeat=50 step=10ms hctx=0 tid=5 op=read bytes=4096 get=1s issue=1.001s "
        "complete=1.002s put=1.003s\n"
        "wait hctx=0 tid=5 start=1s ts=1.4s held=4 depth=4\n"
        "restart hctx=0 marked=1s ts=1.1s\nrun hctx=0 start=1s ts=1.0001s issued=2\n"
        "gauge ts=1s space=0 depth=4 held=4\ngauge ts=2s space=0 depth=4 held=1\n"
        "hgauge ts=1s hctx=0 flags=restart,dispatch active=3\n"
        "counters ts=2s hctx=0 gets_single=50 submit_waits=1\n"
        "budget ts=1s queue=0 in_use=3 limit=3\n";
    const std::string second =
        "task ts=10s tid=5 start=2 comm=new\n"
        "io repeat=9 step=10ms hctx=0 tid=5 op=write bytes=512 get=10.5s issue=10.6s "
        "complete=10.7s put=10.8s\n"
        "wait hctx=0 tid=5 start=11s ts=11.9s cause=stuck held=1 depth=4\n"
        "dwait hctx=0 start=11s ts=11.5s cause=reserved\n"
        "other queue=0 tid=5 what=freeze start=11s ts=12s\n"
        "gauge ts=12s space=0 depth=4 held=2\n"
        "hgauge ts=12s hctx=0 active=1\n"
        "counters ts=12s hctx=0 gets_single=59 submit_waits=2\n"
        "queue id=0 flags=gone\n";
    const test::TraceText whole = test::parse_trace(head + first + second);
    test::TraceText a = test::parse_trace(head + first);
    test::TraceText b = test::parse_trace(second);
    agg::Aggregate at_once;
    at_once.start(whole.info);
    at_once.add(a.batch);
    at_once.add(b.batch);
    agg::Aggregate left;
    agg::Aggregate right;
    left.start(whole.info);
    left.add(a.batch);
    right.add(b.batch);
    agg::Aggregate merged;
    merged.merge(left);
    merged.merge(right);
    const agg::Recording recording{whole.info, whole.books, whole.damage};
    EXPECT_TRUE(report::json_report(agg::make_snapshot(merged, recording)) ==
                report::json_report(agg::make_snapshot(at_once, recording)))
        << "the JSON of the two differs";
}

} // namespace
