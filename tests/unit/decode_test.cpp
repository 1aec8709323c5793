// SPDX-License-Identifier: GPL-2.0-or-later
// Raw records: sizes, kinds, enums, times; the short form made long. Input: bytes as in a ring.
// Output: verdicts.
#include "decode/decoder.hpp"
#include "decode/merge_runs.hpp"
#include "decode/validate.hpp"
#include "support/random_batch.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace blktag::decode {
namespace {

using test::RandomBatch;

template<class T>
std::vector<std::byte> bytes_of(const T &record, size_t size = sizeof(T))
{
    std::vector<std::byte> bytes(size);
    std::memcpy(bytes.data(), &record, std::min(size, sizeof(T)));
    const auto stored = static_cast<uint16_t>(size);
    std::memcpy(bytes.data(), &stored, sizeof(stored));
    return bytes;
}

bt_io short_io()
{
    bt_io io{};
    io.h = {sizeof(io), BT_K_IO, 0, 3, 1'000'000};
    io.sector = 4096;
    io.bytes = 8192;
    io.tid = 77;
    io.get_to_issue_ns = 100;
    io.issue_to_complete_ns = 5000;
    io.complete_to_put_ns = 20;
    io.hctx_id = 2;
    io.tag = 9;
    io.flags = BT_IO_SYNC;
    io.submit_cpu = 1;
    io.op = BT_OP_WRITE;
    return io;
}

TEST(Decode, short_form_becomes_long)
{
    Decoder decoder;
    Batch batch;
    const auto bytes = bytes_of(short_io());
    EXPECT_EQ(decoder.feed(bytes, batch), bytes.size());
    ASSERT_EQ(batch.io.size(), 1U);
    const bt_io_long &io = batch.io[0];
    EXPECT_EQ(io.h.kind, BT_K_IO_LONG);
    EXPECT_EQ(io.h.size, sizeof(bt_io_long));
    EXPECT_EQ(io.complete_ns, 999'980U);
    EXPECT_EQ(io.issue_ns, 994'980U);
    EXPECT_EQ(io.get_ns, 994'880U);
    EXPECT_EQ(io.start_ns, io.get_ns);
    EXPECT_EQ(io.insert_ns, 0U);
    EXPECT_EQ(io.sched_tag, BT_NO_TAG);
    EXPECT_EQ(io.complete_cpu, 3U);
    EXPECT_EQ(io.submit_cpu, 1U);
    EXPECT_EQ(io.op, BT_OP_WRITE);
    EXPECT_EQ(decoder.counts().by_kind[BT_K_IO], 1U);
}

TEST(Decode, longer_records_of_a_newer_producer)
{
    Decoder decoder;
    Batch batch;
    std::vector<std::byte> bytes = bytes_of(short_io(), sizeof(bt_io) + 16);
    const auto next = bytes_of(short_io());
    bytes.insert(bytes.end(), next.begin(), next.end());
    EXPECT_EQ(decoder.feed(bytes, batch), bytes.size());
    EXPECT_EQ(batch.io.size(), 2U);
}

TEST(Decode, stops_at_what_is_not_ready_or_not_whole)
{
    Decoder decoder;
    Batch batch;
    std::vector<std::byte> bytes = bytes_of(short_io());
    bytes.resize(bytes.size() + 64); // size 0: not ready
    EXPECT_EQ(decoder.feed(bytes, batch), sizeof(bt_io));
    EXPECT_EQ(decoder.feed(std::span(bytes).first(sizeof(bt_io) - 8), batch), 0U);
    EXPECT_EQ(decoder.feed({}, batch), 0U);
    EXPECT_EQ(batch.io.size(), 1U);
    EXPECT_EQ(decoder.counts().malformed, 0U);
}

TEST(Decode, unknown_kinds_are_skipped_by_size)
{
    Decoder decoder;
    Batch batch;
    bt_io io = short_io();
    io.h.kind = 99;
    std::vector<std::byte> bytes = bytes_of(io, 24);
    const auto next = bytes_of(short_io());
    bytes.insert(bytes.end(), next.begin(), next.end());
    EXPECT_EQ(decoder.feed(bytes, batch), bytes.size());
    EXPECT_EQ(decoder.counts().unknown, 1U);
    EXPECT_EQ(batch.io.size(), 1U);
}

TEST(Decode, impossible_values_are_refused)
{
    const auto refused = [](auto change) {
        Decoder decoder;
        Batch batch;
        bt_io io = short_io();
        change(io);
        decoder.feed(bytes_of(io), batch);
        return decoder.counts().malformed == 1 && batch.size() == 0;
    };
    EXPECT_FALSE(refused([](bt_io &) {}));
    EXPECT_TRUE(refused([](bt_io &io) { io.op = BT_NR_OPS; }));
    EXPECT_TRUE(refused([](bt_io &io) { io.status = BT_ST_UNKNOWN + 1; }));
    EXPECT_TRUE(refused([](bt_io &io) { io.tag = 10240; }));
    EXPECT_FALSE(refused([](bt_io &io) { io.tag = BT_NO_TAG; }));
    EXPECT_TRUE(refused([](bt_io &io) { io.h.cpu = 70'000; }));
    EXPECT_TRUE(refused([](bt_io &io) { io.issue_to_complete_ns = 2'000'000; }))
        << "before time began";
    EXPECT_TRUE(refused([](bt_io &io) { io.h.ts_ns = UINT64_MAX; }));
}

TEST(Decode, sizes_that_cannot_be_use_up_the_rest)
{
    for (const uint16_t size : {uint16_t{8}, uint16_t{20}, uint16_t{57}}) {
        Decoder decoder;
        Batch batch;
        std::vector<std::byte> bytes = bytes_of(short_io());
        std::memcpy(bytes.data(), &size, sizeof(size));
        EXPECT_EQ(decoder.feed(bytes, batch), bytes.size());
        EXPECT_EQ(decoder.counts().malformed, 1U);
        EXPECT_EQ(decoder.counts().malformed_bytes, bytes.size());
    }
    Decoder decoder;
    Batch batch;
    // Whole, but too short for its kind: refused by itself, the next one is read.
    std::vector<std::byte> bytes = bytes_of(short_io(), 48);
    const auto next = bytes_of(short_io());
    bytes.insert(bytes.end(), next.begin(), next.end());
    decoder.feed(bytes, batch);
    EXPECT_EQ(decoder.counts().malformed, 1U);
    EXPECT_EQ(batch.io.size(), 1U);
}

TEST(Decode, counters_of_another_version)
{
    Decoder decoder;
    Batch batch;
    bt_counters counters{};
    counters.h = {0, BT_K_COUNTERS, 0, 0, 5};
    counters.what = BT_ID_HCTX;
    counters.count = 3; // of an older one
    counters.value[2] = 42;
    decoder.feed(bytes_of(counters, 24 + 3 * 8), batch);
    ASSERT_EQ(batch.counters.size(), 1U);
    EXPECT_EQ(batch.counters[0].value, (std::vector<uint64_t>{0, 0, 42}));
    counters.count = BT_NR_COUNTERS + 5; // of a newer one
    decoder.feed(bytes_of(counters, 24 + (BT_NR_COUNTERS + 5) * 8), batch);
    ASSERT_EQ(batch.counters.size(), 2U);
    EXPECT_EQ(batch.counters[1].value.size(), size_t{BT_NR_COUNTERS});
    counters.count = 4; // and one that promises more than it has
    decoder.feed(bytes_of(counters, 24 + 3 * 8), batch);
    EXPECT_EQ(batch.counters.size(), 2U);
    EXPECT_EQ(decoder.counts().malformed, 1U);
}

TEST(Decode, small_clock_differences_are_mended_large_ones_refused)
{
    bt_io_long io{};
    io.h.ts_ns = 100'000'000;
    io.complete_ns = io.h.ts_ns + 50;
    io.issue_ns = 90'000'000;
    EXPECT_EQ(validate(io), Verdict::skewed);
    EXPECT_EQ(io.complete_ns, io.h.ts_ns);
    EXPECT_EQ(validate(io), Verdict::ok) << "mended for good";
    io.issue_ns = io.complete_ns + 10; // later than complete: held back to it
    EXPECT_EQ(validate(io), Verdict::skewed);
    EXPECT_EQ(io.issue_ns, io.complete_ns);
    io.complete_ns = io.h.ts_ns + 2'000'000;
    EXPECT_EQ(validate(io), Verdict::malformed);
}

RC_GTEST_PROP(Decode, all_kinds_pass_through, (uint64_t seed))
{
    RandomBatch random(seed);
    Batch want = random.make(5, 3);
    want.topology_json.clear();
    std::vector<std::byte> bytes;
    for_each_kind(want, [&](const auto &records, bt_kind) {
        for (const auto &record : records) {
            if constexpr (requires { record.h; }) {
                const auto one = bytes_of(record);
                bytes.insert(bytes.end(), one.begin(), one.end());
            } else {
                bt_counters raw{};
                raw.h = {0, BT_K_COUNTERS, 0, 0, record.ts_ns};
                raw.id = record.id;
                raw.what = record.what;
                raw.count = static_cast<bt_u32>(record.value.size());
                std::copy(record.value.begin(), record.value.end(), raw.value);
                const auto one = bytes_of(raw, 24 + 8 * record.value.size());
                bytes.insert(bytes.end(), one.begin(), one.end());
            }
        }
    });
    Decoder decoder;
    Batch got;
    RC_ASSERT(decoder.feed(bytes, got) == bytes.size());
    RC_ASSERT(test::difference(want, got) == "");
    RC_ASSERT(decoder.counts().malformed == 0U);
    RC_ASSERT(decoder.counts().skewed == 0U);
}

RC_GTEST_PROP(Decode, any_bytes_are_survived_and_counted, (const std::vector<uint8_t> &bytes))
{
    Decoder decoder;
    Batch batch;
    const size_t used = decoder.feed(std::as_bytes(std::span(bytes)), batch);
    RC_ASSERT(used <= bytes.size());
    const Counts &counts = decoder.counts();
    RC_ASSERT(batch.size() + counts.unknown + counts.malformed <= bytes.size() / 8 + 1);
}

RC_GTEST_PROP(MergeRuns, sorts_and_keeps_equal_ones_in_order, (const std::vector<uint8_t> &times))
{
    std::vector<bt_restart> records;
    for (const uint8_t time : times) {
        bt_restart restart{};
        restart.h.ts_ns = time;
        restart.marked_ns = records.size();
        records.push_back(restart);
    }
    auto want = records;
    std::stable_sort(want.begin(), want.end(),
                     [](const auto &a, const auto &b) { return a.h.ts_ns < b.h.ts_ns; });
    merge_runs(records);
    RC_ASSERT(records.size() == want.size());
    for (size_t i = 0; i < want.size(); i++)
        RC_ASSERT(records[i].marked_ns == want[i].marked_ns);
}

} // namespace
} // namespace blktag::decode
