// SPDX-License-Identifier: GPL-2.0-or-later
// taglab: experiments on tag contention, run, judged and explained. Input: command line, the data
// in contrib/experiments. Output: text or JSON on stdout, progress on stderr, recordings below
// build/lab.
#include "experiment.hpp"
#include "judge.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "output.hpp"
#include "plan.hpp"
#include "recording.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

namespace {

using namespace taglab;
using blktag::Error;
namespace fs = std::filesystem;

int complain(const Error &error, int status = exit_failed)
{
    fmt::print(stderr, "taglab: {}\n", blktag::base::escape_terminal(error.what));
    if (!error.remedy.empty())
        fmt::print(stderr, "taglab: remedy: {}\n", blktag::base::escape_terminal(error.remedy));
    return status;
}

int print(const std::string &text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
        return exit_ok;
    return complain({"cannot write the result", "is the output closed, or the disk full?"});
}

fs::path data_folder(const Options &options)
{
    return fs::path(options.root) / "contrib/experiments";
}

// "all" is the published ones, "cases" the cases; each name once, in the order asked for.
std::expected<std::vector<Experiment>, Error> chosen(const Options &options)
{
    const auto all = experiment_names(data_folder(options));
    if (!all)
        return std::unexpected(all.error());
    std::vector<std::string> names;
    for (const std::string &asked : options.names) {
        if (asked == "all" || asked == "cases")
            std::ranges::copy_if(*all, std::back_inserter(names), [&](const std::string &name) {
                return name.starts_with("case-") == (asked == "cases");
            });
        else
            names.push_back(asked);
    }
    std::vector<Experiment> out;
    for (const std::string &name : names) {
        if (std::ranges::any_of(out, [&](const Experiment &e) { return e.name == name; }))
            continue;
        auto experiment = load_experiment(data_folder(options), name);
        if (!experiment)
            return std::unexpected(experiment.error());
        out.push_back(std::move(*experiment));
    }
    return out;
}

// Figures and verdicts of what lies in a results folder.
Outcome judge_folder(const Experiment &e, const std::string &kernel, bool quick,
                     const std::string &dir)
{
    Outcome out{&e, kernel, "", quick, 0, {}, {}};
    std::vector<RunFacts> facts;
    std::vector<std::string> missing;
    for (const PlannedRun &run : planned_runs(e, quick)) {
        if (!fs::exists(fs::path(dir) / (run.name + ".run.json"))) {
            missing.push_back(run.name);
            continue;
        }
        auto result = read_run(dir, run.name, !run.bare);
        if (!result) {
            out.problems.push_back(result.error().what);
            continue;
        }
        if (!result->kernel.empty())
            out.release = result->kernel;
        if (result->impaired && !e.loss_expected)
            out.problems.push_back(
                fmt::format("run {}: its recording has lost records or is damaged", run.name));
        facts.push_back({run, std::move(result->facts)});
    }
    if (!missing.empty())
        out.problems.push_back(
            fmt::format("{} runs did not take place: {}", missing.size(), fmt::join(missing, " ")));
    out.runs = static_cast<unsigned>(facts.size());
    out.judged = judge(e, facts, kernel);
    return out;
}

bool runs_on(const Experiment &e, const std::string &kernel)
{
    // a real release, as with --native, is taken as it is
    return e.kernels.empty() || kernel.find('-') != std::string::npos ||
           std::ranges::find(e.kernels, kernel) != e.kernels.end();
}

int report(const std::vector<Outcome> &outcomes, bool json, bool details)
{
    int status = exit_ok;
    if (json) {
        status = print(outcomes_json(outcomes).dump(2) + "\n");
    } else {
        std::string text;
        if (details)
            for (const Outcome &outcome : outcomes)
                text += outcome_text(outcome) + "\n";
        if (outcomes.size() > 1 || !details)
            text += summary_text(outcomes);
        status = print(text);
    }
    if (status != exit_ok)
        return status;
    if (std::ranges::any_of(outcomes, [](const Outcome &o) { return !o.problems.empty(); }))
        return exit_failed;
    const bool pass = std::ranges::all_of(outcomes, [](const Outcome &o) { return o.pass(); });
    return pass ? exit_ok : exit_not_held;
}

bool leaves_stuck(const Experiment &e)
{
    return std::ranges::any_of(e.variants, &Variant::leaves_stuck);
}

// Cases that ask for the same machine share one; a published experiment has its own, and so has a
// case after which a disk cannot go away.
std::vector<std::vector<const Experiment *>> groups_of(const std::vector<Experiment> &experiments,
                                                       const std::string &kernel)
{
    std::vector<std::vector<const Experiment *>> out;
    for (const Experiment &e : experiments) {
        if (!runs_on(e, kernel)) {
            fmt::print(stderr, "taglab: {} cannot be made on {}\n", e.name, kernel);
            continue;
        }
        const auto fits = std::ranges::find_if(out, [&](const auto &group) {
            return e.is_case && group.front()->is_case && !leaves_stuck(e) &&
                   !leaves_stuck(*group.front()) && group.front()->machine == e.machine;
        });
        if (fits != out.end())
            fits->push_back(&e);
        else
            out.push_back({&e});
    }
    return out;
}

// One boot; true where going on makes sense.
bool run_group(const Options &options, const std::vector<const Experiment *> &group,
               const std::string &kernel, std::vector<Outcome> &outcomes)
{
    const auto done = run_on_machine(options, group, kernel);
    for (const Experiment *e : group) {
        Outcome outcome =
            judge_folder(*e, kernel, options.quick, results_folder(options, e->name, kernel));
        if (!done)
            outcome.problems.insert(outcome.problems.begin(), done.error().what);
        if (!options.json)
            print(outcome_text(outcome) + "\n");
        outcomes.push_back(std::move(outcome));
    }
    if (done)
        return true;
    complain(done.error());
    return !done.error().what.starts_with("interrupted");
}

int run(const Options &options)
{
    const auto experiments = chosen(options);
    if (!experiments)
        return complain(experiments.error(), exit_usage);
    const auto kernels = chosen_kernels(options);
    if (!kernels)
        return complain(kernels.error(), exit_usage);
    if (const auto fit = check_host(options); !fit)
        return complain(fit.error());
    std::vector<Outcome> outcomes;
    for (const std::string &kernel : *kernels)
        for (const auto &group : groups_of(*experiments, kernel))
            if (!run_group(options, group, kernel, outcomes))
                return exit_failed;
    if (outcomes.empty())
        return complain({"none of them can be made on this kernel", "taglab show NAME"});
    return report(outcomes, options.json, options.json);
}

bool was_quick(const std::string &dir)
{
    std::ifstream file(fs::path(dir) / "plan.json");
    const Json plan = Json::parse(file, nullptr, false);
    return plan.is_object() && plan.value("quick", false);
}

int show(const Options &options)
{
    const auto experiments = chosen(options);
    if (!experiments)
        return complain(experiments.error(), exit_usage);
    std::vector<Outcome> outcomes;
    for (const Experiment &e : *experiments) {
        std::error_code none;
        const fs::path lab = fs::path(options.build) / "lab" / e.name;
        std::vector<std::string> kernels;
        for (const auto &entry : fs::directory_iterator(lab, none))
            if (fs::exists(entry.path() / "plan.json"))
                kernels.push_back(entry.path().filename().string());
        std::ranges::sort(kernels);
        if (!options.json)
            print(show_text(e) + "\n");
        for (const std::string &kernel : kernels) {
            const std::string dir = results_folder(options, e.name, kernel);
            if (options.kernels.empty() ||
                std::ranges::find(options.kernels, kernel) != options.kernels.end())
                outcomes.push_back(judge_folder(e, kernel, was_quick(dir), dir));
        }
    }
    if (outcomes.empty())
        return options.json ? print(list_json(*experiments).dump(2) + "\n") : exit_ok;
    return report(outcomes, options.json, true);
}

int list(const Options &options)
{
    Options everything = options;
    everything.names = {"all", "cases"};
    const auto experiments = chosen(everything);
    if (!experiments)
        return complain(experiments.error());
    return print(options.json ? list_json(*experiments).dump(2) + "\n" : list_text(*experiments));
}

} // namespace

int main(int argc, char **argv)
{
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of write(), told like any other
    const auto options = parse_options(argc, argv);
    if (!options)
        return options.error();
    switch (options->command) {
    case Command::list:
        return list(*options);
    case Command::show:
        return show(*options);
    case Command::run:
        break;
    }
    return run(*options);
}
