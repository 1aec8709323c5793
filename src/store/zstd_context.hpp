// SPDX-License-Identifier: GPL-2.0-or-later
// zstd contexts, kept over chunks: making one costs more than a small frame. Input: bytes. Output:
// one frame, or back.
#pragma once

#include "store/bytes.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <zstd.h>

namespace blktag::store {

class Compressor {
  public:
    Compressor();
    // Bytes that repeat gain by matches, noise with a skewed distribution only by the entropy
    // coder.
    enum class Kind { repeats, noise };
    // Appends one frame to `out`; returns its size. Gives nothing (0, `out` as before) where it
    // would be longer than `limit_bytes`.
    size_t append(std::span<const uint8_t> bytes, Kind kind, size_t limit_bytes, Bytes &out);

  private:
    void tune(Kind kind);
    Kind tuned_for_ = Kind::noise;
    struct Free {
        void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
    };
    std::unique_ptr<ZSTD_CCtx, Free> context_;
};

class Decompressor {
  public:
    Decompressor() : context_(ZSTD_createDCtx()) {}
    // true where `frame` is one frame of exactly out.size() bytes.
    bool decode(std::span<const uint8_t> frame, std::span<uint8_t> out);

  private:
    struct Free {
        void operator()(ZSTD_DCtx *context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> context_;
};

} // namespace blktag::store
