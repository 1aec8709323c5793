// SPDX-License-Identifier: GPL-2.0-or-later
// tagtrace's command line, by CLI11. Input: argv. Output: see options.hpp.
#include "options.hpp"

#include "base/clock.hpp"
#include "base/units.hpp"
#include "common/capture_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <span>

namespace tagtrace {
namespace {

using namespace blktag;

const char *const footer =
    "Everything after -- is a command: it is run, and recorded for as long as it runs.\n\n"
    "Exit status: 0 ok; 1 failed; 2 usage; 3 finished, but records were lost or the file is "
    "damaged\n"
    "or cut; with a command: its own status, unless the recording failed.";

struct Choice {
    const char *name;
    uint32_t bits;
};
constexpr Choice groups[] = {
    {"tag", capture::GROUP_TAG},     {"run", capture::GROUP_RUN}, {"budget", capture::GROUP_BUDGET},
    {"batch", capture::GROUP_BATCH}, {"rq", capture::GROUP_RQ},   {"other", capture::GROUP_OTHER},
};
constexpr Choice ops[] = {
    {"read", 1U << BT_OP_READ},   {"write", 1U << BT_OP_WRITE},
    {"flush", 1U << BT_OP_FLUSH}, {"discard", 1U << BT_OP_DISCARD},
    {"zone", 1U << BT_OP_ZONE},   {"write_zeroes", 1U << BT_OP_WRITE_ZEROES},
    {"drv", 1U << BT_OP_DRV},     {"other", 1U << BT_OP_OTHER},
};

// ORs the bits of the names; throws the usage error that lists them.
uint32_t chosen(const std::string &option, const std::vector<std::string> &names,
                std::span<const Choice> choices)
{
    uint32_t bits = 0;
    for (const std::string &name : names) {
        const auto found = std::find_if(choices.begin(), choices.end(),
                                        [&](const Choice &c) { return name == c.name; });
        if (found == choices.end()) {
            std::string known;
            for (const Choice &choice : choices)
                known += std::string(known.empty() ? "" : ", ") + choice.name;
            throw CLI::ValidationError(option, "'" + name + "' is none of " + known);
        }
        bits |= found->bits;
    }
    return bits;
}

// What was typed, before it is turned into Options.
struct Typed {
    std::string record, duration, max_size, ring_size;
    std::vector<std::string> ops, only;
    CLI::Option *record_option = nullptr;
};

void add_capture_options(CLI::App &app, Options &options, Typed &typed)
{
    tools::add_target_options(app, options.capture);
    app.add_option("--op", typed.ops, "only these operations: read,write,flush,discard,...")
        ->delimiter(',')
        ->type_name("LIST")
        ->allow_extra_args(false);
    app.add_option("--only", typed.only, "only these groups: tag,run,budget,batch,rq,other")
        ->delimiter(',')
        ->type_name("LIST")
        ->allow_extra_args(false);
    app.add_option("--ring-size", typed.ring_size,
                   "ring buffer of each CPU, 4K to 2M; default: derived")
        ->type_name("SIZE");
    tools::add_probe_options(app, options.capture);
}

void add_record_options(CLI::App &app, Options &options, Typed &typed)
{
    typed.record_option =
        app.add_option(
               "--record", typed.record,
               "record to FILE (- is stdout; default tagtrace-<time>.tag); else print events")
            ->expected(0, 1)
            ->type_name("[FILE]");
    app.add_flag("--force", options.force, "replace FILE if it exists");
    app.add_option("--duration", typed.duration, "stop after this time (10, 1.5s, 500ms, 3m)")
        ->type_name("TIME");
    app.add_option("--max-size", typed.max_size, "stop when the file has this size (64M, 1G)")
        ->type_name("SIZE");
    app.add_flag("--json", options.json, "one JSON object a line");
    app.add_flag("-v,--verbose", options.verbose, "say which probes and sizes are used");
}

std::optional<uint64_t> value_of(const char *option, const std::string &text,
                                 std::optional<uint64_t> (*parse)(std::string_view),
                                 const char *example)
{
    if (text.empty())
        return std::nullopt;
    const auto value = parse(text);
    if (!value || *value == 0)
        throw CLI::ValidationError(option, "'" + text + "' is no value for it: write " + example);
    return value;
}

void remember_filters(Options &options, const Typed &typed)
{
    const auto add = [&](const char *name, const std::string &value) {
        if (!value.empty())
            options.filters.push_back(std::string(name) + "=" + value);
    };
    for (const std::string &device : options.capture.devices)
        add("dev", device);
    add("pid", options.capture.tgid ? std::to_string(options.capture.tgid) : "");
    add("cgroup", options.capture.cgroup);
    for (const std::string &op : typed.ops)
        add("op", op);
    for (const std::string &group : typed.only)
        add("only", group);
}

// What CLI11 cannot check by itself.
void finish(Options &options, const Typed &typed, uint64_t now_real_ns)
{
    if (*typed.record_option) {
        options.verb = Verb::record;
        options.file = typed.record.empty()
                           ? "tagtrace-" + base::format_file_stamp(now_real_ns) + ".tag"
                           : typed.record;
    }
    options.duration_ns = value_of("--duration", typed.duration, base::parse_duration_ns, "10s");
    options.max_size_bytes = value_of("--max-size", typed.max_size, base::parse_bytes, "64M");
    if (const auto ring = value_of("--ring-size", typed.ring_size, base::parse_bytes, "256K")) {
        if (*ring < 4096 || *ring > (2U << 20))
            throw CLI::ValidationError("--ring-size", "is 4K to 2M");
        options.capture.ring_size_bytes = static_cast<uint32_t>(*ring);
    }
    options.capture.op_mask = chosen("--op", typed.ops, ops);
    if (!typed.only.empty())
        options.capture.groups = chosen("--only", typed.only, groups);
    remember_filters(options, typed);
    if (options.verb == Verb::record && options.json)
        throw CLI::ValidationError("--json",
                                   "is for events that are printed: tagtrace print --json FILE");
    if (options.verb == Verb::live && (options.max_size_bytes || options.force))
        throw CLI::ValidationError("--max-size, --force", "go with --record");
    const bool live = options.verb == Verb::live || options.verb == Verb::record;
    if (!live && !options.command.empty())
        throw CLI::ValidationError("--", "a command goes with recording or live printing only");
}

} // namespace

std::expected<Options, int> parse_options(int argc, char **argv, uint64_t now_real_ns)
{
    Options options;
    Typed typed;
    options.argv.assign(argv, argv + argc);
    char **const end =
        std::find_if(argv, argv + argc, [](const char *arg) { return !std::strcmp(arg, "--"); });
    if (end != argv + argc)
        options.command.assign(end + 1, argv + argc);

    CLI::App app{"Records every wait for block-layer tags, hctx run, RESTART, budget and batch, "
                 "with each request's\n"
                 "life, to a file or as lines. Needs root.",
                 "tagtrace"};
    app.footer(footer);
    app.set_version_flag("--version", std::string("tagtrace ") + BLKTAG_VERSION);
    app.require_subcommand(0, 1);
    add_record_options(app, options, typed);
    add_capture_options(app, options, typed);
    CLI::App *print = app.add_subcommand("print", "print a recording's events, a line each");
    CLI::App *info = app.add_subcommand("info", "say what a recording is, and whether it is whole");
    CLI::App *doctor =
        app.add_subcommand("doctor", "say what can be measured here, and what is missing");
    for (CLI::App *of_file : {print, info})
        of_file->add_option("FILE", options.file, "the recording; - is standard input")->required();
    for (CLI::App *any : {print, info, doctor})
        any->add_flag("--json", options.json, "as JSON");
    add_capture_options(*doctor, options, typed);
    try {
        app.parse(static_cast<int>(end - argv), argv);
        if (*print)
            options.verb = Verb::print;
        else if (*info)
            options.verb = Verb::info;
        else if (*doctor)
            options.verb = Verb::doctor;
        if (end != argv + argc && options.command.empty())
            throw CLI::ValidationError("--", "must be followed by a command");
        finish(options, typed, now_real_ns);
    } catch (const CLI::ParseError &error) {
        return std::unexpected(app.exit(error) == 0 ? exit_ok : exit_usage);
    }
    return options;
}

} // namespace tagtrace
