// SPDX-License-Identifier: GPL-2.0-or-later
// What tagtrace says on stderr, and its data on stdout. Input: errors, texts. Output: lines, safe
// for a terminal.
#pragma once

#include "blktag/records.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tagtrace {

// One line "tagtrace: ..." on stderr.
void notice(std::string_view text);
// A cause and, if there is one, a remedy: a line each.
void complain(const blktag::Error &error);
// "FILE: damaged at byte ..." for each place, the first ten.
void tell_damage(const std::string &file, const std::vector<blktag::Damage> &damage);

// Standard output, in large pieces.
class Output {
  public:
    enum class State { good, closed, failed };
    std::string text; // to be written
    // Writes the text where it is `least` bytes or more. closed: the reader went away, which is no
    // failure.
    State flush(size_t least = 0);
    [[nodiscard]] int errnum() const { return errnum_; }

  private:
    int errnum_ = 0;
};

} // namespace tagtrace
