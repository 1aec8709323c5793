// SPDX-License-Identifier: GPL-2.0-or-later
// The trace reader on bad input: cut anywhere, any byte changed, pieces missing, lies in every
// field. Input: spoiled bytes. Output: verdicts; under a sanitizer, that nothing is touched that
// should not be.
#include "store/chunk_reader.hpp"
#include "store/info_json.hpp"
#include "support/trace_bytes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace blktag {
namespace {

using namespace test;

// Small, but with every kind.
const std::vector<Batch> &small_batches()
{
    static const std::vector<Batch> batches = [] {
        RandomBatch random(42);
        std::vector<Batch> made;
        for (size_t i = 0; i < 3; i++)
            made.push_back(random.make(2 + i, 1));
        return made;
    }();
    return batches;
}

const std::string &small_trace()
{
    static const std::string bytes = write_trace(small_batches());
    return bytes;
}

// Every record that was read must be one that was written.
void expect_subset(const ReadBack &back)
{
    Batch all;
    for (const Batch &batch : small_batches())
        append(all, batch);
    decode::for_each_pair(back.batch, all, [](const auto &got, const auto &wanted, bt_kind kind) {
        for (const auto &record : got) {
            const bool known = std::any_of(wanted.begin(), wanted.end(),
                                           [&](const auto &other) { return same(record, other); });
            ASSERT_TRUE(known) << "kind " << kind << ": a record that was never written";
        }
    });
}

// Under a sanitizer every fourth byte: it is ten times slower, and the plain build takes them all.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t step = 4;
#else
constexpr size_t step = 1;
#endif

TEST(StoreDamage, cut_at_every_byte)
{
    const std::string &whole = small_trace();
    size_t records_before = 0;
    for (size_t size = 0; size < whole.size(); size += step) {
        const ReadBack back = read_trace(std::string_view(whole).substr(0, size));
        if (!back.error.empty()) {
            EXPECT_EQ(back.batch.size(), 0U);
            continue;
        }
        ASSERT_FALSE(back.damage.empty()) << "cut at " << size;
        // The last 16 bytes only lead to the end, which is there without them.
        EXPECT_EQ(back.books.complete, size >= whole.size() - store::trailer_bytes);
        EXPECT_GE(back.batch.size(), records_before) << "cut at " << size;
        records_before = back.batch.size();
        expect_subset(back);
    }
    EXPECT_EQ(read_trace(whole).batch.size(), records_before);
}

TEST(StoreDamage, every_byte_changed)
{
    const std::string &whole = small_trace();
    const size_t records = read_trace(whole).batch.size();
    std::string bytes = whole;
    for (size_t at = 0; at < whole.size(); at += step) {
        for (const int change : {0x01, 0xff}) {
            bytes[at] = static_cast<char>(whole[at] ^ change);
            const ReadBack back = read_trace(bytes);
            ASSERT_EQ(back.error, "") << "byte " << at;
            ASSERT_FALSE(back.damage.empty()) << "byte " << at << " changed unnoticed";
            // One byte hurts one frame: no more than one of the three chunks is gone.
            EXPECT_GE(back.batch.size(), records / 3) << "byte " << at;
            expect_subset(back);
        }
        bytes[at] = whole[at];
    }
}

TEST(StoreDamage, places_are_told)
{
    const std::string &whole = small_trace();
    auto frames = store::read_footer(memory_file(whole).get());
    ASSERT_TRUE(frames);
    ASSERT_EQ(frames->entries.size(), 3U);
    std::string bytes = whole;
    const store::ChunkEntry &second = frames->entries[1];
    bytes[second.offset_bytes + 50] ^= 1;
    const ReadBack back = read_trace(bytes);
    ASSERT_EQ(back.damage.size(), 1U);
    EXPECT_EQ(back.damage[0].offset_bytes, second.offset_bytes);
    EXPECT_EQ(back.damage[0].length_bytes, second.size_bytes);
    EXPECT_EQ(back.chunks, 2U);
}

TEST(StoreDamage, a_missing_piece_is_noticed)
{
    const std::string &whole = small_trace();
    const auto footer = store::read_footer(memory_file(whole).get());
    const store::ChunkEntry &second = footer->entries[1];
    std::string bytes = whole;
    bytes.erase(second.offset_bytes, second.size_bytes);
    const ReadBack back = read_trace(bytes);
    ASSERT_FALSE(back.damage.empty());
    EXPECT_EQ(back.damage[0].offset_bytes, second.offset_bytes);
    EXPECT_EQ(back.chunks, 2U);
}

TEST(StoreDamage, description_lost_at_the_start_is_found_at_the_end)
{
    std::string bytes = small_trace();
    bytes[40] ^= 1;
    const ReadBack back = read_trace(bytes);
    EXPECT_EQ(back.info.kernel_release, sample_info().kernel_release);
    EXPECT_EQ(back.chunks, 3U);
}

TEST(StoreDamage, nothing_usable_is_an_error)
{
    EXPECT_NE(read_trace("").error.find("empty"), std::string::npos);
    EXPECT_NE(read_trace("hello, this is no trace at all\n").error.find("not a blktag trace"),
              std::string::npos);
    EXPECT_NE(read_trace(std::string(100'000, '\0')).error, "");
    EXPECT_NE(read_trace(std::string(1'000'000, '\xb1')).error, "");
}

// A frame with a good checksum around any payload.
std::string frame_of(store::FrameType type, std::string_view payload, uint32_t sequence,
                     uint16_t major = store::format_major)
{
    store::Bytes frame(store::frame_header_bytes);
    frame.insert(frame.end(), payload.begin(), payload.end());
    store::seal_frame(frame, type, sequence);
    if (major != store::format_major) {
        store::store_le(frame.data() + 8, major);
        const auto after = std::span<const uint8_t>(frame).subspan(store::frame_header_bytes);
        store::store_le(frame.data() + 24, store::frame_checksum(frame.data(), after));
    }
    return {frame.begin(), frame.end()};
}

TEST(StoreDamage, another_major_version_is_refused_with_a_reason)
{
    const std::string bytes = frame_of(store::FrameType::info, "{}", 0, 2);
    EXPECT_NE(read_trace(bytes).error.find("format 2.0"), std::string::npos);
}

TEST(StoreDamage, unknown_frames_are_passed_over)
{
    std::string bytes = small_trace();
    const auto footer = store::read_footer(memory_file(bytes).get());
    // As the first chunk's neighbour, with its number: the later ones only show the shift.
    bytes.insert(footer->entries[0].offset_bytes,
                 frame_of(static_cast<store::FrameType>(77), "news", 1));
    const ReadBack back = read_trace(bytes);
    EXPECT_EQ(back.chunks, 3U);
}

// The payload of a small chunk, to be spoiled and sealed again: what only a hostile writer makes.
std::string chunk_payload(const std::string &trace, size_t chunk)
{
    const auto footer = store::read_footer(memory_file(trace).get());
    const store::ChunkEntry &entry = footer->entries.at(chunk);
    return trace.substr(entry.offset_bytes + store::frame_header_bytes,
                        entry.size_bytes - store::frame_header_bytes);
}

std::string trace_of(std::string_view payload)
{
    return frame_of(store::FrameType::info, store::info_to_json(sample_info(), nullptr), 0) +
           frame_of(store::FrameType::chunk, payload, 1);
}

// The same chunk with its head not compressed, so that changes reach what is in it.
std::string plain_head(std::string payload)
{
    const auto *bytes = reinterpret_cast<const uint8_t *>(payload.data());
    const auto header = store::parse_chunk_header({bytes, payload.size()});
    if (!header->compressed)
        return payload;
    store::Bytes head(header->head_bytes);
    store::Decompressor decompressor;
    const size_t head_at = header->header_bytes + size_t{header->body_bytes};
    EXPECT_TRUE(decompressor.decode({bytes + head_at, header->head_stored_bytes}, head));
    payload.resize(head_at);
    payload.append(head.begin(), head.end());
    auto *out = reinterpret_cast<uint8_t *>(payload.data());
    store::store_le(out + 2, uint16_t{0});
    store::store_le(out + 8, header->head_bytes);
    return payload;
}

// With a good checksum, so every field's check is on its own. The sanitizer sees what goes wrong.
TEST(StoreDamage, every_byte_of_a_sealed_chunk_changed)
{
    const std::string payload = plain_head(chunk_payload(small_trace(), 2));
    EXPECT_EQ(read_trace(trace_of(payload)).batch.size(), small_batches()[2].size());
    std::string bytes = payload;
    for (size_t at = 0; at < payload.size(); at += step) {
        for (const int change : {0x01, 0x80, 0xff}) {
            bytes[at] = static_cast<char>(payload[at] ^ change);
            const ReadBack back = read_trace(trace_of(bytes));
            ASSERT_EQ(back.error, "") << "byte " << at;
            ASSERT_LT(back.batch.size(), 100'000U);
        }
        bytes[at] = payload[at];
    }
}

RC_GTEST_PROP(StoreDamage, many_bytes_of_a_sealed_chunk_changed, (uint64_t seed))
{
    RandomBatch random(seed);
    std::string payload = plain_head(chunk_payload(small_trace(), random.any(3)));
    for (uint64_t changes = 1 + random.any(20); changes > 0; changes--)
        payload[random.any(payload.size())] = static_cast<char>(random.any(256));
    if (random.any(4) == 0)
        payload.resize(random.any(payload.size()));
    const ReadBack back = read_trace(trace_of(payload));
    RC_ASSERT(back.error.empty());
}

RC_GTEST_PROP(StoreDamage, any_bytes_at_all, (const std::string &bytes))
{
    const ReadBack alone = read_trace(bytes);
    RC_ASSERT(!alone.error.empty());
    const ReadBack sealed = read_trace(trace_of(bytes));
    RC_ASSERT(sealed.error.empty());
    RC_ASSERT(sealed.batch.size() == 0U);
    const ReadBack info = read_trace(frame_of(store::FrameType::info, bytes, 0));
    RC_ASSERT(info.error.empty());
    RC_ASSERT(!info.damage.empty());
    const ReadBack footer =
        read_trace(small_trace() + frame_of(store::FrameType::footer, bytes, 9));
    RC_ASSERT(!footer.damage.empty());
}

// 1 kB that promises millions of records, or a head of many megabytes, is refused before memory is
// spent.
TEST(StoreDamage, promises_without_bytes_are_refused)
{
    std::string payload = plain_head(chunk_payload(small_trace(), 0));
    auto *bytes = reinterpret_cast<uint8_t *>(payload.data());
    for (const size_t field : {size_t{4}, size_t{8}, size_t{12}, size_t{64}}) {
        const auto before = store::load_le<uint32_t>(bytes + field);
        store::store_le(bytes + field, uint32_t{0x7fffffff});
        const ReadBack back = read_trace(trace_of(payload));
        EXPECT_EQ(back.batch.size(), 0U) << "field " << field;
        EXPECT_FALSE(back.damage.empty());
        store::store_le(bytes + field, before);
    }
    // The count of the first block in the head, all of whose columns could be constants.
    const auto body_bytes = store::load_le<uint32_t>(bytes + 64);
    store::store_le(bytes + store::chunk_header_bytes + body_bytes + 4, uint32_t{0x7fffffff});
    EXPECT_EQ(read_trace(trace_of(payload)).batch.io.size(), 0U);
}

TEST(StoreDamage, unknown_kinds_and_columns_are_skipped_and_counted)
{
    std::string payload = plain_head(chunk_payload(small_trace(), 0));
    auto *bytes = reinterpret_cast<uint8_t *>(payload.data());
    const size_t head_at = store::chunk_header_bytes + store::load_le<uint32_t>(bytes + 64);
    ASSERT_EQ(store::load_le<uint16_t>(bytes + head_at), BT_K_IO_LONG);
    store::store_le(bytes + head_at, uint16_t{200});
    ReadBack back = read_trace(trace_of(payload));
    EXPECT_EQ(back.stats.unknown.at(200), 2U);
    EXPECT_EQ(back.batch.io.size(), 0U);
    EXPECT_EQ(back.batch.waits.size(), small_batches()[0].waits.size());
    // A column with an id of later versions (here: in place of one that is known) leaves its field
    // 0.
    store::store_le(bytes + head_at, uint16_t{BT_K_IO_LONG});
    const size_t first_column = head_at + 16;
    store::store_le(bytes + first_column, uint16_t{999});
    back = read_trace(trace_of(payload));
    EXPECT_EQ(back.batch.io.size(), 0U) << "records without times are of no use";
    EXPECT_FALSE(back.damage.empty());
}

TEST(StoreDamage, a_file_full_of_false_markers_takes_linear_time)
{
    std::string bytes;
    store::Bytes head(store::frame_header_bytes);
    store::seal_frame(head, store::FrameType::chunk, 0);
    store::store_le(head.data() + 16, uint32_t{4'000'000});
    while (bytes.size() < 6'000'000)
        bytes.append(head.begin(), head.end());
    EXPECT_NE(read_trace(bytes).error, "");
}

} // namespace
} // namespace blktag
