// SPDX-License-Identifier: GPL-2.0-or-later
// Differences of the kernel's bins, which wrap. Input: mapped blocks. Output: deltas.
#include "capture/histograms.hpp"

#include <algorithm>

namespace blktag::capture {

// Returns how many durations came. The sum is added after the bin, so a sum that has not moved may be a moment late:
// the next look then finds it.
uint64_t Histograms::grow(const bt_hist &now, bt_hist &seen, HistogramDelta::Part &out)
{
    const uint64_t sum_ns = load_acquire(now.sum_ns);
    if (sum_ns == seen.sum_ns)
        return 0;
    uint64_t came = 0;
    for (uint16_t bin = 0; bin < BT_HIST_BINS; bin++) {
        const uint32_t count = load_acquire(now.bin[bin]);
        const uint32_t more = count - seen.bin[bin];
        if (!more)
            continue;
        out.bins.push_back({bin, more});
        seen.bin[bin] = count;
        came += more;
    }
    out.sum_ns = sum_ns - seen.sum_ns;
    out.max_ns = load_acquire(now.max_ns);
    seen.sum_ns = sum_ns;
    return came;
}

// The programs add to the whole last and it is read first: so the parts never seem to lack a request, and zeros,
// which are what the whole has more, are never told too early.
bool Histograms::read_block(const bt_hist_block &block, Seen &seen, HistogramDelta &out)
{
    bool grew = false;
    for (unsigned i = BT_NR_HISTS; i-- > 0;) {
        const uint64_t came = grow(block.h[i], seen.h[i], out.of[i]);
        seen.count[i] += came;
        grew |= came != 0 || out.of[i].sum_ns != 0;
        if (block.kind != BT_HB_IO)
            continue;
        if (i == BT_H_WHOLE) {
            out.requests = came;
            continue;
        }
        const uint64_t told = seen.count[i] + seen.zeros[i];
        if (seen.count[BT_H_WHOLE] > told) {
            out.of[i].zeros = seen.count[BT_H_WHOLE] - told;
            seen.zeros[i] += out.of[i].zeros;
            grew = true;
        }
    }
    const uint64_t bytes = load_acquire(block.bytes);
    out.bytes = bytes - seen.bytes;
    seen.bytes = bytes;
    return grew;
}

void Histograms::read(uint64_t now_ns, std::vector<HistogramDelta> &out)
{
    const uint32_t blocks = std::min(load_acquire(programs_.globals().next_hist) + 1, programs_.hists.size());
    if (seen_.size() < blocks)
        seen_.resize(blocks);
    for (uint32_t i = 1; i < blocks; i++) {
        const bt_hist_block *block = programs_.hists.at(i);
        if (!load_acquire(block->ready))
            continue;
        if (!seen_[i])
            seen_[i] = std::make_unique<Seen>();
        HistogramDelta delta;
        delta.ts_ns = now_ns;
        delta.hctx_id = block->hctx_id;
        delta.kind = block->kind;
        delta.op = block->op;
        if (read_block(*block, *seen_[i], delta))
            out.push_back(std::move(delta));
    }
}

} // namespace blktag::capture
