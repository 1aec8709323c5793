// SPDX-License-Identifier: GPL-2.0-or-later
// A comparison as text. Input: Comparison. Output: lines of at most 80 columns.
#include "base/units.hpp"
#include "report/compare.hpp"
#include "report/layout.hpp"
#include "report/text_parts.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace blktag::report {

namespace {

using compare::Cell;
using compare::Change;
using compare::Comparison;

std::string letter(size_t i)
{
    return std::string(1, static_cast<char>('A' + static_cast<char>(std::min<size_t>(i, 25))));
}

std::string ratio_text(double ratio)
{
    return ratio >= 99.5 ? fmt::format("{:.0f}", ratio) : fmt::format("{:.2f}", ratio);
}

std::string interval_text(const Cell &cell)
{
    if (!cell.ratio_low || !cell.ratio_high)
        return "";
    return fmt::format("{}..{}", ratio_text(*cell.ratio_low), ratio_text(*cell.ratio_high));
}

bool worth_a_line(const compare::Metric &metric)
{
    return std::any_of(metric.sides.begin(), metric.sides.end(),
                       [](const Cell &cell) { return cell.value && *cell.value != 0; });
}

void print_config(Page &page, const Comparison &c)
{
    page.gap();
    if (c.config.empty()) {
        page.line("SETTINGS: nothing that is recorded differs");
        return;
    }
    page.line("SETTINGS THAT DIFFER");
    for (const compare::Difference &d : c.config)
        for (size_t i = 0; i < d.values.size(); ++i)
            page.item(i == 0 ? d.what : "", fmt::format("{}  {}", letter(i), d.values[i]), 2,
                      label_columns);
}

// One table for each side against the first: two values, ratio, interval, verdict.
void print_metrics(Page &page, const Comparison &c, size_t side)
{
    page.gap();
    page.line(fmt::format("METRICS: {} against A", letter(side)));
    Table table(2, {{"metric", false, true},
                    {"A"},
                    {"spread", true, false, 1},
                    {letter(side)},
                    {"spread", true, false, 1},
                    {"ratio"},
                    {fmt::format("{:.0f} % interval", c.confidence * 100)},
                    {"change", false}});
    const auto spread = [](const Cell &cell) {
        return cell.spread ? fmt::format("{:.0f} %", *cell.spread * 100) : std::string();
    };
    for (const compare::Metric &metric : c.metrics) {
        const Cell &a = metric.sides.front();
        const Cell &b = metric.sides[side];
        if (!worth_a_line(metric))
            continue;
        table.row({metric.id, metric_text(a.value, metric.unit), spread(a),
                   metric_text(b.value, metric.unit), spread(b),
                   b.ratio ? ratio_text(*b.ratio) : "-", interval_text(b),
                   std::string(compare::change_name(b.change))});
    }
    table.print(page);
}

void print_findings(Page &page, const Comparison &c)
{
    page.gap();
    if (c.findings.empty()) {
        page.line("FINDINGS: the same on all sides");
        return;
    }
    page.line("FINDINGS THAT DIFFER");
    for (const compare::FindingChange &f : c.findings) {
        std::string on;
        for (size_t i = 0; i < f.present.size(); ++i)
            if (f.present[i])
                on += (on.empty() ? "" : ", ") + letter(i);
        page.item("", fmt::format("{} on {}: {}", f.id, on, f.where), 2, 0);
    }
}

} // namespace

std::string metric_text(std::optional<double> value, std::string_view unit)
{
    if (!value)
        return "-";
    if (unit == "ns")
        return base::format_duration(static_cast<uint64_t>(std::llround(std::max(0.0, *value))));
    if (unit == "share")
        return fmt::format("{:.1f} %", *value * 100);
    if (unit == "B/s")
        return rate_text(*value);
    if (unit == "B")
        return size_text(static_cast<uint64_t>(std::llround(std::max(0.0, *value))));
    if (unit == "1/s")
        return mean_text(*value) + " /s";
    return fmt::format("{:.{}f}", *value, *value < 100 ? 2 : 0);
}

std::string text_comparison(const Comparison &c)
{
    Page page;
    page.line("blktag comparison");
    for (size_t i = 0; i < c.names.size(); ++i)
        page.item(letter(i), c.names[i], 0, 4);
    page.item("EXPLAINED BY", c.explanation, 0, label_columns);
    for (const std::string &warning : c.warnings)
        page.item("NOTE", warning, 0, label_columns);
    print_config(page, c);
    for (size_t side = 1; side < c.names.size(); ++side)
        print_metrics(page, c, side);
    page.item("",
              fmt::format("spread: standard deviation over the mean, of {}; interval: bootstrap "
                          "of the ratio, {} resamples of {}; same: it holds 1; untested: too "
                          "few samples",
                          c.samples, c.resamples, c.samples),
              2, 0);
    print_findings(page, c);
    return page.take();
}

} // namespace blktag::report
