// SPDX-License-Identifier: GPL-2.0-or-later
// zstd contexts: one frame at a time, bounded on both sides.
#define ZSTD_STATIC_LINKING_ONLY // for ZSTD_c_literalCompressionMode; where it is refused, files
                                 // get longer, not wrong
#include "store/zstd_context.hpp"

#include <new>

namespace blktag::store {

Compressor::Compressor() : context_(ZSTD_createCCtx())
{
    if (!context_)
        throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, 1);
    tune(Kind::repeats);
}

void Compressor::tune(Kind kind)
{
    if (tuned_for_ == kind)
        return;
    tuned_for_ = kind;
    const bool noise = kind == Kind::noise;
    ZSTD_CCtx *context = context_.get();
    ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, ZSTD_fast);
    ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, noise ? 7 : 5);
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, noise ? 6 : 12);
    // The step between two positions that are tried: practically no search in noise.
    ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, noise ? 1 << 17 : 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
}

size_t Compressor::append(std::span<const uint8_t> bytes, Kind kind, size_t limit_bytes, Bytes &out)
{
    tune(kind);
    const size_t at = out.size();
    out.resize(at + ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compress2(context_.get(), out.data() + at, out.size() - at,
                                       bytes.data(), bytes.size());
    if (ZSTD_isError(size) || size > limit_bytes) {
        out.resize(at);
        return 0;
    }
    out.resize(at + size);
    return size;
}

bool Decompressor::decode(std::span<const uint8_t> frame, std::span<uint8_t> out)
{
    if (!context_)
        return false;
    // The size in the frame must be the one that is wanted, before any work is done for it.
    if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != out.size())
        return false;
    const size_t size =
        ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), frame.data(), frame.size());
    return !ZSTD_isError(size) && size == out.size();
}

} // namespace blktag::store
