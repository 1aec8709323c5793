// SPDX-License-Identifier: GPL-2.0-or-later
// The report as text. Input: Snapshot. Output: plain text of at most 80 columns, fit to be pasted
// into a mail.
//
// What is broken or blind comes first (books, notes, what is not measured), then totals, tag sets,
// queues with their hctxs, open waits, tasks. Sections without anything in them are named in one
// line: zero, or not measured.
#pragma once

#include "blktag/snapshot.hpp"

#include <cstddef>
#include <string>

namespace blktag::report {

struct TextOptions {
    size_t max_hctxs = 32; // lines per queue; the JSON has them all
};

std::string text_report(const Snapshot &snapshot, const TextOptions &options = {});

} // namespace blktag::report
