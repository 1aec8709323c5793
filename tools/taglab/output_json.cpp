// SPDX-License-Identifier: GPL-2.0-or-later
// taglab's JSON. Input: outcomes. Output: values; null is "not measured".
#include "output.hpp"

namespace taglab {

namespace {

Json number(const std::optional<double> &value)
{
    return value ? Json(*value) : Json();
}

Json cell_json(const Experiment &e, const CellResult &cell)
{
    Json out;
    out["name"] = e.cells[cell.cell].name;
    for (const Published &published : e.cells[cell.cell].published)
        out["published"][published.metric] = published.value;
    for (const auto *list : {&e.headline, &e.why})
        for (const Metric &metric : *list) {
            Json one;
            one["label"] = metric.label;
            one["unit"] = metric.unit;
            for (const auto &[variant, figure] : cell.figures.at(metric.name)) {
                Json &to = one["variants"][variant];
                to["mean"] = figure.count != 0 ? Json(figure.mean) : Json();
                to["low"] = figure.count != 0 ? Json(figure.low) : Json();
                to["high"] = figure.count != 0 ? Json(figure.high) : Json();
                to["runs"] = figure.count;
            }
            one["ratio"] = number(ratio(cell, metric.name, "B", "A"));
            out["metrics"][metric.name] = one;
        }
    return out;
}

Json outcome_json(const Outcome &o)
{
    const Experiment &e = *o.experiment;
    Json out;
    out["name"] = e.name;
    out["title"] = e.title;
    out["source"] = e.source;
    out["kernel"] = o.kernel;
    out["release"] = o.release;
    out["quick"] = o.quick;
    out["variants"] = Json::array();
    // the first cell's figures are the experiment's own
    const CellResult none;
    const CellResult &first = o.judged.cells.empty() ? none : o.judged.cells.front();
    for (const Variant &variant : e.variants) {
        Json one;
        one["name"] = variant.name;
        one["what"] = variant.what;
        one["iops"] = number(mean_of(first, "iops", variant.name));
        one["mean_latency_us"] = number(mean_of(first, "latency_us", variant.name));
        out["variants"].push_back(one);
    }
    out["ratio"] =
        e.headline.empty() ? Json() : number(ratio(first, e.headline.front().name, "B", "A"));
    out["cells"] = Json::array();
    for (const CellResult &cell : o.judged.cells)
        out["cells"].push_back(cell_json(e, cell));
    out["expectations"] = Json::array();
    for (const Verdict &v : o.judged.verdicts) {
        Json one;
        one["say"] = v.say;
        one["cell"] = v.cell;
        one["metric"] = v.metric;
        one["want"] = v.want;
        one["got"] = number(v.got);
        one["holds"] = v.holds;
        out["expectations"].push_back(one);
    }
    out["problems"] = o.problems;
    out["pass"] = o.pass();
    return out;
}

} // namespace

Json list_json(const std::vector<Experiment> &experiments)
{
    Json out;
    out["schema"] = "blktag-lab-1.0";
    out["experiments"] = Json::array();
    for (const Experiment &e : experiments) {
        Json one;
        one["name"] = e.name;
        one["title"] = e.title;
        one["source"] = e.source;
        one["case"] = e.is_case;
        one["native"] = e.native_ok;
        out["experiments"].push_back(one);
    }
    return out;
}

Json outcomes_json(const std::vector<Outcome> &outcomes)
{
    Json out;
    out["schema"] = "blktag-lab-1.0";
    out["experiments"] = Json::array();
    bool pass = !outcomes.empty();
    for (const Outcome &one : outcomes) {
        out["experiments"].push_back(outcome_json(one));
        pass &= one.pass();
    }
    out["pass"] = pass;
    return out;
}

} // namespace taglab
