// SPDX-License-Identifier: GPL-2.0-or-later
// Builds modules, boots VMs and starts the guest's driver. Input: see machine.hpp. Output: files in
// the results folder; progress on stderr.
#include "machine.hpp"

#include "process.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace taglab {

namespace {

namespace fs = std::filesystem;
using blktag::Error;

constexpr uint64_t room_needed_mb = 500;
constexpr int vm_not_served = 77;
constexpr int vm_time_limit = 124;

std::unexpected<Error> error(std::string what, std::string remedy = {})
{
    return std::unexpected(Error{std::move(what), std::move(remedy)});
}

std::string first_line(const fs::path &file)
{
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

// "6.1", "6.12" ... of tests/vm/kernels, the list that the VM bed is tested with.
std::vector<std::string> known_kernels(const Options &options)
{
    std::ifstream in(fs::path(options.root) / "tests/vm/kernels");
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string version;
        if (words >> version && !version.starts_with('#'))
            out.push_back(version);
    }
    return out;
}

using Group = std::vector<const Experiment *>;

std::set<std::string> all_modules(const Group &group)
{
    std::set<std::string> out;
    for (const Experiment *e : group)
        for (const Variant &variant : e->variants)
            for (const Module &module : variant.modules)
                out.insert(module.name);
    return out;
}

std::string names_of(const Group &group)
{
    std::vector<std::string> names;
    for (const Experiment *e : group)
        names.push_back(e->name);
    return fmt::format("{}", fmt::join(names, ", "));
}

// The full release of a kernel of the VM bed, which is fetched when it is not here.
std::expected<std::string, Error> release_of(const Options &options, const std::string &kernel)
{
    const std::string vm = options.root + "/tools/vm/vm";
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto list = program_output({vm, "list"});
        if (!list)
            return std::unexpected(list.error());
        std::istringstream lines(*list);
        std::string version;
        std::string release;
        while (lines >> version >> release)
            if (version == kernel)
                return release;
        const auto fetched = run_program({vm, "fetch", kernel}, options.root);
        if (!fetched)
            return std::unexpected(fetched.error());
        if (fetched->status == vm_not_served)
            return error(fmt::format("kernel {} is not served any more", kernel),
                         "choose another with --kernel");
        if (fetched->status != 0 || fetched->interrupted)
            return error(fmt::format("kernel {} could not be had", kernel), "see above");
    }
    return error(fmt::format("kernel {} is not here", kernel), "tools/vm/vm list");
}

// Builds what is not there or was built for another release.
std::expected<std::string, Error> modules_for(const Options &options, const Group &group,
                                              const std::string &kernel, const std::string &release)
{
    const fs::path dir = fs::path(options.build) / "modules" / kernel;
    std::set<std::string> needed = all_modules(group);
    std::erase_if(needed, [](const std::string &name) { return !name.starts_with("ref_"); });
    const bool there =
        first_line(dir / "release") == release &&
        std::ranges::all_of(needed, [&](const auto &n) { return fs::exists(dir / (n + ".ko")); });
    if (needed.empty() || there)
        return dir.string();
    fmt::print(stderr, "taglab: building the reference drivers for {}\n", release);
    std::vector<std::string> command = {options.root + "/contrib/build", "--kernel", release,
                                        "--out", dir.string()};
    if (getenv("BLKTAG_CACHE") == nullptr)
        command.insert(command.end(), {"--cache", options.build + "/cache"});
    const auto built = run_program(command, options.root);
    if (!built)
        return std::unexpected(built.error());
    if (built->status != 0 || built->interrupted)
        return error(fmt::format("no modules for kernel {}", release),
                     "contrib/build says why above; without headers nothing can be built for it");
    return dir.string();
}

std::expected<void, Error> write_plan(const fs::path &dir, const Json &plan)
{
    std::error_code code;
    // what an earlier run left could pass for results of this one
    for (const auto &entry : fs::directory_iterator(dir, code))
        if (entry.is_regular_file())
            fs::remove(entry.path(), code);
    fs::create_directories(dir, code);
    if (code)
        return error(fmt::format("cannot make {}: {}", dir.string(), code.message()),
                     "--build names another folder");
    std::ofstream file(dir / "plan.json");
    file << plan.dump(1) << '\n';
    file.close();
    if (!file)
        return error(fmt::format("cannot write {}/plan.json", dir.string()), "is the disk full?");
    return {};
}

// Plans of all of them, each in its results folder; those folders' names below lab/.
std::expected<std::vector<std::string>, Error> write_plans(const Options &options,
                                                           const Group &group,
                                                           const std::string &kernel,
                                                           const std::string &modules)
{
    const Places places{options.build + "/bin/tagtrace", modules, options.root + "/contrib/fio"};
    std::vector<std::string> out;
    for (const Experiment *e : group) {
        const Json plan = plan_json(*e, planned_runs(*e, options.quick), options.quick, places);
        if (const auto written = write_plan(results_folder(options, e->name, kernel), plan);
            !written)
            return std::unexpected(written.error());
        out.push_back(e->name + "/" + kernel);
    }
    return out;
}

unsigned time_limit_s(const Group &group)
{
    unsigned out = 0;
    for (const Experiment *e : group)
        out += e->machine.timeout_s;
    return out;
}

