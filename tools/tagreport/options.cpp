// SPDX-License-Identifier: GPL-2.0-or-later
// tagreport's command line, by CLI11. Input: argv. Output: see options.hpp.
#include "options.hpp"

#include "base/units.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tagreport {

namespace {

const char *const footer = "Exit status: 0 ok; 1 failed, or nothing usable; 2 usage; 3 finished, "
                           "but records were lost or a\n"
                           "file is damaged or cut; 4 --check or --expect found something.";

// CLI11 wants "" for a valid value, else the reason.
std::string check_seconds(const std::string &text)
{
    return blktag::base::parse_duration_ns(text)
               ? std::string()
               : "'" + text + "' is no time: write 1.5, 500ms or 2m";
}

} // namespace

std::expected<Options, int> parse_options(int argc, char **argv)
{
    Options options;
    std::string from;
    std::string to;
    std::string severity;
    CLI::App app{"Reports who waited for block-layer tags in a recording of tagtrace, where, how "
                 "long and why.",
                 "tagreport"};
    app.footer(footer);
    app.set_version_flag("--version", std::string("tagreport ") + BLKTAG_VERSION);
    CLI::Option *files = app.add_option("FILE", options.files, "recordings; - is standard input");
    app.add_flag("--json", options.json, "write JSON, not text");
    app.add_option("-o,--output", options.output, "write to FILE, not to standard output")
        ->type_name("FILE");
    app.add_option("--from", from, "leave out what ended before this time (seconds from the start)")
        ->type_name("TIME")
        ->check(check_seconds);
    app.add_option("--to", to, "leave out what ended after this time")
        ->type_name("TIME")
        ->check(check_seconds);
    app.add_flag("--check", options.check,
                 "exit with 4 where a finding of --severity or above exists");
    app.add_option("--severity", severity, "info, warning (default) or critical")
        ->type_name("LEVEL")
        ->check(CLI::IsMember({"info", "warning", "critical"}));
    app.add_option("--expect", options.expect,
                   "hold the report to the bounds in FILE (JSON: metric, op, value); exit with 4 "
                   "where one is broken")
        ->type_name("FILE");
    app.add_option("--html", options.html,
                   "write one HTML page that works without network to FILE, and no text")
        ->type_name("FILE");
    app.add_flag("--compare", options.compare, "hold the files against the first one");
    app.add_option("--runs", options.runs,
                   "with --compare: each N files in a row are repeated runs of one side")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    app.add_flag("--thresholds", options.thresholds,
                 "print the diagnosis' findings and thresholds and leave")
        ->excludes(files);
    app.add_flag("--json-schema", options.json_schema, "print the JSON Schema of --json and leave")
        ->excludes(files);
    try {
        app.parse(argc, argv);
        if (options.files.empty() && !options.json_schema && !options.thresholds)
            throw CLI::RequiredError("FILE");
        options.from_ns = from.empty() ? 0 : blktag::base::parse_duration_ns(from).value_or(0);
        if (!to.empty())
            options.to_ns = blktag::base::parse_duration_ns(to);
        if (!severity.empty())
            options.severity = *blktag::diagnose::severity_from(severity);
        if (!options.html.empty() && !options.compare && options.files.size() > 1)
            throw CLI::ValidationError("--html", "takes one recording, or --compare");
        if (options.compare && options.files.size() % options.runs != 0)
            throw CLI::ValidationError("--runs", "does not divide the number of files");
        if (options.to_ns && *options.to_ns < options.from_ns)
            throw CLI::ValidationError("--to", "lies before --from");
    } catch (const CLI::ParseError &error) {
        const int status = app.exit(error);
        return std::unexpected(status == 0 ? exit_ok : exit_usage);
    }
    return options;
}

} // namespace tagreport
