// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a trace as a RecordSource, forward only, so from a file, a pipe or stdin. Input: bytes from
// anybody. Output: one batch per chunk, everything up to, between and after damage, and where the
// damage is.
//
//     auto reader = store::Reader::open("out.tag");   // "-" is stdin
//     Batch batch;
//     while (auto more = reader->next(batch)) { if (!*more) break; use(batch); }
#pragma once

#include "base/fd.hpp"
#include "store/chunk_decode.hpp"
#include "store/frame_source.hpp"

#include "blktag/records.hpp"

#include <map>
#include <memory>
#include <string>

namespace blktag::store {

struct ReaderStats {
    uint64_t chunks = 0;
    uint64_t records = 0;   // delivered
    uint64_t malformed = 0; // records refused by validation
    uint64_t skewed = 0;
    std::map<uint16_t, uint64_t> unknown; // records of kinds that this version does not know
    uint64_t bytes = 0;
    uint16_t format_minor = 0;
    bool has_end = false; // the footer was there
};

// Not thread-safe. Memory stays below about 150 MiB whatever the bytes are.
class Reader : public RecordSource {
  public:
    // Fails where nothing in it is usable: empty, not a trace, another major version, damaged all
    // over. Errors do not name the file: the caller knows it.
    static std::expected<std::unique_ptr<Reader>, Error> open(const std::string &path);
    static std::expected<std::unique_ptr<Reader>, Error> open(base::Fd fd);

    std::expected<bool, Error> next(Batch &batch) override;
    [[nodiscard]] const TraceInfo &info() const override { return info_; }
    [[nodiscard]] const Books &books() const override { return books_; }
    [[nodiscard]] const std::vector<Damage> &damage() const override { return damage_.entries(); }
    [[nodiscard]] Unusable unusable() const override;
    [[nodiscard]] const ReaderStats &stats() const { return stats_; }

  private:
    explicit Reader(base::Fd fd) : fd_(std::move(fd)), frames_(fd_.get()) {}
    std::expected<void, Error> start();
    void take_info(const Frame &frame);
    bool take_footer(const Frame &frame);
    bool take_chunk(const Frame &frame, Batch &batch);
    void finish_cut();

    base::Fd fd_;
    FrameSource frames_;
    DamageList damage_;
    ChunkDecoder decoder_;
    TraceInfo info_;
    bool has_info_ = false;
    Books books_;
    ReaderStats stats_;
    std::optional<Frame> held_; // read by start(), its payload is in held_payload_
    Bytes held_payload_;
    bool done_ = false;
};

} // namespace blktag::store
