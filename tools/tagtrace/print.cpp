// SPDX-License-Identifier: GPL-2.0-or-later
// tagtrace print: a recording's events as lines. Input: a trace. Output: stdout.
#include "console.hpp"
#include "offline.hpp"

#include "base/fd.hpp"
#include "report/print.hpp"
#include "store/reader.hpp"

#include <csignal>
#include <fmt/format.h>

namespace tagtrace {

using namespace blktag;

int run_print(const Options &options)
{
    constexpr size_t piece_bytes = 1U << 16;
    ::signal(SIGPIPE, SIG_IGN);
    auto reader = store::Reader::open(options.file);
    if (!reader) {
        complain({options.file + ": " + reader.error().what, reader.error().remedy});
        return exit_failed;
    }
    report::EventPrinter printer(options.json, (*reader)->info());
    Output output;
    bool failed = false;
    for (Batch batch;;) {
        const auto more = (*reader)->next(batch);
        if (!more) {
            complain({options.file + ": " + more.error().what, more.error().remedy});
            failed = true;
        }
        if (!more || !*more)
            break;
        printer.print(batch, output.text);
        if (output.flush(piece_bytes) != Output::State::good)
            break;
    }
    const Output::State state = output.flush();
    if (state == Output::State::closed)
        return exit_ok; // whoever reads has seen enough
    if (state == Output::State::failed)
        complain(base::errno_error("cannot write to standard output", output.errnum()));
    if (failed || state == Output::State::failed)
        return exit_failed;
    tell_damage(options.file, (*reader)->damage());
    if (const uint64_t lost = (*reader)->books().lost)
        notice(fmt::format("{}: {} events were lost while recording", options.file, lost));
    return (*reader)->damage().empty() && (*reader)->books().lost == 0 ? exit_ok : exit_impaired;
}

} // namespace tagtrace
