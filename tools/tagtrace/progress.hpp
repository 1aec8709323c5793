// SPDX-License-Identifier: GPL-2.0-or-later
// How a recording goes, on stderr. Input: totals. Output: on a terminal one line drawn again and
// again, elsewhere a line every ten seconds.
#pragma once

#include <cstdint>
#include <string>

namespace tagtrace {

struct Totals {
    uint64_t elapsed_ns = 0;
    uint64_t events = 0;
    uint64_t lost = 0;
    uint64_t file_bytes = 0;
};

class Progress {
  public:
    Progress();
    void show(const Totals &totals, uint64_t now_ns);
    // Takes the drawn line away, so that other lines can follow.
    void clear();

  private:
    bool terminal_;
    bool drawn_ = false;
    uint64_t next_ns_ = 0;
};

} // namespace tagtrace
