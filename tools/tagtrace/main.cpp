// SPDX-License-Identifier: GPL-2.0-or-later
// tagtrace: records tag contention, or prints it. Input: argv. Output: a trace or lines; see
// tagtrace(8).
#include "console.hpp"
#include "live.hpp"
#include "offline.hpp"
#include "options.hpp"

#include "base/clock.hpp"

#include <exception>

namespace {

using namespace tagtrace;

int run(int argc, char **argv)
{
    const auto options = parse_options(argc, argv, blktag::base::now_real_ns());
    if (!options)
        return options.error();
    switch (options->verb) {
    case Verb::record:
        return run_record(*options);
    case Verb::live:
        return run_live(*options);
    case Verb::print:
        return run_print(*options);
    case Verb::info:
        return run_info(*options);
    case Verb::doctor:
        return run_doctor(*options);
    }
    return exit_usage;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception &error) { // out of memory, mostly: nothing of ours throws
        notice(error.what());
        return exit_failed;
    }
}
