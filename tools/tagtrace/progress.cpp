// SPDX-License-Identifier: GPL-2.0-or-later
// How a recording goes: one line on stderr.
#include "progress.hpp"
#include "console.hpp"

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace tagtrace {

using namespace blktag;

namespace {

constexpr uint64_t redraw_ns = 500'000'000;
constexpr uint64_t line_ns = 10'000'000'000;

void put(const std::string &text)
{
    size_t written = 0;
    base::write_all(STDERR_FILENO, std::as_bytes(std::span(text)), written);
}

} // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO))
{}

void Progress::show(const Totals &totals, uint64_t now_ns)
{
    if (next_ns_ == 0) // nothing is worth a line at the start
        next_ns_ = now_ns + (terminal_ ? redraw_ns : line_ns);
    if (now_ns < next_ns_)
        return;
    next_ns_ = now_ns + (terminal_ ? redraw_ns : line_ns);
    const std::string text =
        fmt::format("{} s  {} events  {} lost  {}", totals.elapsed_ns / 1'000'000'000,
                    base::format_count(totals.events), base::format_count(totals.lost),
                    base::format_bytes(totals.file_bytes));
    if (!terminal_)
        return notice(text);
    put("\r\x1b[Ktagtrace: " + text);
    drawn_ = true;
}

void Progress::clear()
{
    if (drawn_)
        put("\r\x1b[K");
    drawn_ = false;
}

} // namespace tagtrace
