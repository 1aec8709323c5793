// SPDX-License-Identifier: GPL-2.0-or-later
// Charts of the HTML report. Input: Snapshot. Output: sections with charts, see html_parts.hpp.
#include "base/units.hpp"
#include "report/html_parts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace blktag::report {

namespace {

constexpr size_t max_series = 8; // beyond that nobody can tell the lines apart; tables have all

std::string seconds_label(const Timeline &timeline, size_t i)
{
    return fmt::format("{:.3f}",
                       static_cast<double>(timeline.start_ns + i * timeline.slice_ns) / 1e9);
}

Json time_chart(const Timeline &t, std::string_view type, std::string_view title,
                std::string_view y)
{
    Json out;
    out["type"] = type;
    out["title"] = title;
    out["x"] = "time since the start, s";
    out["y"] = y;
    out["labels"] = Json::array();
    for (size_t i = 0; i < t.nr_slices; ++i)
        out["labels"].push_back(seconds_label(t, i));
    out["series"] = Json::array();
    return out;
}

double rounded(double value)
{
    return std::round(value * 1000) / 1000;
}

std::string space_name(const Snapshot &s, uint16_t space_id)
{
    for (const SetStats &set : s.sets)
        for (const SpaceStats &space : set.spaces)
            if (space.space_id == space_id)
                return fmt::format("{} {}{}", space.sched ? "sched tags" : "driver tags",
                                   space.hctxs.empty() ? fmt::format("#{}", space_id)
                                                       : space.hctxs.front(),
                                   space.hctxs.size() > 1 ? " and others" : "");
    return fmt::format("tags #{}", space_id);
}

Json occupancy(const Snapshot &s)
{
    const Timeline &t = s.timeline;
    Json out = time_chart(t, "line", "Occupancy: tags held, mean of the samples", "tags");
    for (const SpaceTimeline &space : t.spaces) {
        if (out["series"].size() == max_series)
            break;
        Json data = Json::array();
        for (size_t i = 0; i < t.nr_slices; ++i) {
            const SpaceSlice slice = i < space.slices.size() ? space.slices[i] : SpaceSlice{};
            data.push_back(slice.samples
                               ? Json(rounded(static_cast<double>(slice.held_sum) / slice.samples))
                               : Json());
        }
        out["series"].push_back({{"name", space_name(s, space.space_id)}, {"data", data}});
    }
    return out;
}

// hctxs with the most of what is counted, one series each.
Json per_hctx(const Snapshot &s, std::string_view title, std::string_view y,
              const std::function<double(const Slice &)> &count)
{
    const Timeline &t = s.timeline;
    std::vector<std::pair<double, const HctxTimeline *>> lines;
    for (const HctxTimeline &line : t.hctxs) {
        double sum = 0;
        for (const Slice &slice : line.slices)
            sum += count(slice);
        if (sum > 0)
            lines.emplace_back(sum, &line);
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto &a, const auto &b) { return a.first > b.first; });
    Json out = time_chart(t, "bar", title, y);
    out["stacked"] = true;
    for (size_t n = 0; n < std::min(lines.size(), max_series); ++n) {
        Json data = Json::array();
        for (size_t i = 0; i < t.nr_slices; ++i) {
            const HctxTimeline &line = *lines[n].second;
            data.push_back(i < line.slices.size() ? rounded(count(line.slices[i])) : 0.0);
        }
        out["series"].push_back({{"name", lines[n].second->label}, {"data", data}});
    }
    return out;
}

Json waits_by_cause(const Snapshot &s)
{
    const Timeline &t = s.timeline;
    Json out = time_chart(t, "bar", "submit_waits that ended, by cause", "waits");
    out["stacked"] = true;
    for (size_t cause = 0; cause < BT_NR_CAUSES; ++cause) {
        Json data = Json::array();
        uint64_t sum = 0;
        for (size_t i = 0; i < t.nr_slices; ++i) {
            const uint32_t n = t.whole(i).waits_by_cause[cause];
            data.push_back(n);
            sum += n;
        }
        if (sum != 0)
            out["series"].push_back(
                {{"name", cause_name(static_cast<bt_cause>(cause))}, {"data", data}});
    }
    return out;
}

Json heat(const Timeline &t, std::string_view title,
          const std::array<uint32_t, heat_rows> HeatColumn::*what)
{
    Json out;
    out["type"] = "scatter";
    out["title"] = title;
    out["x"] = "time since the start, s";
    out["y"] = "at least";
    out["note"] = "the larger a mark, the more of them";
    out["rows"] = Json::array();
    for (size_t row = 0; row < heat_rows; ++row)
        out["rows"].push_back(base::format_duration(uint64_t{1} << row));
    Json data = Json::array();
    for (size_t i = 0; i < t.heat.size(); ++i)
        for (size_t row = 0; row < heat_rows; ++row)
            if (const uint32_t n = (t.heat[i].*what)[row])
                data.push_back(
                    {{"x", rounded(static_cast<double>(t.start_ns + i * t.slice_ns) / 1e9)},
                     {"y", row},
                     {"n", n}});
    out["series"] = Json::array();
    if (!data.empty())
        out["series"].push_back({{"name", "count"}, {"data", data}});
    return out;
}

