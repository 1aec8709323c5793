// SPDX-License-Identifier: GPL-2.0-or-later
// The HTML report: page, findings, tables. Input: Snapshot or Comparison. Output: HTML text.
#include "report/html.hpp"

#include "base/clock.hpp"
#include "base/units.hpp"
#include "report/compare.hpp"
#include "report/html_parts.hpp"
#include "report/page.hpp"
#include "report/text_findings.hpp"

#include <fmt/format.h>

namespace blktag::report {

namespace {

Json table_of(std::string_view title, std::initializer_list<std::string_view> columns)
{
    Json out;
    out["title"] = title;
    out["columns"] = Json::array();
    for (const std::string_view column : columns)
        out["columns"].push_back(column);
    out["rows"] = Json::array();
    return out;
}

Json cell(std::optional<uint64_t> value)
{
    return value ? Json::array({std::to_string(*value), *value}) : Json("-");
}

Json cell(std::optional<uint32_t> value)
{
    return value ? Json::array({std::to_string(*value), *value}) : Json("-");
}

Json time_cell(std::optional<uint64_t> ns)
{
    return ns ? Json::array({base::format_duration(*ns), *ns}) : Json("-");
}

Json rate_cell(std::optional<double> value)
{
    return value ? Json::array({mean_text(*value), *value}) : Json("-");
}

Json share_cell(std::optional<uint64_t> part, std::optional<uint64_t> whole)
{
    if (!part || !whole || *whole == 0)
        return "-";
    return Json::array(
        {percent_text(*part, *whole), static_cast<double>(*part) / static_cast<double>(*whole)});
}

Json json_of_finding(const diagnose::Finding &f)
{
    Json out;
    out["severity"] = diagnose::severity_name(f.severity);
    out["id"] = f.id;
    out["where"] = !f.where.hctx.empty() ? "hctx " + f.where.hctx : join(f.where.queues);
    out["summary"] = f.summary;
    Json items = Json::array();
    if (f.since_ns)
        items.push_back({"since", base::format_duration(*f.since_ns) + " after the start"});
    if (!f.where.task.empty())
        items.push_back({"task", f.where.task});
    std::vector<std::string> numbers;
    for (const diagnose::Evidence &e : f.evidence)
        numbers.push_back(evidence_text(e));
    items.push_back({"numbers", join(numbers)});
    for (size_t i = 0; i < f.remedies.size(); ++i)
        items.push_back({i == 0 ? "try" : "or", f.remedies[i]});
    items.push_back({"confirm", f.confirm});
    if (!f.kernel_change.empty())
        items.push_back({"cured by", f.kernel_change});
    items.push_back({"certain", fmt::format("{:.0f} %", f.confidence * 100)});
    out["items"] = items;
    return out;
}

Json queues_section(const Snapshot &s)
{
    Json out = section("Queues and hardware queues");
    Json queues = table_of("Queues", {"queue", "driver", "scheduler", "limits", "completed", "IOPS",
                                      "submit_waits", "share", "wait p99", "latency p50",
                                      "latency p99", "latency max"});
    Json hctxs = table_of("Hardware queues", {"hctx", "CPUs", "depth", "sched depth", "gets",
                                              "waits", "share", "wait p99", "runs", "RESTARTs"});
    const auto quantile = [](const std::optional<Latency> &latency, double q) {
        return time_cell(latency ? latency->whole.quantile_ns(q) : std::nullopt);
    };
    for (const QueueStats &q : s.queues) {
        queues["rows"].push_back(Json::array(
            {q.name, q.driver, q.scheduler, diagnose::limits_text(s, q), cell(q.totals.completed),
             rate_cell(q.requests_per_s), cell(q.totals.submit_waits),
             share_cell(q.totals.submit_waits, q.totals.gets),
             time_cell(q.waits.time.quantile_ns(0.99)), quantile(q.latency, 0.5),
             quantile(q.latency, 0.99), quantile(q.latency, 1)}));
        for (const HctxStats &h : q.hctxs)
            hctxs["rows"].push_back(
                Json::array({h.label, fmt::format("{}", fmt::join(h.cpus, " ")), cell(h.depth),
                             cell(h.sched_depth), cell(h.totals.gets), cell(h.totals.submit_waits),
                             share_cell(h.totals.submit_waits, h.totals.gets),
                             time_cell(h.waits.time.quantile_ns(0.99)), cell(h.totals.runs),
                             cell(h.totals.restarts)}));
    }
    out["tables"] = Json::array({queues, hctxs});
    return out;
}

Json tasks_table(std::string_view title, const std::vector<TaskStats> &tasks)
{
    Json out = table_of(title, {"task", "tid", "requests", "submit_waits", "time waiting",
                                "longest wait", "tag-time held", "longest held"});
    for (const TaskStats &t : tasks)
        out["rows"].push_back(Json::array(
            {t.comm, cell(std::optional(t.tid)), cell(std::optional(t.requests)),
             cell(std::optional(t.waits)), time_cell(t.wait_ns), time_cell(t.wait_longest_ns),
             time_cell(t.held_ns), time_cell(t.held_longest_ns)}));
    return out;
}

Json trust_section(const Snapshot &s)
{
    Json out = section("Recording, books and counters");
    const RecordingInfo &r = s.recording;
    Json facts = table_of("Recording", {"what", "value"});
    const auto fact = [&facts](std::string_view what, std::string value) {
        facts["rows"].push_back(Json::array({what, std::move(value)}));
    };
    fact("kernel", r.kernel_release);
    fact("machine", fmt::format("{}, {} CPUs, host {}", r.machine, r.nr_cpus, r.hostname));
    fact("recorded", base::format_iso(r.start_real_ns));
    fact("length", base::format_duration(r.duration_ns));
    fact("recorder", join(r.argv, " "));
    fact("command", r.command);
    fact("books", fmt::format("produced {} = recorded {} + lost {}, missed {}", s.books.produced,
                              s.books.recorded, s.books.lost, s.books.missed));
    fact("not measured", join(s.not_measured));
    for (const Note &note : s.notes)
        fact("note", note.text);
    for (const Damage &d : s.damage)
        fact("damage", fmt::format("from byte {}: {}", d.offset_bytes, d.what));
    Json probes = table_of("Probes", {"probe", "rung", "hook", "why"});
    for (const ProbeRung &rung : r.rungs)
        probes["rows"].push_back(Json::array({rung.probe, rung.rung, rung.hook, rung.why}));
    Json counters = table_of("Counters, exact", {"counter", "value"});
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i) {
        const auto counter = static_cast<bt_counter>(i);
        counters["rows"].push_back(
            Json::array({counter_name(counter), cell(s.counters.get(counter))}));
    }
    out["tables"] = Json::array({facts, probes, counters});
    return out;
}

} // namespace

