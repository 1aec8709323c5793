// SPDX-License-Identifier: GPL-2.0-or-later
// tagtop's command line, by CLI11. Input: argv. Output: see options.hpp.
#include "options.hpp"

#include "base/units.hpp"
#include "common/capture_options.hpp"
#include "view/draw.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>

namespace tagtop {

using namespace blktag;

namespace {

// What was typed, before it is turned into Options.
struct Typed {
    std::string interval, seek, size, view;
    std::string sort, filter;
    bool no_colour = false, no_mouse = false, ascii = false;
};

uint64_t time_of(const char *option, const std::string &text)
{
    const auto ns = base::parse_duration_ns(text);
    if (!ns)
        throw CLI::ValidationError(option, "'" + text + "' is no time: write 500ms, 1s, 2m");
    return *ns;
}

view::Size size_of(const std::string &text)
{
    view::Size size;
    char end = 0;
    if (std::sscanf(text.c_str(), "%dx%d%c", &size.width, &size.height, &end) != 2 ||
        size.width < 1 || size.height < 1 || size.width > 1000 || size.height > 10000)
        throw CLI::ValidationError("--size", "'" + text + "' is no size: write 132x50");
    return size;
}

view::ViewId view_of(const std::string &text)
{
    std::string known;
    for (size_t i = 0; i < view::nr_views; i++) {
        const auto id = static_cast<view::ViewId>(i);
        if (text == std::to_string(i + 1) || ::strcasecmp(text.c_str(), view::view_name(id)) == 0)
            return id;
        known += fmt::format("{}{} {}", known.empty() ? "" : ", ", i + 1, view::view_name(id));
    }
    throw CLI::ValidationError("--view", "'" + text + "' is none of " + known);
}

void add_options(CLI::App &app, Options &options, Typed &typed)
{
    tools::add_target_options(app, options.capture);
    app.add_option("-i,--interval", typed.interval, "time between screens, 50ms or more; 1s")
        ->type_name("TIME");
    app.add_option("--view", typed.view, "begin with this view, by number or name")
        ->type_name("VIEW");
    app.add_option("--sort", typed.sort, "sort by this column (its name in the header, or id)")
        ->type_name("COLUMN");
    app.add_option("--filter", typed.filter, "show only rows with this text")->type_name("TEXT");
    app.add_option("--replay", options.replay, "show a recording (tagtrace --record) instead")
        ->type_name("FILE");
    app.add_option("--seek", typed.seek, "begin at this time of the recording")->type_name("TIME");
    app.add_option("--speed", options.speed, "of the replay; 1")->check(CLI::Range(0.01, 1000.0));
    app.add_option("-b,--batch", options.frames,
                   "plain text on standard output, N screens or until the end")
        ->expected(0, 1)
        ->type_name("[N]");
    app.add_flag("--json", options.json, "with --batch: one Snapshot a line");
    app.add_option("--size", typed.size, "with --batch: columns and lines, 132x50")
        ->type_name("WxH");
    app.add_flag("--no-color", typed.no_colour, "no colours (also: NO_COLOR set)");
    app.add_flag("--ascii", typed.ascii, "only ASCII characters");
    app.add_flag("--no-mouse", typed.no_mouse, "leave the mouse to the terminal");
    tools::add_probe_options(app, options.capture);
}

void finish(const CLI::App &app, Options &options, const Typed &typed)
{
    options.batch = app.count("--batch") != 0 || options.json || !::isatty(STDIN_FILENO) ||
                    !::isatty(STDOUT_FILENO);
    if (!options.batch)
        load_settings(options);
    if (!typed.view.empty())
        options.state.view = view_of(typed.view);
    if (!typed.interval.empty())
        options.interval_ns = time_of("--interval", typed.interval);
    if (options.interval_ns < 50'000'000 || options.interval_ns > 3'600'000'000'000)
        throw CLI::ValidationError("--interval", "must lie between 50ms and 1h");
    if (!typed.seek.empty()) {
        if (options.replay.empty())
            throw CLI::ValidationError("--seek", "only with --replay");
        options.seek_ns = time_of("--seek", typed.seek);
    }
    if (!typed.size.empty())
        options.size = size_of(typed.size);
    if (!typed.sort.empty())
        options.state.table().sort = typed.sort;
    options.state.filter = typed.filter;
    const char *no_color = std::getenv("NO_COLOR");
    options.colour = !typed.no_colour && !(no_color && *no_color);
    options.mouse = !typed.no_mouse;
    options.state.ascii = typed.ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    options.capture.records = false;
}

} // namespace

std::expected<Options, int> parse_options(int argc, char **argv)
{
    Options options;
    Typed typed;
    CLI::App app{"Shows who waits for block-layer tags, on what, and who holds them.", "tagtop"};
    app.set_version_flag("-V,--version", std::string("tagtop ") + BLKTAG_VERSION);
    app.footer(
        "Keys: ? on the screen, or tagtop(8). Not on a terminal it behaves as with --batch.\n\n"
        "Exit status: 0 ok; 1 failed; 2 usage; 3 finished, but the recording is damaged or "
        "had losses");
    add_options(app, options, typed);
    try {
        app.parse(argc, argv);
        finish(app, options, typed);
    } catch (const CLI::ParseError &error) {
        const int status = app.exit(error);
        return std::unexpected(status == 0 ? exit_ok : exit_usage);
    }
    return options;
}

} // namespace tagtop
