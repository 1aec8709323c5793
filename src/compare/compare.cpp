// SPDX-License-Identifier: GPL-2.0-or-later
// Puts a comparison together, or says why there can be none. Input and output: see compare.hpp.
#include "compare/compare.hpp"

#include "compare/parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace blktag::compare {

std::string_view change_name(Change change)
{
    switch (change) {
    case Change::baseline:
        return "baseline";
    case Change::none:
        return "same";
    case Change::more:
        return "more";
    case Change::less:
        return "less";
    case Change::untested:
        return "untested";
    }
    return "unknown";
}

const Metric *Comparison::metric(std::string_view id) const
{
    for (const Metric &metric : metrics)
        if (metric.id == id)
            return &metric;
    return nullptr;
}

namespace {

std::set<bt_op> operations(const Side &side)
{
    std::set<bt_op> out;
    uint64_t all = 0;
    for (const Snapshot *run : side.runs)
        for (const OpStats &op : run->ops)
            all += op.requests;
    for (const Snapshot *run : side.runs)
        for (const OpStats &op : run->ops)
            if (op.requests * 100 >= all && op.requests != 0)
                out.insert(op.op);
    return out;
}

std::optional<Error> unusable(const Side &side)
{
    if (side.runs.empty())
        return Error{fmt::format("{}: no recording", side.name), "name a file for each side"};
    for (const Snapshot *run : side.runs) {
        if (active_queues(*run).empty())
            return Error{fmt::format("{}: no request in it", side.name),
                         "record while the load runs"};
        if (run->recording.duration_ns == 0)
            return Error{fmt::format("{}: it has no length", side.name), "record for longer"};
    }
    return std::nullopt;
}

// Loads that share no operation, or machines of another kind: a ratio of the two means nothing.
std::optional<Error> nonsense(const Side &a, const Side &b)
{
    const std::set<bt_op> ours = operations(a);
    const std::set<bt_op> theirs = operations(b);
    const bool common =
        std::any_of(ours.begin(), ours.end(), [&theirs](bt_op op) { return theirs.contains(op); });
    const auto names = [](const std::set<bt_op> &ops) {
        std::vector<std::string_view> out;
        for (const bt_op op : ops)
            out.push_back(op_name(op));
        return fmt::format("{}", fmt::join(out, ", "));
    };
    if (!ours.empty() && !theirs.empty() && !common)
        return Error{fmt::format("{} has {}, {} has {}: not the same load", a.name, names(ours),
                                 b.name, names(theirs)),
                     "compare recordings of one load"};
    const Snapshot &first = *a.runs.front();
    const Snapshot &second = *b.runs.front();
    if (first.measured("gets_single") != second.measured("gets_single") ||
        first.measured("completes") != second.measured("completes"))
        return Error{fmt::format("tag gets or completions are measured in only one of {} and {}",
                                 a.name, b.name),
                     "see tagtrace doctor on both machines"};
    return std::nullopt;
}

void warn(Comparison &out, const Side &side)
{
    for (const Snapshot *run : side.runs) {
        if (run->recording.cut || !run->damage.empty())
            out.warnings.push_back(side.name + " is cut or damaged: only its beginning counts");
        if (run->books.lost * 100 > run->books.produced)
            out.warnings.push_back(
                fmt::format("{} lost {} of {} records: its distributions miss them", side.name,
                            run->books.lost, run->books.produced));
        if (run->recording.duration_ns < 1'000'000'000)
            out.warnings.push_back(side.name + " is shorter than a second");
    }
}

} // namespace

std::vector<FindingChange> finding_changes(const std::vector<Side> &sides, const Options &options)
{
    std::map<std::pair<std::string, std::string>, std::vector<bool>> seen;
    for (size_t i = 0; i < sides.size(); ++i)
        for (const Snapshot *run : sides[i].runs)
            for (const diagnose::Finding &f : diagnose::diagnose(*run, options.thresholds)) {
                auto &present = seen[{f.id, fmt::format("{}", fmt::join(f.where.queues, ", "))}];
                present.resize(sides.size());
                present[i] = true;
            }
    std::vector<FindingChange> out;
    for (const auto &[key, present] : seen)
        if (std::find(present.begin(), present.end(), false) != present.end())
            out.push_back({key.first, key.second, present});
    return out;
}

std::expected<Comparison, Error> compare(const std::vector<Side> &sides, const Options &options)
{
    if (sides.size() < 2)
        return std::unexpected(
            Error{"one recording has nothing to be held against", "name two files"});
    for (const Side &side : sides) {
        if (auto error = unusable(side))
            return std::unexpected(*error);
        if (auto error = nonsense(sides.front(), side))
            return std::unexpected(*error);
    }
    Comparison out;
    out.confidence = options.confidence;
    out.resamples = options.resamples;
    const bool by_runs = std::all_of(sides.begin(), sides.end(),
                                     [](const Side &side) { return side.runs.size() >= 3; });
    out.samples = by_runs ? "runs" : "time slices";
    for (const Side &side : sides) {
        out.names.push_back(side.name);
        warn(out, side);
    }
    out.config = config_differences(sides);
    for (const Definition &definition : definitions())
        out.metrics.push_back(measure(definition, sides, options, by_runs));
    out.findings = finding_changes(sides, options);
    out.explanation = explain(out, sides);
    return out;
}

} // namespace blktag::compare
