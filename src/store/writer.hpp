// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a trace file or stream. Input: batches, books, TraceInfo. Output: frames (blktag-trace(5))
// on a descriptor, each in one go; never seeks, so a pipe is as good as a file.
//
//     auto writer = store::Writer::open(std::move(fd), source.info());
//     while (source.next(batch)) { writer->set_books(source.books()); writer->put(batch);
//     writer->tick(now_ns); } writer->finish(source.info(), source.books());
//
// After an error nothing more is written: what was written before is a readable trace that ends
// without its end.
#pragma once

#include "base/fd.hpp"
#include "store/chunk_encode.hpp"

#include "blktag/records.hpp"

#include <memory>

namespace blktag::store {

struct WriterOptions {
    // A record waits no longer than this for its chunk (as far as tick() is called): what SIGKILL
    // can lose.
    uint64_t flush_interval_ns = 900'000'000;
    std::string name = "output"; // for error texts
};

// Not thread-safe.
class Writer : public RecordSink {
  public:
    static std::expected<std::unique_ptr<Writer>, Error> open(base::Fd fd, const TraceInfo &info,
                                                              WriterOptions options);

    std::expected<void, Error> put(const Batch &batch) override;
    // The books as they stand: written with the next chunk.
    void set_books(const Books &books) { books_ = books; }
    // A new TraceInfo in the middle (rungs changed).
    std::expected<void, Error> set_info(const TraceInfo &info);
    // Writes what has waited long enough. Call it often, records or not.
    std::expected<void, Error> tick(uint64_t now_ns);
    // Writes the rest, the index and the final info and books, and closes. To be called once.
    std::expected<void, Error> finish(const TraceInfo &info, const Books &books);

    [[nodiscard]] uint64_t bytes_written() const { return bytes_written_; }
    [[nodiscard]] uint64_t records_written() const { return records_written_; }
    // The latest moment in what is on disk; 0 = nothing yet.
    [[nodiscard]] uint64_t written_until_ns() const { return written_until_ns_; }
    // What stopped the writer, 0 = nothing: tells a closed pipe (EPIPE) from a full disk.
    [[nodiscard]] int failed_errno() const { return errnum_; }

  private:
    Writer(base::Fd fd, WriterOptions options);
    template<class T>
    std::expected<void, Error> append(const std::vector<T> &from, std::vector<T> &to,
                                      size_t record_bytes);
    std::expected<void, Error> append_io(std::span<const bt_io_long> records);
    [[nodiscard]] bool nothing_pending() const;
    std::expected<void, Error> write_chunk();
    std::expected<void, Error> write_frame();
    std::expected<void, Error> write_info(const TraceInfo &info);
    std::expected<void, Error> write_footer(const TraceInfo &info);
    std::expected<void, Error> fail(int errnum);

    base::Fd fd_;
    WriterOptions options_;
    bool regular_file_ = false;
    Batch pending_;            // all but io, which the encoder takes apart at once
    size_t pending_bytes_ = 0; // as structs
    uint64_t pending_since_ns_ = 0;
    Books books_;
    ChunkEncoder encoder_;
    Bytes frame_;
    Bytes index_;
    uint32_t chunks_ = 0;
    uint32_t sequence_ = 0;
    uint64_t bytes_written_ = 0;
    uint64_t records_written_ = 0;
    uint64_t written_until_ns_ = 0;
    int errnum_ = 0;
};

} // namespace blktag::store
