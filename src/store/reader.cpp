// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a trace as a RecordSource: frames in, batches out, books and damage kept.
#include "store/reader.hpp"
#include "store/chunk_reader.hpp"
#include "store/info_json.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace blktag::store {

std::expected<std::unique_ptr<Reader>, Error> Reader::open(const std::string &path)
{
    const bool input = path == "-";
    base::Fd fd(input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid())
        return std::unexpected(base::errno_error("cannot open", errno));
    return open(std::move(fd));
}

std::expected<std::unique_ptr<Reader>, Error> Reader::open(base::Fd fd)
{
    std::unique_ptr<Reader> reader(new Reader(std::move(fd)));
    if (auto started = reader->start(); !started)
        return std::unexpected(started.error());
    return reader;
}

// Reads to the first frame. It is the info, unless the beginning is damaged.
std::expected<void, Error> Reader::start()
{
    auto frame = frames_.next(damage_);
    if (!frame)
        return std::unexpected(frame.error());
    if (!*frame) {
        if (frames_.bytes_read() == 0)
            return std::unexpected(Error{"is empty", "the recording wrote nothing"});
        return std::unexpected(Error{"is not a blktag trace, or nothing in it is whole",
                                     "traces are made by tagtrace --record"});
    }
    stats_.format_minor = (*frame)->header.minor;
    if ((*frame)->header.type == FrameType::info) {
        take_info(**frame);
        return {};
    }
    // The info at the start is gone: a file has it at its end as well.
    if (auto at_end = read_footer_info(fd_.get())) {
        info_ = std::move(*at_end);
        has_info_ = true;
    }
    held_ = **frame;
    held_payload_.assign((*frame)->payload.begin(), (*frame)->payload.end());
    held_->payload = held_payload_;
    return {};
}

void Reader::take_info(const Frame &frame)
{
    if (auto parsed = info_from_json(frame.payload)) {
        info_ = std::move(parsed->info);
        has_info_ = true;
    } else {
        damage_.add(frame.offset_bytes, frame.size_bytes, "description is not readable");
    }
}

bool Reader::take_footer(const Frame &frame)
{
    const auto footer = parse_footer(frame.payload);
    if (!footer) {
        damage_.add(frame.offset_bytes, frame.size_bytes, "end is not readable");
        return false;
    }
    info_ = footer->info;
    books_ = footer->books;
    if (stats_.chunks != footer->chunks && damage_.entries().empty())
        damage_.add(frame.offset_bytes, frame.size_bytes,
                    fmt::format("the end speaks of {} chunks, {} are there", footer->chunks,
                                stats_.chunks));
    stats_.has_end = true;
    return true;
}

bool Reader::take_chunk(const Frame &frame, Batch &batch)
{
    const auto header = parse_chunk_header(frame.payload);
    auto result = decoder_.decode(frame.payload, batch);
    if (!header || !result) {
        batch.clear();
        damage_.add(frame.offset_bytes, frame.size_bytes,
                    header ? result.error() : "chunk header is not possible");
        return false;
    }
    if (result->malformed)
        damage_.add(frame.offset_bytes, frame.size_bytes,
                    fmt::format("{} records with impossible values", result->malformed));
    books_ = header->books;
    books_.lost_by_kind = std::move(result->lost_by_kind);
    stats_.chunks++;
    stats_.records += result->records;
    stats_.malformed += result->malformed;
    stats_.skewed += result->skewed;
    for (const auto &[kind, count] : result->unknown)
        stats_.unknown[kind] += count;
    return true;
}

void Reader::finish_cut()
{
    books_.complete = false;
    info_.end_mono_ns = info_.end_real_ns = 0;
    // The frame source has noted what it could not read; a clean cut between frames leaves nothing
    // to note there.
    const auto &entries = damage_.entries();
    if (entries.empty() || entries.back().length_bytes != 0)
        damage_.add(frames_.bytes_read(), 0, "the recording was cut: its end is missing");
}

std::expected<bool, Error> Reader::next(Batch &batch)
{
    batch.clear();
    while (!done_) {
        std::optional<Frame> frame = std::exchange(held_, std::nullopt);
        if (!frame) {
            auto read = frames_.next(damage_);
            if (!read)
                return std::unexpected(read.error());
            frame = *read;
        }
        stats_.bytes = frames_.bytes_read();
        if (!frame) {
            finish_cut();
            done_ = true;
        } else if (frame->header.type == FrameType::chunk) {
            if (take_chunk(*frame, batch))
                return true;
        } else if (frame->header.type == FrameType::info) {
            take_info(*frame);
        } else if (frame->header.type == FrameType::footer && take_footer(*frame)) {
            done_ = true;
            if (auto ended = frames_.end(damage_); !ended)
                return std::unexpected(ended.error());
        } // else: a newer writer's frame, of no use here
    }
    return false;
}

Unusable Reader::unusable() const
{
    Unusable out{stats_.malformed, 0};
    for (const auto &[kind, count] : stats_.unknown)
        out.unknown += count;
    return out;
}

} // namespace blktag::store
