// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a trace: collects records to chunks, writes whole frames, keeps the index.
#include "store/writer.hpp"
#include "store/info_json.hpp"

#include "decode/batch.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blktag::store {
namespace {

template<class T>
void sort_by_time(std::vector<T> &records)
{
    const auto earlier = [](const T &a, const T &b) {
        return decode::time_of(a) < decode::time_of(b);
    };
    if (!std::is_sorted(records.begin(), records.end(), earlier))
        std::stable_sort(records.begin(), records.end(), earlier);
}

size_t struct_bytes(const CounterSnapshot &)
{
    return counters_struct_bytes;
}
template<class T>
size_t struct_bytes(const T &)
{
    return sizeof(T);
}

} // namespace

Writer::Writer(base::Fd fd, WriterOptions options)
    : fd_(std::move(fd)), options_(std::move(options))
{
    struct stat status {};
    regular_file_ = ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode);
}

std::expected<std::unique_ptr<Writer>, Error> Writer::open(base::Fd fd, const TraceInfo &info,
                                                           WriterOptions options)
{
    std::unique_ptr<Writer> writer(new Writer(std::move(fd), std::move(options)));
    if (auto written = writer->write_info(info); !written)
        return std::unexpected(written.error());
    return writer;
}

std::expected<void, Error> Writer::fail(int errnum)
{
    errnum_ = errnum;
    const char *remedy = errnum == ENOSPC || errnum == EDQUOT
                             ? "make room, or give --max-size or another place"
                         : errnum == EFBIG ? "raise the file size limit (ulimit -f)"
                                           : "";
    return std::unexpected(base::errno_error("cannot write " + options_.name, errnum, remedy));
}

std::expected<void, Error> Writer::write_frame()
{
    if (errnum_)
        return fail(errnum_);
    size_t written = 0;
    const int errnum = base::write_all(fd_.get(), std::as_bytes(std::span(frame_)), written);
    if (errnum == 0) {
        bytes_written_ += written;
        return {};
    }
    // Half a frame is of no use to a reader: a file is put back to its last whole one.
    if (regular_file_ && written)
        (void)!::ftruncate(fd_.get(),
                           ::lseek(fd_.get(), 0, SEEK_CUR) - static_cast<off_t>(written));
    return fail(errnum);
}

std::expected<void, Error> Writer::write_info(const TraceInfo &info)
{
    const std::string json = info_to_json(info, nullptr);
    if (json.size() > max_payload_bytes)
        return fail(EMSGSIZE);
    frame_.assign(frame_header_bytes, 0);
    frame_.insert(frame_.end(), json.begin(), json.end());
    seal_frame(frame_, FrameType::info, sequence_++);
    return write_frame();
}

std::expected<void, Error> Writer::set_info(const TraceInfo &info)
{
    if (auto written = write_chunk(); !written)
        return written;
    return write_info(info);
}

std::expected<void, Error> Writer::write_chunk()
{
    if (nothing_pending())
        return {};
    decode::for_each_kind(pending_, [](auto &records, bt_kind) { sort_by_time(records); });
    const uint64_t offset = bytes_written_;
    const ChunkSummary summary = encoder_.encode(pending_, books_, sequence_++, frame_);
    if (auto written = write_frame(); !written)
        return written;
    if (chunks_++ < max_index_entries) {
        append_le(index_, offset);
        append_le(index_, static_cast<uint32_t>(frame_.size()));
        append_le(index_, summary.records);
        append_le(index_, summary.io_records);
        append_le(index_, uint32_t{0});
        append_le(index_, summary.first_ts_ns);
        append_le(index_, summary.last_ts_ns);
    }
    records_written_ += summary.records;
    written_until_ns_ = std::max(written_until_ns_, summary.last_ts_ns);
    pending_.clear();
    pending_bytes_ = 0;
    pending_since_ns_ = 0;
    return {};
}

bool Writer::nothing_pending() const
{
    return encoder_.io_count() == 0 && pending_.size() == 0;
}

std::expected<void, Error> Writer::append_io(std::span<const bt_io_long> records)
{
    while (!records.empty()) {
        const size_t room = (chunk_struct_bytes - pending_bytes_) / sizeof(bt_io_long);
        const size_t taken = encoder_.add_io(records.first(std::min(room, records.size())));
        records = records.subspan(taken);
        pending_bytes_ += taken * sizeof(bt_io_long);
        if (!records.empty()) {
            if (auto written = write_chunk(); !written)
                return written;
        }
    }
    return {};
}

template<class T>
std::expected<void, Error> Writer::append(const std::vector<T> &from, std::vector<T> &to,
                                          size_t record_bytes)
{
    for (size_t at = 0; at < from.size();) {
        const size_t room = (chunk_struct_bytes - pending_bytes_) / record_bytes;
        const size_t count = std::min(room, from.size() - at);
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                  from.begin() + static_cast<std::ptrdiff_t>(at + count));
        at += count;
        pending_bytes_ += count * record_bytes;
        if (at < from.size()) {
            if (auto written = write_chunk(); !written)
                return written;
        }
    }
    return {};
}

std::expected<void, Error> Writer::put(const Batch &batch)
{
    if (errnum_)
        return fail(errnum_);
    std::expected<void, Error> result;
    // Identities and tasks go out no later than what refers to them.
    for (const std::string &text : batch.topology_json) {
        if (text.size() > max_topology_bytes)
            return fail(EMSGSIZE);
        if (pending_bytes_ + text.size() > chunk_struct_bytes)
            result = write_chunk();
        if (!result)
            return result;
        pending_.topology_json.push_back(text);
        pending_bytes_ += text.size();
    }
    if (auto written = append_io(batch.io); !written)
        return written;
    decode::for_each_pair(batch, pending_, [&](const auto &from, auto &to, bt_kind kind) {
        if (kind != BT_K_IO_LONG && result && !from.empty())
            result = append(from, to, struct_bytes(from.front()));
    });
    return result;
}

std::expected<void, Error> Writer::tick(uint64_t now_ns)
{
    if (errnum_)
        return fail(errnum_);
    if (nothing_pending())
        return {};
    if (pending_since_ns_ == 0)
        pending_since_ns_ = now_ns;
    if (now_ns - pending_since_ns_ < options_.flush_interval_ns)
        return {};
    return write_chunk();
}

std::expected<void, Error> Writer::write_footer(const TraceInfo &info)
{
    const std::string json = info_to_json(info, &books_);
    if (json.size() + index_.size() > max_payload_bytes - 64)
        return fail(EMSGSIZE);
    const uint64_t offset = bytes_written_;
    frame_.assign(frame_header_bytes, 0);
    append_le(frame_, static_cast<uint32_t>(json.size()));
    append_le(frame_, chunks_);
    append_le(frame_, static_cast<uint32_t>(index_.size() / index_entry_bytes));
    append_le(frame_, uint32_t{0});
    frame_.insert(frame_.end(), json.begin(), json.end());
    frame_.insert(frame_.end(), index_.begin(), index_.end());
    seal_frame(frame_, FrameType::footer, sequence_++);
    append_le(frame_, offset);
    frame_.insert(frame_.end(), end_marker.begin(), end_marker.end());
    return write_frame();
}

std::expected<void, Error> Writer::finish(const TraceInfo &info, const Books &books)
{
    books_ = books;
    books_.complete = true;
    if (auto written = write_chunk(); !written)
        return written;
    if (auto written = write_footer(info); !written)
        return written;
    if (const int errnum = fd_.close_now())
        return fail(errnum);
    return {};
}

} // namespace blktag::store
