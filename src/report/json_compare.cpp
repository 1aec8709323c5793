// SPDX-License-Identifier: GPL-2.0-or-later
// A comparison as JSON. Input: Comparison. Output: JSON text.
#include "report/compare.hpp"
#include "report/json_parts.hpp"
#include "report/json_text.hpp"

namespace blktag::report {

namespace {

Json json_of_cell(const compare::Cell &cell)
{
    Json out;
    out["value"] = json_of(cell.value);
    out["spread"] = json_of(cell.spread);
    out["samples"] = cell.samples;
    out["ratio"] = json_of(cell.ratio);
    out["ratio_low"] = json_of(cell.ratio_low);
    out["ratio_high"] = json_of(cell.ratio_high);
    out["change"] = compare::change_name(cell.change);
    return out;
}

} // namespace

std::string json_comparison(const compare::Comparison &c)
{
    Json out;
    out["schema"] = "blktag-comparison-1.0";
    out["names"] = c.names;
    out["explanation"] = c.explanation;
    out["warnings"] = c.warnings;
    out["samples"] = c.samples;
    out["confidence"] = c.confidence;
    out["resamples"] = c.resamples;
    out["config"] = Json::array();
    for (const compare::Difference &d : c.config)
        out["config"].push_back({{"what", d.what}, {"values", d.values}});
    out["metrics"] = Json::array();
    for (const compare::Metric &metric : c.metrics) {
        Json sides = Json::array();
        for (const compare::Cell &cell : metric.sides)
            sides.push_back(json_of_cell(cell));
        out["metrics"].push_back({{"id", metric.id}, {"unit", metric.unit}, {"sides", sides}});
    }
    out["findings"] = Json::array();
    for (const compare::FindingChange &f : c.findings)
        out["findings"].push_back({{"id", f.id}, {"where", f.where}, {"present", f.present}});
    std::string text;
    append_json(text, out);
    text += '\n';
    return text;
}

} // namespace blktag::report
