// SPDX-License-Identifier: GPL-2.0-or-later
// Figures and verdicts. Input: facts of runs. Output: see judge.hpp.
#include "judge.hpp"

#include "report/expect.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace taglab {

namespace {

Figure figure_of(const Metric &metric, const std::vector<const Facts *> &runs)
{
    Figure out;
    double sum = 0;
    for (const Facts *facts : runs) {
        const auto value = evaluate(metric.value, *facts);
        if (!value)
            continue;
        out.low = out.count == 0 ? *value : std::min(out.low, *value);
        out.high = out.count == 0 ? *value : std::max(out.high, *value);
        sum += *value;
        ++out.count;
    }
    if (out.count != 0)
        out.mean = sum / out.count;
    return out;
}

// Facts of a recorded run, and below "bare." those of the same run without a recording.
std::vector<Facts> facts_of(const std::vector<RunFacts> &runs, size_t cell, size_t variant)
{
    std::map<unsigned, Facts> by_repeat;
    for (const RunFacts &one : runs) {
        if (one.run.cell != cell || one.run.variant != variant)
            continue;
        Facts &facts = by_repeat[one.run.repeat];
        for (const auto &[name, value] : one.facts)
            facts[one.run.bare ? "bare." + name : name] = value;
    }
    std::vector<Facts> out;
    for (auto &[repeat, facts] : by_repeat)
        out.push_back(std::move(facts));
    return out;
}

CellResult cell_result(const Experiment &e, const std::vector<RunFacts> &runs, size_t cell)
{
    CellResult out;
    out.cell = cell;
    for (size_t v = 0; v < e.variants.size(); ++v) {
        const std::vector<Facts> facts = facts_of(runs, cell, v);
        std::vector<const Facts *> pointers;
        for (const Facts &one : facts)
            pointers.push_back(&one);
        if (pointers.empty())
            continue;
        for (const auto *list : {&e.headline, &e.why})
            for (const Metric &metric : *list)
                out.figures[metric.name][e.variants[v].name] = figure_of(metric, pointers);
    }
    return out;
}

// "A", "B/A" or "B-A".
std::optional<double> value_of(const CellResult &cell, const Expectation &one)
{
    const std::string first = one.of.substr(0, 1);
    if (one.of.size() < 3)
        return mean_of(cell, one.metric, first);
    const std::string second = one.of.substr(2, 1);
    if (one.of[1] == '/')
        return ratio(cell, one.metric, first, second);
    const auto a = mean_of(cell, one.metric, first);
    const auto b = mean_of(cell, one.metric, second);
    return a && b ? std::optional(*a - *b) : std::nullopt;
}

bool holds(const Expectation &one, double value)
{
    if (one.op == "between")
        return value >= one.limit && value <= one.high;
    return blktag::report::holds(value, one.op, one.limit).value_or(false);
}

bool applies(const std::vector<std::string> &names, const std::string &name)
{
    return names.empty() || std::ranges::find(names, name) != names.end();
}

} // namespace

std::string wanted(const Expectation &one)
{
    return one.op == "between" ? fmt::format("{:g} to {:g}", one.limit, one.high)
                               : fmt::format("{} {:g}", one.op, one.limit);
}

std::optional<double> Figure::spread_pct() const
{
    if (count < 2 || mean == 0)
        return std::nullopt;
    return std::abs((high - low) / 2 / mean) * 100;
}

std::optional<double> mean_of(const CellResult &cell, const std::string &metric,
                              const std::string &variant)
{
    const auto by_variant = cell.figures.find(metric);
    if (by_variant == cell.figures.end())
        return std::nullopt;
    const auto figure = by_variant->second.find(variant);
    if (figure == by_variant->second.end() || figure->second.count == 0)
        return std::nullopt;
    return figure->second.mean;
}

std::optional<double> ratio(const CellResult &cell, const std::string &metric,
                            const std::string &of, const std::string &over)
{
    const auto a = mean_of(cell, metric, of);
    const auto b = mean_of(cell, metric, over);
    if (!a || !b || *b == 0)
        return std::nullopt;
    return *a / *b;
}

Judged judge(const Experiment &e, const std::vector<RunFacts> &runs, const std::string &kernel)
{
    Judged out;
    for (size_t c = 0; c < e.cells.size(); ++c)
        if (std::ranges::any_of(runs, [&](const RunFacts &one) { return one.run.cell == c; }))
            out.cells.push_back(cell_result(e, runs, c));
    for (const CellResult &cell : out.cells)
        for (const Expectation &one : e.expect) {
            if (!applies(one.cells, e.cells[cell.cell].name) || !applies(one.kernels, kernel))
                continue;
            Verdict verdict{one.say,     e.cells[cell.cell].name,
                            one.metric,  value_of(cell, one),
                            wanted(one), false};
            verdict.holds = verdict.got && holds(one, *verdict.got);
            out.verdicts.push_back(verdict);
        }
    out.pass = !out.verdicts.empty() &&
               std::ranges::all_of(out.verdicts, [](const Verdict &v) { return v.holds; });
    return out;
}

} // namespace taglab
