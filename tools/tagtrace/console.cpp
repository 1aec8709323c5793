// SPDX-License-Identifier: GPL-2.0-or-later
// What tagtrace says: one place that writes to stderr and stdout.
#include "console.hpp"

#include "base/fd.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

namespace tagtrace {

using namespace blktag;

void notice(std::string_view text)
{
    const std::string line = "tagtrace: " + base::escape_terminal(text) + "\n";
    size_t written = 0;
    base::write_all(STDERR_FILENO, std::as_bytes(std::span(line)), written);
}

void complain(const Error &error)
{
    notice(error.what);
    if (!error.remedy.empty())
        notice("  " + error.remedy);
}

void tell_damage(const std::string &file, const std::vector<Damage> &damage)
{
    constexpr size_t most = 10;
    for (size_t i = 0; i < damage.size() && i < most; i++) {
        const Damage &at = damage[i];
        const std::string extent =
            at.length_bytes ? fmt::format("{} bytes from {}", at.length_bytes, at.offset_bytes)
                            : fmt::format("from byte {} on", at.offset_bytes);
        notice(fmt::format("{}: {}: {}", file, extent, at.what));
    }
    if (damage.size() > most)
        notice(fmt::format("{}: and {} more places", file, damage.size() - most));
}

Output::State Output::flush(size_t least)
{
    if (errnum_ == 0 && text.size() >= least && !text.empty()) {
        size_t written = 0;
        errnum_ = base::write_all(STDOUT_FILENO, std::as_bytes(std::span(text)), written);
        text.clear();
    }
    return errnum_ == 0 ? State::good : errnum_ == EPIPE ? State::closed : State::failed;
}

} // namespace tagtrace
