// SPDX-License-Identifier: GPL-2.0-or-later
// Random access to the chunks of a trace file: the index, or a walk where there is none.
#include "store/chunk_reader.hpp"
#include "store/frame_source.hpp"
#include "store/info_json.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blktag::store {
namespace {

constexpr size_t footer_fixed_bytes = 16;

// Reads one whole frame at `offset_bytes`; empty where there is none.
std::span<const uint8_t> read_frame(int fd, uint64_t offset_bytes, uint64_t size_bytes,
                                    FrameType type, Bytes &frame)
{
    if (size_bytes < frame_header_bytes || size_bytes > max_payload_bytes + uint64_t{UINT16_MAX})
        return {};
    frame.resize(size_bytes);
    const auto got = base::pread_full(fd, std::as_writable_bytes(std::span(frame)), offset_bytes);
    FrameHeader header;
    if (!got || *got != size_bytes || !parse_frame_header(frame.data(), header) ||
        header.major != format_major || header.type != type ||
        uint64_t{header.header_bytes} + header.payload_bytes != size_bytes)
        return {};
    const std::span<const uint8_t> after = std::span(frame).subspan(frame_header_bytes);
    if (frame_checksum(frame.data(), after) != header.checksum)
        return {};
    return after.subspan(header.header_bytes - frame_header_bytes);
}

ChunkEntry entry_of(const uint8_t *bytes)
{
    ChunkEntry entry;
    entry.offset_bytes = load_le<uint64_t>(bytes);
    entry.size_bytes = load_le<uint32_t>(bytes + 8);
    entry.summary.records = load_le<uint32_t>(bytes + 12);
    entry.summary.io_records = load_le<uint32_t>(bytes + 16);
    entry.summary.first_ts_ns = load_le<uint64_t>(bytes + 24);
    entry.summary.last_ts_ns = load_le<uint64_t>(bytes + 32);
    return entry;
}

} // namespace

std::optional<Footer> parse_footer(std::span<const uint8_t> payload)
{
    if (payload.size() < footer_fixed_bytes)
        return std::nullopt;
    const uint32_t json_bytes = load_le<uint32_t>(payload.data());
    const uint32_t entries = load_le<uint32_t>(payload.data() + 8);
    const uint64_t needed =
        footer_fixed_bytes + uint64_t{json_bytes} + uint64_t{entries} * index_entry_bytes;
    if (needed > payload.size())
        return std::nullopt;
    auto parsed = info_from_json(payload.subspan(footer_fixed_bytes, json_bytes));
    if (!parsed || !parsed->books)
        return std::nullopt;
    Footer footer;
    footer.info = std::move(parsed->info);
    footer.books = std::move(*parsed->books);
    footer.chunks = load_le<uint32_t>(payload.data() + 4);
    footer.entries.reserve(entries);
    for (uint32_t i = 0; i < entries; i++)
        footer.entries.push_back(entry_of(payload.data() + footer_fixed_bytes + json_bytes +
                                          size_t{i} * index_entry_bytes));
    return footer;
}

std::optional<Footer> read_footer(int fd)
{
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    const auto size = static_cast<uint64_t>(status.st_size);
    std::array<uint8_t, trailer_bytes> trailer{};
    if (size < trailer_bytes)
        return std::nullopt;
    const auto got =
        base::pread_full(fd, std::as_writable_bytes(std::span(trailer)), size - trailer_bytes);
    const uint64_t offset = load_le<uint64_t>(trailer.data());
    if (!got || *got != trailer_bytes ||
        std::memcmp(trailer.data() + 8, end_marker.data(), end_marker.size()) != 0 ||
        offset > size - trailer_bytes)
        return std::nullopt;
    Bytes frame;
    const auto payload =
        read_frame(fd, offset, size - trailer_bytes - offset, FrameType::footer, frame);
    return payload.empty() ? std::nullopt : parse_footer(payload);
}

std::optional<TraceInfo> read_footer_info(int fd)
{
    auto footer = read_footer(fd);
    if (!footer)
        return std::nullopt;
    return std::move(footer->info);
}

std::expected<ChunkReader, Error> ChunkReader::open(const std::string &path)
{
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid())
        return std::unexpected(
            base::errno_error("cannot open " + base::escape_terminal(path), errno));
    ChunkReader reader(std::move(fd));
    if (auto footer = read_footer(reader.fd_.get());
        footer && footer->entries.size() == footer->chunks) {
        reader.info_ = std::move(footer->info);
        reader.books_ = std::move(footer->books);
        reader.chunks_ = std::move(footer->entries);
        return reader;
    }
    if (auto walked = reader.walk(); !walked)
        return std::unexpected(walked.error());
    return reader;
}

std::expected<void, Error> ChunkReader::walk()
{
    FrameSource frames(fd_.get());
    DamageList damage;
    for (;;) {
        auto frame = frames.next(damage);
        if (!frame)
            return std::unexpected(frame.error());
        if (!*frame)
            break;
        const Frame &f = **frame;
        if (f.header.type == FrameType::info) {
            if (auto parsed = info_from_json(f.payload))
                info_ = std::move(parsed->info);
        } else if (f.header.type == FrameType::footer) {
            if (auto footer = parse_footer(f.payload)) {
                info_ = std::move(footer->info);
                books_ = std::move(footer->books);
                if (auto ended = frames.end(damage); !ended)
                    return ended;
                break;
            }
        } else if (f.header.type == FrameType::chunk) {
            if (const auto header = parse_chunk_header(f.payload)) {
                books_ = header->books;
                chunks_.push_back(
                    {f.offset_bytes, static_cast<uint32_t>(f.size_bytes), header->summary});
            } else {
                damage.add(f.offset_bytes, f.size_bytes, "chunk header is not possible");
            }
        }
    }
    if (!frames.any_frame())
        return std::unexpected(Error{"not a blktag trace, or nothing in it is whole",
                                     "traces are made by tagtrace --record"});
    damage_ = damage.entries();
    return {};
}

std::expected<ChunkResult, std::string> ChunkReader::decode(size_t chunk, Batch &batch,
                                                            Scratch &scratch) const
{
    const ChunkEntry &entry = chunks_.at(chunk);
    const auto payload = read_frame(fd_.get(), entry.offset_bytes, entry.size_bytes,
                                    FrameType::chunk, scratch.frame);
    if (payload.empty())
        return std::unexpected("no frame with a good checksum");
    return scratch.decoder.decode(payload, batch);
}

} // namespace blktag::store