void add_chart(Json &section, Json chart)
{
    if (!chart["series"].empty())
        section["charts"].push_back(std::move(chart));
}

// Bins of one power of two each, for a readable axis; the JSON report has the finer ones.
Json by_power_of_two(std::string_view title,
                     const std::vector<std::pair<std::string, const Distribution *>> &all)
{
    size_t first = heat_rows;
    size_t last = 0;
    std::vector<std::array<uint64_t, 64>> rows(all.size());
    for (size_t n = 0; n < all.size(); ++n)
        for (const Bin &bin : all[n].second->bins) {
            const size_t row =
                bin.low_ns ? 63 - static_cast<size_t>(std::countl_zero(bin.low_ns)) : 0;
            rows[n][row] += bin.count;
            first = std::min(first, row);
            last = std::max(last, row);
        }
    Json out;
    out["type"] = "bar";
    out["title"] = title;
    out["x"] = "at least";
    out["y"] = "count";
    out["labels"] = Json::array();
    out["series"] = Json::array();
    for (size_t row = first; row <= last && first <= last; ++row)
        out["labels"].push_back(base::format_duration(uint64_t{1} << row));
    for (size_t n = 0; n < all.size(); ++n) {
        if (all[n].second->bins.empty())
            continue;
        Json data = Json::array();
        for (size_t row = first; row <= last; ++row)
            data.push_back(rows[n][row]);
        out["series"].push_back({{"name", all[n].first}, {"data", data}});
    }
    return out;
}

Json batches(const Snapshot &s)
{
    static constexpr std::pair<std::string_view, bt_counter> sizes[] = {
        {"1", BT_C_batch_size_1},           {"2", BT_C_batch_size_2},
        {"3-4", BT_C_batch_size_4},         {"5-8", BT_C_batch_size_8},
        {"9-16", BT_C_batch_size_16},       {"17-32", BT_C_batch_size_32},
        {"33 and more", BT_C_batch_size_64}};
    Json out;
    out["type"] = "bar";
    out["title"] = "queue_rqs batch sizes";
    out["x"] = "requests in one call";
    out["y"] = "calls";
    out["labels"] = Json::array();
    out["series"] = Json::array();
    Json data = Json::array();
    uint64_t sum = 0;
    for (const auto &[label, counter] : sizes) {
        const uint64_t n = s.counters.get(counter).value_or(0);
        out["labels"].push_back(label);
        data.push_back(n);
        sum += n;
    }
    if (sum != 0)
        out["series"].push_back({{"name", "calls"}, {"data", data}});
    return out;
}

} // namespace

Json html_time(const Snapshot &s)
{
    Json out = section("Over time");
    out["texts"].push_back(
        fmt::format("Slices of {}. What was counted belongs to the moment it ended.",
                    base::format_duration(s.timeline.slice_ns)));
    const auto length = static_cast<double>(std::max<uint64_t>(1, s.timeline.slice_ns));
    add_chart(out, occupancy(s));
    add_chart(out, waits_by_cause(s));
    add_chart(out, per_hctx(s, "submit_waits that ended, by hctx", "waits",
                            [](const Slice &slice) { return double{1} * slice.waits; }));
    add_chart(out, per_hctx(s, "Requests per second, by hctx", "1/s", [length](const Slice &slice) {
                  return slice.requests * 1e9 / length;
              }));
    add_chart(out, per_hctx(s, "Queue runs, by hctx", "runs",
                            [](const Slice &slice) { return double{1} * slice.runs; }));
    add_chart(out, heat(s.timeline, "Device time of requests over time", &HeatColumn::device));
    add_chart(out, heat(s.timeline, "Length of submit_waits over time", &HeatColumn::submit_wait));
    return out;
}

Json html_histograms(const Snapshot &s)
{
    Json out = section("Distributions");
    std::vector<std::pair<std::string, const Distribution *>> causes;
    for (size_t i = 0; i < BT_NR_CAUSES; ++i)
        causes.emplace_back(cause_name(static_cast<bt_cause>(i)), &s.waits.by_cause[i].time);
    add_chart(out, by_power_of_two("submit_waits by cause", causes));
    if (s.latency) {
        std::vector<std::pair<std::string, const Distribution *>> phases;
        for (size_t i = 0; i < nr_phases; ++i)
            phases.emplace_back(phase_name(static_cast<Phase>(i)), &s.latency->phase[i]);
        phases.emplace_back("whole", &s.latency->whole);
        add_chart(out, by_power_of_two("Latency by phase", phases));
    }
    add_chart(out, by_power_of_two("Length of queue runs", {{"runs", &s.runs.duration}}));
    add_chart(out,
              by_power_of_two("RESTART marked until fired", {{"restarts", &s.runs.restart_delay}}));
    add_chart(out, batches(s));
    return out;
}

} // namespace blktag::report
