// SPDX-License-Identifier: GPL-2.0-or-later
// Map sizes: room for twice what is there now, so that devices can come while tracing.
#include "capture/sizes.hpp"

#include <algorithm>
#include <bit>

namespace blktag::capture {

namespace {

constexpr uint32_t all_rings_bytes = 64U << 20;

constexpr uint32_t all_hists_bytes = 64U << 20;
constexpr uint32_t least_hists = 128; // 2 MB: a small machine, and devices that come later

// Room for reads and writes of every hctx on every CPU, and for what an hctx's CPUs share, up to the limit: then CPUs
// share sooner.
void set_hists(bt_knobs &k, const Options &options, uint64_t hctxs)
{
    k.hists = !options.records || options.histograms;
    const auto most = static_cast<uint32_t>(all_hists_bytes / sizeof(bt_hist_block));
    const uint64_t shared = hctxs * BT_NR_SHARED_HISTS;
    const uint64_t wanted = 2 * hctxs * k.nr_cpus + shared;
    k.nr_hists = k.hists ? static_cast<uint32_t>(std::clamp<uint64_t>(2 * wanted, least_hists, most)) : 1;
    k.nr_private_hists = k.nr_hists - static_cast<uint32_t>(std::min<uint64_t>(2 * shared, k.nr_hists / 2));
}

uint32_t ring_size(const Options &options, uint32_t cpus)
{
    const uint32_t wanted = options.ring_size_bytes ? options.ring_size_bytes : all_rings_bytes / std::max(cpus, 1U);
    return std::bit_ceil(std::clamp(wanted, min_ring_size_bytes, max_ring_size_bytes));
}

} // namespace

void set_sizes(bt_knobs &k, const std::vector<SysQueue> &present, const Options &options, uint32_t possible_cpus)
{
    uint64_t hctxs = 0;
    uint64_t slots = 0;
    for (const SysQueue &q : present) {
        hctxs += q.hctxs.size() + 1;
        for (const SysHctx &h : q.hctxs)
            slots += h.nr_tags + h.nr_reserved_tags + q.nr_requests + 128; // both pools, each rounded up to 64
    }
    k.nr_cpus = possible_cpus;
    k.max_rows = static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_ceil(2 * hctxs + 64), 256, 32768));
    k.max_spaces = k.max_rows * 2;
    k.nr_slots = static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_ceil(2 * slots + 32768), 65536, 16U << 20));
    k.ident_mask = std::bit_ceil(k.max_rows * 8) - 1;
    k.wait_mask = 16384 - 1;
    k.task_mask = 16384 - 1;
    set_hists(k, options, hctxs);
    k.ring_size_bytes = options.records ? ring_size(options, possible_cpus) : min_ring_size_bytes;
}

} // namespace blktag::capture
