// SPDX-License-Identifier: GPL-2.0-or-later
// Whole, checked frames from a file or a pipe: buffering, checking, and finding the way back after
// damage.
#include "store/frame_source.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace blktag::store {
namespace {

constexpr size_t read_bytes = 1U << 18;
// Work for frames that turn out to be none, per byte of input: keeps a file full of false markers
// from taking quadratic time. Honest damage never comes near.
constexpr uint64_t wasted_free_bytes = 2 * uint64_t{max_payload_bytes};
constexpr uint64_t wasted_factor = 8;
// Before the first frame: a file with none in here is no trace.
constexpr uint64_t first_frame_within = 2 * uint64_t{max_payload_bytes};

} // namespace

void DamageList::add(uint64_t offset_bytes, uint64_t length_bytes, std::string what)
{
    if (entries_.size() < max_entries) {
        entries_.push_back({offset_bytes, length_bytes, std::move(what)});
        return;
    }
    more_++;
    entries_.back() = {entries_.back().offset_bytes, 0,
                       fmt::format("and {} more places from here on", more_ + 1)};
}

// Makes `bytes` available from begin_; false where the input ends before. Memory grows with what
// arrives, never with what a header promises.
std::expected<bool, Error> FrameSource::fill(size_t bytes)
{
    while (available() < bytes && !at_eof_) {
        if (begin_ > 0 && (begin_ == end_ || begin_ >= buffer_.size() / 2)) {
            std::memmove(buffer_.data(), buffer_.data() + begin_, available());
            base_ += begin_;
            end_ -= begin_;
            begin_ = 0;
        }
        if (buffer_.size() - end_ < read_bytes)
            buffer_.resize(std::max(end_ + read_bytes, buffer_.size() + buffer_.size() / 2));
        const auto got = base::read_some(
            fd_, std::as_writable_bytes(std::span(buffer_).subspan(end_, read_bytes)));
        if (!got)
            return std::unexpected(base::errno_error("cannot read the trace", got.error()));
        end_ += *got;
        at_eof_ = *got == 0;
    }
    return available() >= bytes;
}

// Whether a whole, unhurt frame begins at begin_.
std::expected<bool, Error> FrameSource::try_frame(Frame &frame)
{
    if (auto enough = fill(frame_header_bytes); !enough || !*enough)
        return enough;
    if (!parse_frame_header(buffer_.data() + begin_, frame.header))
        return false;
    frame.size_bytes = uint64_t{frame.header.header_bytes} + frame.header.payload_bytes;
    if (auto enough = fill(frame.size_bytes); !enough || !*enough)
        return enough;
    if (wasted_bytes_ > wasted_free_bytes + wasted_factor * offset())
        return false;
    const uint8_t *bytes = buffer_.data() + begin_;
    const std::span<const uint8_t> after(bytes + frame_header_bytes,
                                         frame.size_bytes - frame_header_bytes);
    if (frame_checksum(bytes, after) != frame.header.checksum) {
        wasted_bytes_ += frame.size_bytes;
        return false;
    }
    if (frame.header.major != format_major)
        return std::unexpected(
            Error{fmt::format("this is trace format {}.{}, and this program reads {}.x",
                              frame.header.major, frame.header.minor, format_major),
                  "read it with the version of blktag that wrote it"});
    frame.offset_bytes = offset();
    frame.payload = after.subspan(frame.header.header_bytes - frame_header_bytes);
    return true;
}

// Moves begin_ to the next marker after it; false at the end of input.
std::expected<bool, Error> FrameSource::find_marker()
{
    begin_++;
    for (;;) {
        if (auto enough = fill(marker.size()); !enough || !*enough)
            return enough;
        const uint8_t *from = buffer_.data() + begin_;
        const uint8_t *to = buffer_.data() + end_;
        const uint8_t *at = std::search(from, to, marker.begin(), marker.end());
        // A marker may lie across the buffer's end: its first bytes stay for the next round.
        const auto skip =
            at == to ? available() - (marker.size() - 1) : static_cast<size_t>(at - from);
        begin_ += skip;
        if (at != to)
            return true;
        if (!any_frame() && offset() > first_frame_within) {
            at_eof_ = true;
            begin_ = end_;
            return false;
        }
    }
}

void FrameSource::note_damage(DamageList &damage, bool to_end)
{
    if (!bad_from_)
        return;
    const uint64_t from = *bad_from_;
    bad_from_.reset();
    damage.add(from, to_end ? 0 : offset() - from,
               to_end ? "no whole frame from here to the end" : "no frame with a good checksum");
}

std::expected<std::optional<Frame>, Error> FrameSource::accept(const Frame &frame,
                                                               DamageList &damage)
{
    const bool known_gap = bad_from_.has_value();
    note_damage(damage, false);
    const uint32_t sequence = frame.header.sequence;
    // A gap without damage: somebody cut a piece out of the file.
    if (!known_gap && sequence != expected_sequence_.value_or(0))
        damage.add(frame.offset_bytes, 1,
                   fmt::format("frame {} follows where {} was expected", sequence,
                               expected_sequence_.value_or(0)));
    expected_sequence_ = sequence + 1;
    latest_frame_bytes_ = frame.offset_bytes;
    begin_ += frame.size_bytes;
    return frame;
}

std::expected<std::optional<Frame>, Error> FrameSource::next(DamageList &damage)
{
    for (;;) {
        if (auto any = fill(1); !any)
            return std::unexpected(any.error());
        else if (!*any)
            break;
        Frame frame;
        const auto found = try_frame(frame);
        if (!found)
            return std::unexpected(found.error());
        if (*found)
            return accept(frame, damage);
        if (!bad_from_)
            bad_from_ = offset();
        const auto more = find_marker();
        if (!more)
            return std::unexpected(more.error());
        if (!*more)
            break;
    }
    begin_ = end_;
    note_damage(damage, true);
    return std::nullopt;
}

std::expected<void, Error> FrameSource::end(DamageList &damage)
{
    const uint64_t from = offset();
    const auto whole = fill(trailer_bytes);
    if (!whole)
        return std::unexpected(whole.error());
    const uint8_t *bytes = buffer_.data() + begin_;
    if (!*whole || std::memcmp(bytes + 8, end_marker.data(), end_marker.size()) != 0 ||
        load_le<uint64_t>(bytes) != latest_frame_bytes_) {
        damage.add(from, 0, "the last 16 bytes are missing or changed");
        return {};
    }
    begin_ += trailer_bytes;
    const auto more = fill(1);
    if (!more)
        return std::unexpected(more.error());
    if (*more)
        damage.add(offset(), 0, "bytes after the end of the trace, not read");
    return {};
}

} // namespace blktag::store
