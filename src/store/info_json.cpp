// SPDX-License-Identifier: GPL-2.0-or-later
// TraceInfo and Books to the file's JSON and back, tolerant of anything in it.
#include "store/info_json.hpp"

#include <nlohmann/json.hpp>

namespace blktag::store {
namespace {

using nlohmann::json;

constexpr size_t max_list = 65536; // entries of a list that are believed

json books_json(const Books &books)
{
    return {{"produced", books.produced}, {"recorded", books.recorded},
            {"lost", books.lost},         {"missed", books.missed},
            {"complete", books.complete}, {"lost_by_kind", books.lost_by_kind}};
}

const json *member(const json &object, const char *name)
{
    const auto at = object.find(name);
    return at == object.end() ? nullptr : &*at;
}

void get(const json &object, const char *name, std::string &out)
{
    if (const json *value = member(object, name); value && value->is_string())
        out = value->get_ref<const std::string &>();
}

template<class T>
requires std::unsigned_integral<T>
void get(const json &object, const char *name, T &out)
{
    const json *value = member(object, name);
    if (value && value->is_number_unsigned() &&
        value->get<uint64_t>() <= std::numeric_limits<T>::max())
        out = value->get<T>();
}

void get(const json &object, const char *name, bool &out)
{
    if (const json *value = member(object, name); value && value->is_boolean())
        out = value->get<bool>();
}

void get(const json &object, const char *name, std::vector<std::string> &out)
{
    const json *list = member(object, name);
    if (!list || !list->is_array())
        return;
    for (const json &entry : *list) {
        if (entry.is_string() && out.size() < max_list)
            out.push_back(entry.get<std::string>());
    }
}

Books books_of(const json &object)
{
    Books books;
    get(object, "produced", books.produced);
    get(object, "recorded", books.recorded);
    get(object, "lost", books.lost);
    get(object, "missed", books.missed);
    get(object, "complete", books.complete);
    if (const json *list = member(object, "lost_by_kind"); list && list->is_array()) {
        for (const json &entry : *list) {
            if (entry.is_number_unsigned() && books.lost_by_kind.size() < BT_NR_RING_KINDS)
                books.lost_by_kind.push_back(entry.get<uint64_t>());
        }
    }
    return books;
}

void get_rungs(const json &object, std::vector<ProbeRung> &out)
{
    const json *list = member(object, "rungs");
    if (!list || !list->is_array())
        return;
    for (const json &entry : *list) {
        if (!entry.is_object() || out.size() >= max_list)
            continue;
        ProbeRung rung;
        get(entry, "probe", rung.probe);
        get(entry, "hook", rung.hook);
        get(entry, "rung", rung.rung);
        get(entry, "why", rung.why);
        out.push_back(std::move(rung));
    }
}

} // namespace

std::string info_to_json(const TraceInfo &info, const Books *books)
{
    json rungs = json::array();
    for (const ProbeRung &rung : info.rungs)
        rungs.push_back(
            {{"probe", rung.probe}, {"hook", rung.hook}, {"rung", rung.rung}, {"why", rung.why}});
    json out{{"tool_version", info.tool_version},
             {"kernel_release", info.kernel_release},
             {"machine", info.machine},
             {"hostname", info.hostname},
             {"argv", info.argv},
             {"command", info.command},
             {"nr_cpus", info.nr_cpus},
             {"ring_size_bytes", info.ring_size_bytes},
             {"start_mono_ns", info.start_mono_ns},
             {"start_real_ns", info.start_real_ns},
             {"end_mono_ns", info.end_mono_ns},
             {"end_real_ns", info.end_real_ns},
             {"filters", info.filters},
             {"rungs", std::move(rungs)},
             {"not_measured", info.not_measured},
             {"topology_json", info.topology_json}};
    if (books)
        out["books"] = books_json(*books);
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<ParsedInfo> info_from_json(std::span<const uint8_t> bytes)
{
    const json root = json::parse(bytes.begin(), bytes.end(), nullptr, false);
    if (!root.is_object())
        return std::nullopt;
    ParsedInfo parsed;
    TraceInfo &info = parsed.info;
    get(root, "tool_version", info.tool_version);
    get(root, "kernel_release", info.kernel_release);
    get(root, "machine", info.machine);
    get(root, "hostname", info.hostname);
    get(root, "argv", info.argv);
    get(root, "command", info.command);
    get(root, "nr_cpus", info.nr_cpus);
    get(root, "ring_size_bytes", info.ring_size_bytes);
    get(root, "start_mono_ns", info.start_mono_ns);
    get(root, "start_real_ns", info.start_real_ns);
    get(root, "end_mono_ns", info.end_mono_ns);
    get(root, "end_real_ns", info.end_real_ns);
    get(root, "filters", info.filters);
    get(root, "not_measured", info.not_measured);
    get(root, "topology_json", info.topology_json);
    get_rungs(root, info.rungs);
    if (const json *books = member(root, "books"); books && books->is_object())
        parsed.books = books_of(*books);
    return parsed;
}

} // namespace blktag::store
