// SPDX-License-Identifier: GPL-2.0-or-later
// Findings as text: the verdict and each finding with its numbers. Input: findings. Output: lines
// on a Page.
#include "base/units.hpp"
#include "report/text_findings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace blktag::report {

namespace {

constexpr size_t finding_label_columns = 10;

std::string where_text(const diagnose::Where &where)
{
    std::vector<std::string> parts;
    if (!where.hctx.empty())
        parts.push_back("hctx " + where.hctx);
    else if (where.queues.size() <= 4)
        parts.push_back(join(where.queues));
    else
        parts.push_back(fmt::format("{} and {} more on set {}", where.queues.front(),
                                    where.queues.size() - 1, where.set_id));
    if (!where.task.empty())
        parts.push_back("task " + where.task);
    return join(parts);
}

} // namespace

std::string evidence_text(const diagnose::Evidence &e)
{
    std::string name = e.name;
    for (char &c : name)
        c = c == '_' ? ' ' : c;
    if (e.unit == "ns")
        return fmt::format("{} {}", name,
                           base::format_duration(static_cast<uint64_t>(std::max(0.0, e.value))));
    if (e.unit == "share")
        return fmt::format("{} {:.1f} %", name, e.value * 100);
    if (e.unit == "flag")
        return fmt::format("{} {}", name, e.value != 0 ? "yes" : "no");
    // "tasks waiting 7", not "tasks waiting 7 tasks".
    const bool named = name.find(e.unit) != std::string::npos || e.unit == "results";
    const std::string unit = e.unit == "1/s" ? "/s" : named ? std::string() : " " + e.unit;
    if (std::floor(e.value) == e.value)
        return fmt::format("{} {:.0f}{}", name, e.value, unit);
    return fmt::format("{} {:.{}f}{}", name, e.value, std::fabs(e.value) < 10 ? 2 : 1, unit);
}

std::string verdict_text(const std::vector<diagnose::Finding> &findings)
{
    if (findings.empty())
        return "no finding";
    std::array<size_t, 3> count{};
    for (const diagnose::Finding &f : findings)
        ++count[static_cast<size_t>(f.severity)];
    std::vector<std::string> parts;
    for (size_t i = count.size(); i-- > 0;)
        if (count[i] != 0)
            parts.push_back(fmt::format(
                "{} {}", count[i], diagnose::severity_name(static_cast<diagnose::Severity>(i))));
    return fmt::format("{}: {}", join(parts), findings.front().id);
}

void print_findings(Page &page, const std::vector<diagnose::Finding> &findings)
{
    page.item("VERDICT", verdict_text(findings), 0, label_columns);
    for (const diagnose::Finding &f : findings) {
        page.gap();
        std::string head = fmt::format("FINDING {} ({}): {}", f.id,
                                       diagnose::severity_name(f.severity), where_text(f.where));
        if (f.since_ns)
            head += ", since " + base::format_duration(*f.since_ns);
        page.item("", head, 0, 0);
        page.item("", f.summary, 2, 0);
        std::vector<std::string> numbers;
        for (const diagnose::Evidence &e : f.evidence)
            numbers.push_back(evidence_text(e));
        const auto item = [&page](std::string_view label, std::string_view text) {
            if (!text.empty())
                page.item(label, text, 2, finding_label_columns);
        };
        item("numbers", join(numbers));
        for (size_t i = 0; i < f.remedies.size(); ++i)
            item(i == 0 ? "try" : "or", f.remedies[i]);
        item("confirm", f.confirm);
        item("cured by", f.kernel_change);
        item("certain", fmt::format("{:.0f} %", f.confidence * 100));
    }
    page.gap();
}

} // namespace blktag::report
