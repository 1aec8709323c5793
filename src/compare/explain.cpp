// SPDX-License-Identifier: GPL-2.0-or-later
// The one line that says what explains a change, between the first and the last side. Input:
// comparison without it. Output: text.
#include "base/units.hpp"
#include "compare/parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace blktag::compare {

namespace {

const Cell *last_of(const Comparison &c, std::string_view id)
{
    const Metric *metric = c.metric(id);
    return metric ? &metric->sides.back() : nullptr;
}

double first_value(const Comparison &c, std::string_view id)
{
    const Metric *metric = c.metric(id);
    return metric ? metric->sides.front().value.value_or(0) : 0;
}

std::string change_text(const Cell &cell)
{
    if (!cell.ratio)
        return "n/a";
    const double percent = (*cell.ratio - 1) * 100;
    if (*cell.ratio >= 3)
        return fmt::format("x {:.1f}", *cell.ratio);
    return fmt::format("{:+.{}f} %", percent, std::fabs(percent) < 10 ? 1 : 0);
}

bool real(const Cell *cell, double at_least)
{
    return cell && cell->ratio && std::fabs(*cell->ratio - 1) >= at_least &&
           cell->change != Change::none;
}

// Fewer, larger requests that carry the same: nobody lost anything.
std::string not_a_slowdown(const Comparison &c)
{
    const Cell *iops = last_of(c, "iops");
    const Cell *size = last_of(c, "request_size");
    const Cell *bytes = last_of(c, "throughput");
    if (!real(iops, 0.1) || !real(size, 0.1) || !bytes || !bytes->ratio ||
        std::fabs(*bytes->ratio - 1) > 0.05)
        return {};
    return fmt::format("requests {}, mean size {}, bytes/s {}: not a {}, requests only became {}",
                       change_text(*iops), change_text(*size), change_text(*bytes),
                       *iops->ratio < 1 ? "slowdown" : "speed-up",
                       *size->ratio > 1 ? "larger" : "smaller");
}

struct PhaseChange {
    std::string_view id;
    std::string_view name;
    double from_ns = 0, to_ns = 0;
};

// The phase of a request's life that changed most.
PhaseChange largest_phase(const Comparison &c)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> phases{
        {{"submit_wait_mean", "waiting for a tag"},
         {"queued_mean", "queued before the driver"},
         {"dispatch_wait_mean", "waiting in dispatch"},
         {"device_mean", "device time"},
         {"completion_mean", "completion"}}};
    PhaseChange out;
    double most = -1;
    for (const auto &[id, name] : phases) {
        const Cell *cell = last_of(c, id);
        if (!cell || !cell->value)
            continue;
        const double from = first_value(c, id);
        if (std::fabs(*cell->value - from) > most) {
            most = std::fabs(*cell->value - from);
            out = {id, name, from, *cell->value};
        }
    }
    return out;
}

// The cause of waits that changed most in number.
std::string cause_text(const Comparison &c)
{
    std::string out;
    double most = 0;
    for (const auto &[id, name] : {std::pair{"waits_exhausted", "no free tag"},
                                   {"waits_fair_share", "fair share with tags free"},
                                   {"waits_sched_depth", "the scheduler's depth limit"}}) {
        const Cell *cell = last_of(c, id);
        if (!cell || !cell->value)
            continue;
        const double change = std::fabs(*cell->value - first_value(c, id));
        if (change > most) {
            most = change;
            out = fmt::format(" ({})", name);
        }
    }
    return out;
}

// Each kind once, with how many places have it.
std::string findings_text(const Comparison &c)
{
    std::vector<std::pair<std::string, size_t>> changes;
    for (const FindingChange &f : c.findings) {
        if (f.present.front() == f.present.back())
            continue;
        const std::string text = (f.present.back() ? "gained " : "lost ") + f.id;
        const auto known = std::ranges::find(changes, text, &std::pair<std::string, size_t>::first);
        if (known == changes.end())
            changes.emplace_back(text, 1);
        else
            ++known->second;
    }
    std::string out;
    for (const auto &[text, places] : changes)
        out += fmt::format("{}{}{}", out.empty() ? "; " : ", ", text,
                           places > 1 ? fmt::format(" ({} places)", places) : "");
    return out;
}

// Settings that can matter to tags; the command line names the load and is left out.
std::string settings_text(const Comparison &c)
{
    std::string out;
    size_t named = 0;
    for (const Difference &d : c.config) {
        if (d.what == "command" || d.what == "filters" || d.what == "queue_rqs" || named == 3)
            continue;
        out += fmt::format("{}{} {} -> {}", out.empty() ? "" : ", ", d.what, d.values.front(),
                           d.values.back());
        ++named;
    }
    return out;
}

} // namespace

std::string explain(const Comparison &c, const std::vector<Side> &)
{
    if (std::string text = not_a_slowdown(c); !text.empty())
        return text;
    const Cell *iops = last_of(c, "iops");
    const Cell *latency = last_of(c, "latency_mean");
    const std::string settings = settings_text(c);
    const std::string because = settings.empty() ? "nothing was set differently" : settings;
    if (!real(iops, 0.02) && !real(latency, 0.02) && findings_text(c).empty())
        return fmt::format("{}: no difference beyond noise (IOPS {}, mean latency {})", because,
                           iops ? change_text(*iops) : "n/a",
                           latency ? change_text(*latency) : "n/a");
    const PhaseChange phase = largest_phase(c);
    const bool waiting = phase.id == "submit_wait_mean" || phase.id == "dispatch_wait_mean";
    const auto duration = [](double ns) {
        return base::format_duration(static_cast<uint64_t>(std::llround(std::max(0.0, ns))));
    };
    return fmt::format(
        "{}: IOPS {}, mean latency {}, because {}{} went from {} to {} per request{}", because,
        iops ? change_text(*iops) : "n/a", latency ? change_text(*latency) : "n/a", phase.name,
        waiting ? cause_text(c) : std::string(), duration(phase.from_ns), duration(phase.to_ns),
        findings_text(c));
}

} // namespace blktag::compare