// The guest writes into lab/, which it sees as /run/vm/share.
std::vector<std::string> vm_command(const Options &options, const Group &group,
                                    const std::string &kernel,
                                    const std::vector<std::string> &folders)
{
    const Machine &m = group.front()->machine;
    const std::string lab = options.build + "/lab";
    std::vector<std::string> out = {options.root + "/tools/vm/vm",
                                    "run",
                                    "--kernel",
                                    kernel,
                                    "--smp",
                                    std::to_string(m.cpus),
                                    "--mem",
                                    m.memory,
                                    "--timeout",
                                    std::to_string(time_limit_s(group)),
                                    "--out",
                                    lab + "/.vm/" + kernel,
                                    "--share",
                                    lab,
                                    "--live"};
    if (m.icount)
        out.emplace_back("--icount");
    for (const std::string &argument : m.qemu) {
        out.emplace_back("--qemu-arg");
        out.push_back(argument);
    }
    if (!m.append.empty()) {
        out.emplace_back("--append");
        out.push_back(m.append);
    }
    out.emplace_back("--");
    out.push_back(options.root + "/tools/taglab/guest");
    for (const std::string &folder : folders)
        out.push_back("/run/vm/share/" + folder);
    return out;
}

std::expected<void, Error> run_in_vm(const Options &options, const Group &group,
                                     const std::string &kernel)
{
    const auto release = release_of(options, kernel);
    if (!release)
        return std::unexpected(release.error());
    const auto modules = modules_for(options, group, kernel, *release);
    if (!modules)
        return std::unexpected(modules.error());
    const auto folders = write_plans(options, group, kernel, *modules);
    if (!folders)
        return std::unexpected(folders.error());
    const Machine &machine = group.front()->machine;
    fmt::print(stderr, "taglab: {} on {}: one VM of {} CPUs{}\n", names_of(group), *release,
               machine.cpus, machine.icount ? ", instruction counting" : "");
    const auto ended = run_program(vm_command(options, group, kernel, *folders), options.root);
    if (!ended)
        return std::unexpected(ended.error());
    if (ended->interrupted)
        return error("interrupted; the VM has been ended");
    if (ended->status == vm_time_limit)
        return error(fmt::format("the VM did not end within {} s", time_limit_s(group)),
                     "a loaded host can be too slow for it: run it again alone");
    if (ended->status > vm_not_served)
        return error(fmt::format("the VM could not be started, or died (status {})", ended->status),
                     fmt::format("vm says why above; what it left is in {}/lab/.vm/{}",
                                 options.build, kernel));
    return {};
}

// Says what is going to be loaded and waits for a yes.
bool agreed(const Group &group, const std::string &release)
{
    fmt::print(stderr,
               "taglab: {} loads {} into the running kernel {}, unloads it again and records with "
               "tagtrace.\nGo on? [y/N] ",
               names_of(group), fmt::join(all_modules(group), ", "), release);
    std::string answer;
    return isatty(STDIN_FILENO) != 0 && std::getline(std::cin, answer) &&
           (answer == "y" || answer == "yes");
}

std::expected<void, Error> run_natively(const Options &options, const Group &group,
                                        const std::string &release)
{
    for (const Experiment *e : group)
        if (!e->native_ok)
            return error(fmt::format("{} needs a throwaway machine", e->name),
                         "run it without --native");
    if (geteuid() != 0)
        return error("--native loads modules and records: it needs root", "use sudo");
    if (!options.yes && !agreed(group, release))
        return error("not agreed to, nothing was loaded", "answer y, or give --yes");
    const auto modules = modules_for(options, group, release, release);
    if (!modules)
        return std::unexpected(modules.error());
    const auto folders = write_plans(options, group, release, *modules);
    if (!folders)
        return std::unexpected(folders.error());
    std::vector<std::string> command = {options.root + "/tools/taglab/guest"};
    for (const std::string &folder : *folders)
        command.push_back(options.build + "/lab/" + folder);
    const auto ended = run_program(command, options.root);
    if (!ended)
        return std::unexpected(ended.error());
    if (ended->interrupted)
        return error("interrupted");
    return {};
}

} // namespace

std::expected<std::vector<std::string>, Error> chosen_kernels(const Options &options)
{
    if (options.native) {
        utsname name{};
        uname(&name);
        return std::vector<std::string>{name.release};
    }
    const std::vector<std::string> known = known_kernels(options);
    std::vector<std::string> out;
    for (const std::string &kernel : options.kernels) {
        if (kernel == "all")
            out.insert(out.end(), known.begin(), known.end());
        else if (std::ranges::find(known, kernel) != known.end())
            out.push_back(kernel);
        else
            return error(fmt::format("there is no kernel '{}' for the VM", kernel),
                         fmt::format("one of {}, or all", fmt::join(known, ", ")));
    }
    if (out.empty())
        out.emplace_back("6.12");
    return out;
}

std::string results_folder(const Options &options, const std::string &experiment,
                           const std::string &kernel)
{
    return (fs::path(options.build) / "lab" / experiment / kernel).string();
}

std::expected<void, Error> check_host(const Options &options)
{
    std::error_code code;
    const fs::path lab = fs::path(options.build) / "lab";
    fs::create_directories(lab, code);
    const fs::space_info space = fs::space(lab, code);
    if (code)
        return error(fmt::format("cannot use {}: {}", lab.string(), code.message()),
                     "--build names another folder");
    if (space.available >> 20U < room_needed_mb)
        return error(fmt::format("{} has {} MB free and {} MB are needed", lab.string(),
                                 space.available >> 20U, room_needed_mb),
                     "make room, or name another folder with --build");
    if (access((options.build + "/bin/tagtrace").c_str(), X_OK) != 0)
        return error(options.build + "/bin/tagtrace is not there",
                     "build it: cmake --build " + options.build + " --target tagtrace");
    return {};
}

std::expected<void, Error> run_on_machine(const Options &options,
                                          const std::vector<const Experiment *> &group,
                                          const std::string &kernel)
{
    try {
        return options.native ? run_natively(options, group, kernel)
                              : run_in_vm(options, group, kernel);
    } catch (const fs::filesystem_error &failed) {
        return error(failed.what(), "is the disk full, or --build wrong?");
    }
}

} // namespace taglab
