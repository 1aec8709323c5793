// SPDX-License-Identifier: GPL-2.0-or-later
// tagtrace doctor: what can be measured here, by which rung, and what is missing. Input: the
// running kernel, asked by capture. Output: text or JSON on stdout; exit status 1 where recording
// would not work.
#include "console.hpp"
#include "offline.hpp"

#include "base/fd.hpp"
#include "base/text.hpp"
#include "capture/capture.hpp"

#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tagtrace {

using namespace blktag;

namespace {

std::string text_of(const capture::Doctor &doctor)
{
    const auto safe = [](const std::string &bytes) {
        return base::escape_terminal(bytes);
    };
    std::string out = "needs\n";
    for (const capture::Requirement &need : doctor.requirements) {
        out += fmt::format("  {:<4} {:<20} {}\n", need.ok ? "ok" : "NO", safe(need.name),
                           safe(need.found));
        if (!need.ok && !need.remedy.empty())
            out += fmt::format("       -> {}\n", safe(need.remedy));
    }
    out += "probes\n";
    for (const ProbeRung &rung : doctor.rungs)
        out += fmt::format("  {:<20} {:<10} {}\n", safe(rung.probe), safe(rung.rung),
                           safe(rung.rung == "none" || rung.hook.empty() ? rung.why : rung.hook));
    out += "not measured here\n";
    for (const std::string &name : doctor.not_measured)
        out += fmt::format("  {}\n", safe(name));
    if (doctor.not_measured.empty())
        out += "  nothing: all is measured\n";
    out += doctor.usable ? "recording works here\n" : "recording does not work here\n";
    return out;
}

std::string json_of(const capture::Doctor &doctor)
{
    using nlohmann::ordered_json;
    ordered_json needs = ordered_json::array(), rungs = ordered_json::array();
    for (const capture::Requirement &need : doctor.requirements)
        needs.push_back(
            {{"name", need.name}, {"ok", need.ok}, {"found", need.found}, {"remedy", need.remedy}});
    for (const ProbeRung &rung : doctor.rungs)
        rungs.push_back(
            {{"probe", rung.probe}, {"hook", rung.hook}, {"rung", rung.rung}, {"why", rung.why}});
    const ordered_json out{{"schema", "blktag-doctor/1"},
                           {"usable", doctor.usable},
                           {"requirements", needs},
                           {"rungs", rungs},
                           {"not_measured", doctor.not_measured}};
    return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

int run_doctor(const Options &options)
{
    ::signal(SIGPIPE, SIG_IGN);
    const capture::Doctor doctor = capture::examine(options.capture);
    Output output;
    output.text = options.json ? json_of(doctor) : text_of(doctor);
    if (output.flush() == Output::State::failed) {
        complain(base::errno_error("cannot write to standard output", output.errnum()));
        return exit_failed;
    }
    return doctor.usable ? exit_ok : exit_failed;
}

} // namespace tagtrace
