// SPDX-License-Identifier: GPL-2.0-or-later
// taglab's command line, by CLI11. Input: argv. Output: see options.hpp.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

namespace taglab {

namespace {

namespace fs = std::filesystem;

const char *const footer =
    "Exit status: 0 ok; 1 something could not run; 2 usage; 3 all ran, and something that must\n"
    "hold did not hold.";

// The build folder is where this program's bin/ lies; the tree is the nearest folder above it that
// has the experiments.
void find_folders(Options &options)
{
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    const fs::path build = program.parent_path().parent_path();
    if (options.build.empty())
        options.build = build.string();
    // guests and helpers start in other folders
    options.build = fs::absolute(options.build).string();
    if (!options.root.empty()) {
        options.root = fs::absolute(options.root).string();
        return;
    }
    options.root = BLKTAG_SOURCE_DIR;
    for (fs::path dir = build; dir.has_relative_path(); dir = dir.parent_path())
        if (fs::is_directory(dir / "contrib/experiments", ignored)) {
            options.root = dir.string();
            return;
        }
}

void add_run(CLI::App &run, Options &options)
{
    run.add_option("NAME", options.names,
                   "experiments; all = the published ones, cases = the cases")
        ->required();
    run.add_option("--kernel", options.kernels,
                   "6.1, 6.12, 6.18, 7.2, 7.3 or all; may be given again (6.12)")
        ->type_name("VERSION");
    run.add_flag("--quick", options.quick, "fewer repeats and cells");
    run.add_flag("--json", options.json, "write JSON, not text");
    CLI::Option *native = run.add_flag("--native", options.native,
                                       "on this machine, as root; loads modules into its kernel");
    run.add_flag("--yes", options.yes, "with --native: do not ask before loading")->needs(native);
}

} // namespace

std::expected<Options, int> parse_options(int argc, char **argv)
{
    Options options;
    CLI::App app{"Runs experiments on contention for block-layer tags and explains them with their "
                 "own recordings.",
                 "taglab"};
    app.footer(footer);
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("taglab ") + BLKTAG_VERSION);
    app.add_option("--tree", options.root, "tree with contrib/ and tools/ (where this was built)");
    app.add_option("--build", options.build, "folder for modules/ and lab/ (where this lies)");
    CLI::App *list = app.add_subcommand("list", "what there is, a line each");
    list->add_flag("--json", options.json, "write JSON, not text");
    CLI::App *run = app.add_subcommand("run", "run experiments and print what came out");
    add_run(*run, options);
    CLI::App *show = app.add_subcommand("show", "what an experiment does and must show, and what "
                                                "the kept recordings of its last run say");
    show->add_option("NAME", options.names, "experiments")->required();
    show->add_option("--kernel", options.kernels, "only this kernel's recordings");
    show->add_flag("--json", options.json, "write JSON, not text");
    try {
        app.parse(argc, argv);
        options.command = run->parsed()    ? Command::run
                          : show->parsed() ? Command::show
                                           : Command::list;
        find_folders(options);
        if (options.native && !options.kernels.empty())
            throw CLI::ValidationError("--native", "takes the running kernel, not --kernel");
    } catch (const CLI::ParseError &error) {
        return std::unexpected(app.exit(error) == 0 ? exit_ok : exit_usage);
    }
    return options;
}

} // namespace taglab
