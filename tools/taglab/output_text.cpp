// SPDX-License-Identifier: GPL-2.0-or-later
// taglab's text. Input: experiments, outcomes. Output: lines.
#include "output.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace taglab {

namespace {

constexpr size_t wide = 98;
constexpr size_t label_columns = 40;
constexpr size_t figure_columns = 14;

// Three or four figures, thousands as K and M: what mails about block layer speed use.
std::string figure_text(double value)
{
    const double size = std::abs(value);
    if (size >= 999'500)
        return fmt::format("{:.4g}M", value / 1e6);
    if (size >= 9'999.5)
        return fmt::format("{:.4g}K", value / 1e3);
    if (size != 0 && size < 0.001)
        return fmt::format("{:.2g}", value);
    return fmt::format("{:.4g}", value);
}

std::string wrapped(const std::string &text, size_t indent)
{
    std::string out(indent, ' ');
    size_t column = indent;
    size_t at = 0;
    while (at < text.size()) {
        const size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (column > indent && column + 1 + word.size() > wide) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        at = end + 1;
    }
    return out + "\n";
}

std::string with_unit(const Metric &metric)
{
    return metric.unit.empty() ? metric.label : metric.label + " [" + metric.unit + "]";
}

std::string measured_text(const Figure *figure)
{
    if (figure == nullptr)
        return "";
    if (figure->count == 0)
        return "not measured";
    const auto spread = figure->spread_pct();
    return spread && *spread >= 0.05
               ? fmt::format("{} ±{:.1f}%", figure_text(figure->mean), *spread)
               : figure_text(figure->mean);
}

// A column that counts characters, not bytes: there is a ± in it.
std::string column(const std::string &text, size_t width)
{
    return blktag::base::pad(text, width, true);
}

const Figure *find(const CellResult &cell, const std::string &metric, const std::string &variant)
{
    const auto &by_variant = cell.figures.at(metric);
    const auto at = by_variant.find(variant);
    return at == by_variant.end() ? nullptr : &at->second;
}

std::string ratio_text(const std::optional<double> &value)
{
    return value ? fmt::format("{:.2f}", *value) : std::string("-");
}

std::string metric_line(const Experiment &e, const CellResult &cell, const Metric &metric)
{
    std::string out =
        "  " + blktag::base::pad(with_unit(metric).substr(0, label_columns), label_columns);
    for (const Variant &variant : e.variants)
        out += column(measured_text(find(cell, metric.name, variant.name)), figure_columns);
    if (e.variants.size() > 1)
        out += column(ratio_text(ratio(cell, metric.name, "B", "A")), 8);
    return out + "\n";
}

std::string published_line(const Experiment &e, const Published &published)
{
    const Metric *metric = e.metric(published.metric);
    const std::string label =
        "published " + (metric != nullptr ? with_unit(*metric) : published.metric);
    std::string out = "  " + blktag::base::pad(label.substr(0, label_columns), label_columns);
    for (const Variant &variant : e.variants) {
        const auto value = published.value.find(variant.name);
        out += column(value == published.value.end() ? "" : figure_text(value->second),
                      figure_columns);
    }
    const auto a = published.value.find("A");
    const auto b = published.value.find("B");
    if (a != published.value.end() && b != published.value.end() && a->second != 0)
        out += column(fmt::format("{:.2f}", b->second / a->second), 8);
    return out + "\n";
}

std::string cell_text(const Experiment &e, const CellResult &result)
{
    const Cell &cell = e.cells[result.cell];
    std::string out =
        "\n  " + blktag::base::pad(cell.name == "all" ? "" : cell.name, label_columns);
    for (const Variant &variant : e.variants)
        out += column(variant.name, figure_columns);
    out += e.variants.size() > 1 ? column("B/A", 8) + "\n" : "\n";
    if (!cell.what.empty())
        out += wrapped("(" + cell.what + ")", 2);
    for (const Published &published : cell.published)
        out += published_line(e, published);
    for (const Metric &metric : e.headline)
        out += metric_line(e, result, metric);
    if (!e.why.empty())
        out += e.is_case ? "  what the recording shows\n" : "  why, from the recordings\n";
    for (const Metric &metric : e.why)
        out += metric_line(e, result, metric);
    return out;
}

std::string verdict_line(const Verdict &v)
{
    const std::string where = v.cell == "all" ? "" : v.cell + ": ";
    return fmt::format("  {} {}{}: {} (wanted {})\n", v.holds ? "ok    " : "NOT OK", where, v.say,
                       v.got ? figure_text(*v.got) : "not measured", v.want);
}

std::string machine_text(const Machine &machine)
{
    return fmt::format("{} CPU{}{}", machine.cpus, machine.cpus == 1 ? "" : "s",
                       machine.icount ? ", clock counts instructions" : "");
}

} // namespace

std::string list_text(const std::vector<Experiment> &experiments)
{
    std::string out = "published experiments\n";
    for (const Experiment &e : experiments)
        if (!e.is_case)
            out += fmt::format("  {:<17} {}\n", e.name, e.title);
    out += "cases\n";
    for (const Experiment &e : experiments)
        if (e.is_case)
            out += fmt::format("  {:<17} {}\n", e.name, e.title);
    return out;
}

std::string show_text(const Experiment &e)
{
    std::string out = fmt::format("{}: {}\n", e.name, e.title);
    out += wrapped("source: " + e.source, 2);
    if (!e.about.empty())
        out += wrapped(e.about, 2);
    out += "  machine: " + machine_text(e.machine) + "\n";
    for (const Variant &variant : e.variants) {
        out += wrapped(variant.name + ": " + variant.what, 2);
        for (const Module &module : variant.modules) {
            std::string words = module.name;
            for (const auto &[key, value] : module.parameters.items())
                words += fmt::format(" {}={}", key,
                                     value.is_string() ? value.get<std::string>() : value.dump());
            out += wrapped(words, 5);
        }
    }
    for (const Cell &cell : e.cells)
        for (const Published &published : cell.published) {
            std::string figures;
            for (const auto &[variant, value] : published.value)
                figures += fmt::format(" {} {}", variant, figure_text(value));
            out += fmt::format("  published, {}: {}{}\n", cell.name, published.metric, figures);
        }
    out += "  must hold\n";
    for (const Expectation &one : e.expect)
        out += wrapped(
            fmt::format("{}: {}{}", one.say, wanted(one),
                        one.cells.empty() ? "" : fmt::format(" ({})", fmt::join(one.cells, ", "))),
            4);
    return out;
}

std::string outcome_text(const Outcome &o)
{
    const Experiment &e = *o.experiment;
    std::string out =
        fmt::format("{} on {}: {}\n", e.name, o.release.empty() ? o.kernel : o.release, e.title);
    out += wrapped("source: " + e.source, 2);
    out += fmt::format("  {}; {} runs{}\n", machine_text(e.machine), o.runs,
                       o.quick ? ", quick form" : "");
    for (const Variant &variant : e.variants)
        out += wrapped(variant.name + ": " + variant.what, 2);
    for (const CellResult &cell : o.judged.cells)
        out += cell_text(e, cell);
    out += "\n  must hold\n";
    for (const Verdict &verdict : o.judged.verdicts)
        out += verdict_line(verdict);
    for (const std::string &problem : o.problems)
        out += "  NOT OK" + wrapped(blktag::base::escape_terminal(problem), 9).substr(8);
    if (!o.pass() && !e.not_held.empty())
        out += wrapped(e.not_held, 2);
    if (!e.is_case)
        out += wrapped("Absolute figures are an emulated CPU's; ratios, counts and order are what "
                       "is compared. Spread: half the distance between the extremes.",
                       2);
    return out;
}

std::string summary_text(const std::vector<Outcome> &outcomes)
{
    std::string out;
    for (const Outcome &o : outcomes) {
        const auto held =
            std::ranges::count_if(o.judged.verdicts, [](const Verdict &v) { return v.holds; });
        out +=
            fmt::format("{:<6} {:<17} {:<6} {} of {} hold{}\n", o.pass() ? "ok" : "NOT OK",
                        o.experiment->name, o.kernel, held, o.judged.verdicts.size(),
                        o.problems.empty() ? "" : fmt::format(", {} problems", o.problems.size()));
    }
    return out;
}

} // namespace taglab