Json section(std::string_view title)
{
    Json out;
    out["title"] = title;
    return out;
}

std::string html_page(const std::string &title, const Json &model)
{
    std::string data = model.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe; // no "</script>" and no "<!--" in a script element
    safe.reserve(data.size());
    for (const char c : data) {
        if (c == '<')
            safe += "\\u003c";
        else
            safe += c;
    }
    std::string name;
    for (const char c : title)
        name += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    const std::string chart = *page::chart_library
                                  ? fmt::format("<script>{}</script>\n", page::chart_library)
                                  : std::string();
    const std::string chart_hash = *page::chart_library
                                       ? fmt::format(" 'sha256-{}'", page::chart_library_hash)
                                       : std::string();
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src 'sha256-{}'{}; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main id=\"report\"></main>\n"
        "<noscript>This page draws itself: allow its script, or use tagreport without "
        "--html.</noscript>\n<script type=\"application/json\" id=\"model\">{}</script>\n"
        "{}<script>{}</script>\n</body>\n</html>\n",
        page::script_hash, chart_hash, page::style_hash, name, page::style, safe, chart,
        page::script);
}

std::string html_report(const Snapshot &s)
{
    const auto findings = diagnose::diagnose(s);
    Json model;
    model["title"] = "blktag report";
    model["lead"] = Json::array(
        {"Verdict: " + verdict_text(findings),
         fmt::format("{} on {}, {}", base::format_duration(s.recording.duration_ns),
                     s.recording.hostname.empty() ? "unknown host" : s.recording.hostname,
                     s.recording.kernel_release)});
    if (s.books.lost != 0 || s.recording.cut || !s.damage.empty())
        model["lead"].push_back(
            "Records were lost, or the file is damaged or cut: distributions miss "
            "them, counts do not.");
    Json first = section("Findings");
    first["findings"] = Json::array();
    for (const diagnose::Finding &f : findings)
        first["findings"].push_back(json_of_finding(f));
    if (findings.empty())
        first["texts"] = Json::array({"No finding."});
    Json tasks = section("Tasks");
    tasks["tables"] = Json::array(
        {tasks_table("Top waiters", s.top_waiters), tasks_table("Top holders", s.top_holders)});
    model["sections"] = Json::array(
        {first, html_time(s), html_histograms(s), queues_section(s), tasks, trust_section(s)});
    return html_page("blktag report", model);
}

std::string html_comparison(const compare::Comparison &c)
{
    Json model;
    model["title"] = "blktag comparison";
    model["lead"] = Json::array({"Explained by: " + c.explanation});
    for (const std::string &warning : c.warnings)
        model["lead"].push_back(warning);
    Json config = section("Settings that differ");
    Json table = table_of("Settings", {"what"});
    for (const std::string &name : c.names)
        table["columns"].push_back(name);
    for (const compare::Difference &d : c.config) {
        Json row = Json::array({d.what});
        for (const std::string &value : d.values)
            row.push_back(value);
        table["rows"].push_back(row);
    }
    config["tables"] = Json::array({table});
    Json metrics = section("Metrics");
    metrics["tables"] = Json::array();
    for (size_t side = 1; side < c.names.size(); ++side) {
        Json one =
            table_of(fmt::format("{} against {}; interval {:.0f} %, bootstrap over {}",
                                 c.names[side], c.names.front(), c.confidence * 100, c.samples),
                     {"metric", "first", "this", "ratio", "from", "to", "change"});
        for (const compare::Metric &m : c.metrics) {
            const compare::Cell &a = m.sides.front();
            const compare::Cell &b = m.sides[side];
            const auto value = [&m](const compare::Cell &x) {
                return x.value ? Json::array({metric_text(x.value, m.unit), *x.value}) : Json("-");
            };
            const auto ratio = [](std::optional<double> x) {
                return x ? Json::array({fmt::format("{:.3f}", *x), *x}) : Json("-");
            };
            one["rows"].push_back(
                Json::array({m.id, value(a), value(b), ratio(b.ratio), ratio(b.ratio_low),
                             ratio(b.ratio_high), compare::change_name(b.change)}));
        }
        metrics["tables"].push_back(one);
    }
    Json changes = section("Findings gained and lost");
    Json list = table_of("Findings", {"finding", "where", "on"});
    for (const compare::FindingChange &f : c.findings) {
        std::vector<std::string> on;
        for (size_t i = 0; i < f.present.size(); ++i)
            if (f.present[i])
                on.push_back(c.names[i]);
        list["rows"].push_back(Json::array({f.id, f.where, join(on)}));
    }
    changes["tables"] = Json::array({list});
    model["sections"] = Json::array({config, metrics, changes});
    return html_page("blktag comparison", model);
}

} // namespace blktag::report
