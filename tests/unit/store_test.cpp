// SPDX-License-Identifier: GPL-2.0-or-later
// The trace file, whole: what goes in comes out. Input: random batches. Output: verdicts.
#include "store/bit_pack.hpp"
#include "store/chunk_reader.hpp"
#include "store/output_file.hpp"
#include "support/trace_bytes.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <thread>

namespace blktag {
namespace {

using namespace test;

Batch joined(const std::vector<Batch> &batches)
{
    Batch all;
    for (const Batch &batch : batches)
        append(all, batch);
    return all;
}

RC_GTEST_PROP(Store, every_kind_survives, (uint64_t seed))
{
    RandomBatch random(seed);
    std::vector<Batch> batches;
    for (size_t i = 0; i < 3; i++)
        batches.push_back(random.make(random.any(60), random.any(20)));
    const ReadBack back = read_trace(write_trace(batches));
    RC_ASSERT(back.error.empty());
    RC_ASSERT(back.damage.empty());
    RC_ASSERT(back.stats.malformed == 0U);
    RC_ASSERT(difference(joined(batches), back.batch) == "");
}

RC_GTEST_PROP(Store, large_chunks_survive, (uint64_t seed))
{
    RandomBatch random(seed);
    const std::vector<Batch> batches{random.make(1500 + random.any(5000), random.any(1500))};
    const ReadBack back = read_trace(write_trace(batches));
    RC_ASSERT(back.damage.empty());
    RC_ASSERT(back.batch.size() == batches[0].size());
    RC_ASSERT(back.stats.malformed == 0U);
    // More than one chunk may have been made, but the order is the same.
    RC_ASSERT(difference(batches[0], back.batch) == "");
}

// What real I/O looks like: a few tasks, narrow times; exercises packed and compressed planes and
// streams.
Batch regular_io(size_t count, bool sequential, uint64_t seed)
{
    RandomBatch random(seed);
    Batch batch;
    uint64_t ts_ns = 1'000'000'000'000, next_sector = 0;
    for (size_t i = 0; i < count; i++) {
        bt_io_long io{};
        io.h = {sizeof(io), BT_K_IO_LONG, 0, static_cast<uint32_t>(random.any(2)), 0};
        ts_ns += random.any(3000);
        io.h.ts_ns = ts_ns;
        io.complete_ns = ts_ns - 300 - random.any(200);
        io.issue_ns = io.complete_ns - (random.any(1000) ? 80'000 + random.any(9000) : 50'000'000);
        io.get_ns = io.start_ns = io.issue_ns - 500 - random.any(300);
        io.sector = sequential ? next_sector : random.any(1U << 20) * 8;
        next_sector += 8;
        io.bytes = 4096;
        io.tid = 100 + static_cast<uint32_t>(random.any(3));
        io.tag = static_cast<uint16_t>(random.any(64));
        io.sched_tag = BT_NO_TAG;
        batch.io.push_back(io);
    }
    return batch;
}

TEST(Store, regular_io_survives_and_is_small)
{
    for (const bool sequential : {false, true}) {
        const std::vector<Batch> batches{regular_io(200'000, sequential, 7)};
        const std::string bytes = write_trace(batches);
        EXPECT_LE(bytes.size(), 200'000U * 10) << "sequential " << sequential;
        const ReadBack back = read_trace(bytes);
        EXPECT_TRUE(back.damage.empty());
        EXPECT_EQ(difference(batches[0], back.batch), "");
        EXPECT_EQ(back.chunks, 4U);
    }
}

TEST(Store, more_combinations_than_the_dictionary_holds)
{
    Batch batch = regular_io(50'000, false, 3);
    for (size_t i = 0; i < batch.io.size(); i++)
        batch.io[i].tid = static_cast<uint32_t>(i);
    const ReadBack back = read_trace(write_trace({batch}));
    EXPECT_EQ(difference(batch, back.batch), "");
    EXPECT_GT(back.chunks, 5U);
}

TEST(Store, records_out_of_order_come_back_sorted)
{
    Batch batch = regular_io(3000, false, 5);
    Batch sorted = batch;
    std::swap_ranges(batch.io.begin(), batch.io.begin() + 1000, batch.io.begin() + 1500);
    // Equal times would keep their written order: give every record its own.
    for (size_t i = 0; i + 1 < sorted.io.size(); i++)
        ASSERT_LE(sorted.io[i].h.ts_ns, sorted.io[i + 1].h.ts_ns);
    const ReadBack back = read_trace(write_trace({batch}));
    ASSERT_EQ(back.batch.io.size(), 3000U);
    for (size_t i = 0; i < 3000; i++)
        EXPECT_EQ(back.batch.io[i].h.ts_ns, sorted.io[i].h.ts_ns);
    EXPECT_TRUE(back.damage.empty());
}

TEST(Store, description_and_books_survive)
{
    RandomBatch random(1);
    const std::vector<Batch> batches{random.make(10, 2)};
    const ReadBack back = read_trace(write_trace(batches));
    const TraceInfo want = sample_info();
    EXPECT_EQ(back.info.kernel_release, want.kernel_release);
    EXPECT_EQ(back.info.argv, want.argv);
    EXPECT_EQ(back.info.command, want.command);
    EXPECT_EQ(back.info.nr_cpus, want.nr_cpus);
    EXPECT_EQ(back.info.start_real_ns, want.start_real_ns);
    EXPECT_EQ(back.info.end_mono_ns, 999U);
    EXPECT_EQ(back.info.filters, want.filters);
    EXPECT_EQ(back.info.not_measured, want.not_measured);
    EXPECT_EQ(back.info.topology_json, want.topology_json);
    ASSERT_EQ(back.info.rungs.size(), 2U);
    EXPECT_EQ(back.info.rungs[1].why, "no scsi");
    EXPECT_EQ(back.books.recorded, batches[0].size());
    EXPECT_EQ(back.books.produced, back.books.recorded + back.books.lost);
    EXPECT_EQ(back.books.missed, 1U);
    ASSERT_EQ(back.books.lost_by_kind.size(), size_t{BT_NR_RING_KINDS});
    EXPECT_EQ(back.books.lost_by_kind[BT_K_IO], 3U);
    EXPECT_TRUE(back.books.complete);
    EXPECT_TRUE(back.stats.has_end);
}

TEST(Store, same_records_same_bytes)
{
    RandomBatch a(9), b(9);
    EXPECT_EQ(write_trace({a.make(5000, 30)}), write_trace({b.make(5000, 30)}));
}

TEST(Store, a_trace_without_records)
{
    const ReadBack back = read_trace(write_trace({}));
    EXPECT_EQ(back.error, "");
    EXPECT_TRUE(back.damage.empty());
    EXPECT_TRUE(back.books.complete);
    EXPECT_EQ(back.batch.size(), 0U);
}

TEST(Store, reads_from_a_pipe_and_writes_to_one)
{
    const std::vector<Batch> batches{regular_io(30'000, false, 2)};
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    base::Fd read_end(ends[0]);
    std::thread writing([&] {
        const TraceInfo info = sample_info();
        auto writer = store::Writer::open(base::Fd(ends[1]), info, {});
        EXPECT_TRUE((*writer)->put(batches[0]));
        EXPECT_TRUE((*writer)->finish(info, sample_books(30'000)));
    });
    const ReadBack back = read_trace(std::move(read_end));
    writing.join();
    EXPECT_EQ(back.error, "");
    EXPECT_TRUE(back.damage.empty());
    EXPECT_EQ(difference(batches[0], back.batch), "");
}

TEST(Store, waiting_records_are_written_within_the_interval)
{
    base::Fd fd = memory_file();
    base::Fd keep(::dup(fd.get()));
    const TraceInfo info = sample_info();
    auto writer = store::Writer::open(std::move(fd), info, {});
    ASSERT_TRUE((*writer)->put(regular_io(10, false, 1)));
    ASSERT_TRUE((*writer)->tick(5'000'000'000));
    EXPECT_EQ((*writer)->records_written(), 0U);
    ASSERT_TRUE((*writer)->tick(5'950'000'000));
    EXPECT_EQ((*writer)->records_written(), 10U);
    // As SIGKILL leaves it: readable, and known to be cut.
    const ReadBack back = read_trace(content(keep.get()));
    EXPECT_EQ(back.batch.io.size(), 10U);
    EXPECT_FALSE(back.books.complete);
    ASSERT_EQ(back.damage.size(), 1U);
    EXPECT_EQ(back.damage[0].length_bytes, 0U);
}

TEST(Store, chunk_reader_gives_each_chunk_with_and_without_an_index)
{
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("blktag-store-test-" + std::to_string(::getpid()));
    const std::vector<Batch> batches{regular_io(150'000, false, 2)};
    const std::string bytes = write_trace(batches);
    for (const size_t cut : {size_t{0}, size_t{20}}) {
        {
            base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
            size_t written = 0;
            const auto part = std::as_bytes(std::span(bytes)).first(bytes.size() - cut);
            ASSERT_EQ(base::write_all(fd.get(), part, written), 0);
        }
        auto reader = store::ChunkReader::open(path);
        ASSERT_TRUE(reader);
        EXPECT_EQ(reader->damage().empty(), cut == 0);
        Batch all, batch;
        store::ChunkReader::Scratch scratch;
        for (size_t i = reader->chunks().size(); i-- > 0;) {
            ASSERT_TRUE(reader->decode(i, batch, scratch));
            EXPECT_EQ(batch.io.size(), reader->chunks()[i].summary.io_records);
            EXPECT_EQ(batch.io.front().h.ts_ns, reader->chunks()[i].summary.first_ts_ns);
            EXPECT_EQ(batch.io.back().h.ts_ns, reader->chunks()[i].summary.last_ts_ns);
            append(batch, all);
            std::swap(all, batch);
        }
        EXPECT_EQ(difference(batches[0], all), "");
    }
    std::filesystem::remove(path);
}

TEST(Store, failed_write_leaves_whole_frames)
{
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    base::Fd fd = memory_file();
    base::Fd keep(::dup(fd.get()));
    auto writer = store::Writer::open(std::move(fd), sample_info(), {.name = "x.tag"});
    const Batch batch = regular_io(65'536, false, 1);
    rlimit tight{1'000'000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &tight);
    std::expected<void, Error> put;
    for (int i = 0; i < 4 && put; i++)
        put = (*writer)->put(batch);
    ::setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(put);
    EXPECT_EQ((*writer)->failed_errno(), EFBIG);
    EXPECT_FALSE((*writer)->put(batch)) << "an error is final";
    const std::string bytes = content(keep.get());
    EXPECT_EQ(bytes.size(), (*writer)->bytes_written());
    const ReadBack back = read_trace(bytes);
    EXPECT_EQ(back.batch.io.size(), (*writer)->records_written());
    EXPECT_GT(back.batch.io.size(), 0U);
}

TEST(Store, full_disk_is_told_exactly)
{
    base::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(full.valid());
    auto writer = store::Writer::open(std::move(full), sample_info(), {.name = "x.tag"});
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().what, "cannot write x.tag: No space left on device");
    EXPECT_NE(writer.error().remedy, "");
}

TEST(Store, output_is_neither_replaced_nor_followed)
{
    namespace fs = std::filesystem;
    const fs::path dir =
        fs::temp_directory_path() / ("blktag-output-test-" + std::to_string(::getpid()));
    fs::create_directory(dir);
    const fs::path file = dir / "a.tag", link = dir / "b.tag";
    EXPECT_TRUE(store::create_output(file, false));
    EXPECT_FALSE(store::create_output(file, false));
    EXPECT_TRUE(store::create_output(file, true));
    fs::create_symlink("elsewhere", link);
    EXPECT_FALSE(store::create_output(link, false));
    EXPECT_FALSE(fs::exists(dir / "elsewhere"));
    fs::remove_all(dir);
}

RC_GTEST_PROP(Store, bits_survive_packing, (uint64_t seed))
{
    RandomBatch random(seed);
    const auto bits = static_cast<unsigned>(1 + random.any(7));
    const size_t count = random.any(100);
    std::vector<uint8_t> values((count + 7) / 8 * 8);
    for (size_t i = 0; i < count; i++)
        values[i] = static_cast<uint8_t>(random.any(1U << bits));
    const std::vector<uint8_t> want(values.begin(),
                                    values.begin() + static_cast<std::ptrdiff_t>(count));
    store::pack_bits(values.data(), count, bits);
    std::vector<uint8_t> got(count);
    store::unpack_bits(std::span(values).first(store::packed_size(count, bits)), bits, got);
    RC_ASSERT(got == want);
}

} // namespace
} // namespace blktag
