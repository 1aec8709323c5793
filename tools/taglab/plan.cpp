// SPDX-License-Identifier: GPL-2.0-or-later
// Unrolls an experiment into runs. Input: an experiment. Output: see plan.hpp.
#include "plan.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace taglab {

namespace {

// File names are made of it.
std::string plain(const std::string &text)
{
    std::string out = text;
    for (char &c : out)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0)
            c = '-';
    return out;
}

void append(Json &to, const Json &steps)
{
    for (const Json &step : steps)
        to.push_back(step);
}

Json modules_json(const Variant &variant)
{
    Json out = Json::array();
    for (const Module &module : variant.modules) {
        Json one;
        one["name"] = module.name;
        // what a module's parameter takes is text: JSON's true and 1.5 would not be
        for (const auto &[key, value] : module.parameters.items())
            one["parameters"][key] = value.is_string() ? value : Json(value.dump());
        out.push_back(one);
    }
    return out;
}

Json run_json(const Experiment &e, const PlannedRun &run, bool quick)
{
    const Variant &variant = e.variants[run.variant];
    const Cell &cell = e.cells[run.cell];
    Json out;
    out["name"] = run.name;
    out["modules"] = modules_json(variant);
    Json setup = e.setup;
    append(setup, variant.setup);
    append(setup, cell.setup);
    out["setup"] = setup;
    out["workload"] = !variant.workload.empty() ? variant.workload
                      : !cell.workload.empty()  ? cell.workload
                                                : e.workload;
    out["after"] = variant.after;
    std::map<std::string, std::string> env = e.env;
    for (const auto *more : {&variant.env, &cell.env})
        for (const auto &[key, value] : *more)
            env[key] = value;
    if (quick)
        for (const auto &[key, value] : e.quick.env)
            env[key] = value;
    out["env"] = env;
    out["scsi_disks"] = variant.scsi_disks;
    out["leaves_stuck"] = variant.leaves_stuck;
    out["bare"] = run.bare ? e.bare : 0;
    std::vector<std::string> record = e.record;
    record.insert(record.end(), variant.record.begin(), variant.record.end());
    out["record"] = record;
    out["loss_expected"] = e.loss_expected;
    return out;
}

} // namespace

std::vector<PlannedRun> planned_runs(const Experiment &e, bool quick)
{
    std::vector<PlannedRun> out;
    const unsigned repeats = quick ? e.quick.repeats.value_or(e.repeats) : e.repeats;
    for (unsigned repeat = 1; repeat <= repeats; ++repeat)
        for (size_t c = 0; c < e.cells.size(); ++c) {
            const Cell &cell = e.cells[c];
            if (quick && !e.quick.cells.empty() &&
                std::ranges::find(e.quick.cells, cell.name) == e.quick.cells.end())
                continue;
            // A and B next to each other: whatever drifts on the host hits both
            for (size_t v = 0; v < e.variants.size(); ++v) {
                const std::string &variant = e.variants[v].name;
                if (!cell.variants.empty() &&
                    std::ranges::find(cell.variants, variant) == cell.variants.end())
                    continue;
                const std::string name = fmt::format("{}.{}.{}", variant, plain(cell.name), repeat);
                out.push_back({name, v, c, repeat, false});
                if (e.bare)
                    out.push_back({name + ".bare", v, c, repeat, true});
            }
        }
    return out;
}

Json plan_json(const Experiment &e, const std::vector<PlannedRun> &runs, bool quick,
               const Places &places)
{
    Json out;
    out["experiment"] = e.name;
    out["quick"] = quick;
    out["tagtrace"] = places.tagtrace;
    out["modules"] = places.modules;
    out["fio_dir"] = places.fio;
    out["runs"] = Json::array();
    for (const PlannedRun &run : runs)
        out["runs"].push_back(run_json(e, run, quick));
    return out;
}

} // namespace taglab
