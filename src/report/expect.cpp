// SPDX-License-Identifier: GPL-2.0-or-later
// Holds a report to bounds. Input and output: see expect.hpp.
#include "report/expect.hpp"

#include "base/text.hpp"
#include "report/json_parts.hpp"

#include <charconv>
#include <fmt/format.h>

namespace blktag::report {

namespace {

// The element that a path step names.
const Json *element(const Json &list, std::string_view step)
{
    for (const Json &item : list)
        for (const char *key : {"name", "label", "id", "op", "hctx_num", "tid"}) {
            if (!item.is_object() || !item.contains(key))
                continue;
            const Json &value = item[key];
            if (value.is_string() ? value.get<std::string>() == step : value.dump() == step)
                return &item;
        }
    size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (error == std::errc() && end == step.data() + step.size() && index < list.size())
        return &list[index];
    return nullptr;
}

// Device names may have dots in them: the longest member that fits is tried, too.
const Json *find(const Json &from, std::string_view path)
{
    if (path.empty())
        return &from;
    for (size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
        const size_t end = std::min(dot, path.size());
        const std::string_view step = path.substr(0, end);
        const Json *next = nullptr;
        if (from.is_object() && from.contains(step))
            next = &from[std::string(step)];
        else if (from.is_array())
            next = element(from, step);
        if (next)
            if (const Json *found = find(*next, end == path.size() ? "" : path.substr(end + 1)))
                return found;
        if (dot == std::string_view::npos)
            return nullptr;
    }
}

Error wrong(std::string what)
{
    return {std::move(what), R"(write [{"metric": "totals.submit_waits", "op": "<=", "value": 0}])"};
}

} // namespace

std::optional<bool> holds(double actual, std::string_view op, double value)
{
    if (op == "<")
        return actual < value;
    if (op == "<=")
        return actual <= value;
    if (op == ">")
        return actual > value;
    if (op == ">=")
        return actual >= value;
    if (op == "==")
        return actual == value;
    if (op == "!=")
        return actual != value;
    return std::nullopt;
}

std::expected<std::vector<std::string>, Error> breaches(const Snapshot &snapshot,
                                                        std::string_view bounds)
{
    const Json list = Json::parse(bounds, nullptr, false);
    if (!list.is_array())
        return std::unexpected(wrong("the bounds are not a JSON array"));
    const Json report = document(snapshot);
    std::vector<std::string> out;
    for (const Json &bound : list) {
        if (!bound.is_object() || !bound.contains("metric") || !bound["metric"].is_string() ||
            !bound.contains("op") || !bound["op"].is_string() || !bound.contains("value") ||
            !bound["value"].is_number())
            return std::unexpected(wrong("a bound lacks its metric, op or value: " + bound.dump()));
        const std::string metric = bound["metric"];
        const std::string op = bound["op"];
        const double value = bound["value"];
        if (!holds(0, op, 0))
            return std::unexpected(wrong("unknown op " + op));
        const Json *found = find(report, metric);
        const std::string wanted =
            fmt::format("{} {} {}", base::escape_terminal(metric), op, bound["value"].dump());
        if (!found || found->is_structured() || found->is_string())
            out.push_back(wanted + ": no such number in the report");
        else if (found->is_null())
            out.push_back(wanted + ": not measured");
        else if (!*holds(found->is_boolean() ? double(found->get<bool>()) : found->get<double>(),
                         op, value))
            out.push_back(fmt::format("{}: it is {}", wanted, found->dump()));
    }
    return out;
}

} // namespace blktag::report
