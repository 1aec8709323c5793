// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the histograms that the programs keep. Input: map `hists`. Output: what each grew by since the last look.
#pragma once

#include "capture/programs.hpp"

#include <array>
#include <memory>
#include <vector>

namespace blktag::capture {

// Remembers every block's last counts: 15 KB for each block in use. Not thread-safe.
class Histograms {
  public:
    explicit Histograms(const Programs &programs) : programs_(programs) {}
    // A delta for every block that grew. All of a block's durations up to some moment during the call.
    void read(uint64_t now_ns, std::vector<HistogramDelta> &out);

  private:
    struct Seen {
        std::array<bt_hist, BT_NR_HISTS> h{};
        std::array<uint64_t, BT_NR_HISTS> count{};  // of all bins since the start
        std::array<uint64_t, BT_NR_HISTS> zeros{};  // told so far
        uint64_t bytes = 0;
    };
    static uint64_t grow(const bt_hist &now, bt_hist &seen, HistogramDelta::Part &out);
    static bool read_block(const bt_hist_block &block, Seen &seen, HistogramDelta &out);

    const Programs &programs_;
    std::vector<std::unique_ptr<Seen>> seen_;
};

} // namespace blktag::capture
