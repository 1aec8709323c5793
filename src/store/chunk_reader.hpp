// SPDX-License-Identifier: GPL-2.0-or-later
// Random access to the chunks of a trace file, for parallel readers and for looking at a part.
// Input: a seekable file. Output: the list of chunks, and any of them decoded on its own.
#pragma once

#include "base/fd.hpp"
#include "store/chunk_decode.hpp"

#include "blktag/records.hpp"

#include <expected>
#include <string>
#include <vector>

namespace blktag::store {

struct ChunkEntry {
    uint64_t offset_bytes = 0;
    uint32_t size_bytes = 0; // the whole frame
    ChunkSummary summary;
};

struct Footer {
    TraceInfo info;
    Books books;
    uint32_t chunks = 0;             // in the file
    std::vector<ChunkEntry> entries; // of the first ones; all where entries.size() == chunks
};
std::optional<Footer> parse_footer(std::span<const uint8_t> payload);
// The footer of a seekable file, found by its last 16 bytes; the descriptor's position stays.
// nullopt where it is not there or not whole.
std::optional<Footer> read_footer(int fd);
std::optional<TraceInfo> read_footer_info(int fd);

class ChunkReader {
  public:
    // Lists the chunks from the index; where the file is cut or hurt, by walking through it.
    static std::expected<ChunkReader, Error> open(const std::string &path);

    [[nodiscard]] const std::vector<ChunkEntry> &chunks() const { return chunks_; }
    [[nodiscard]] const TraceInfo &info() const { return info_; }
    [[nodiscard]] const Books &books() const { return books_; }
    [[nodiscard]] const std::vector<Damage> &damage() const { return damage_; }

    // What a thread needs to decode; reused over chunks.
    struct Scratch {
        Bytes frame;
        ChunkDecoder decoder;
    };
    // Thread-safe with one Scratch per thread. An error says what is wrong with that chunk.
    std::expected<ChunkResult, std::string> decode(size_t chunk, Batch &batch,
                                                   Scratch &scratch) const;

  private:
    explicit ChunkReader(base::Fd fd) : fd_(std::move(fd)) {}
    std::expected<void, Error> walk();

    base::Fd fd_;
    std::vector<ChunkEntry> chunks_;
    TraceInfo info_;
    Books books_;
    std::vector<Damage> damage_;
};

} // namespace blktag::store
