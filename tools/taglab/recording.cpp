// SPDX-License-Identifier: GPL-2.0-or-later
// Turns a run's files into facts. Input: results folder. Output: see recording.hpp.
#include "recording.hpp"

#include "agg/summarize.hpp"
#include "report/json.hpp"
#include "store/reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace taglab {

namespace {

namespace fs = std::filesystem;
using blktag::Error;
using Json = nlohmann::ordered_json;

// What objects in a list are called by.
const char *naming_member(const std::string &list)
{
    static const std::map<std::string, const char *> names = {
        {"queues", "name"}, {"hctxs", "hctx_num"},  {"spaces", "space_id"},
        {"rungs", "probe"}, {"operations", "op"},   {"notes", "id"},
        {"sets", "set_id"}, {"top_waiters", "comm"}};
    const auto at = names.find(list);
    return at == names.end() ? nullptr : at->second;
}

std::string text_of(const Json &value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

void flatten(const Json &json, const std::string &path, const std::string &last, Facts &out)
{
    if (json.is_number()) {
        out[path] = json.get<double>();
    } else if (json.is_boolean()) {
        out[path] = json.get<bool>() ? 1 : 0;
    } else if (json.is_object()) {
        for (const auto &[key, below] : json.items())
            if (!key.starts_with("bins_"))
                flatten(below, path.empty() ? key : path + "." + key, key, out);
    } else if (json.is_array()) {
        // how long a list is, is a fact too: CPUs of a hardware queue, for example
        out[path + ".length"] = static_cast<double>(json.size());
        const char *member = naming_member(last);
        for (size_t i = 0; i < json.size(); ++i) {
            const bool named = member != nullptr && json[i].is_object() && json[i].contains(member);
            const std::string name = named ? text_of(json[i][member]) : std::to_string(i);
            flatten(json[i], path + "." + name, name, out);
        }
    }
}

// fio's figures of one direction of one job.
struct FioSum {
    double ios = 0, iops = 0, lat_ns = 0, p99_ns = 0, runtime_ms = 0, bytes = 0;

    void add(const Json &way)
    {
        const double count = way.value("total_ios", 0.0);
        if (count == 0)
            return;
        ios += count;
        iops += way.value("iops", 0.0);
        bytes += way.value("io_bytes", 0.0);
        if (way.contains("lat_ns"))
            lat_ns += count * way["lat_ns"].value("mean", 0.0);
        const Json percentiles =
            way.value("clat_ns", Json::object()).value("percentile", Json::object());
        p99_ns = std::max(p99_ns, percentiles.value("99.000000", 0.0));
        runtime_ms = std::max(runtime_ms, way.value("runtime", 0.0));
    }
    void add(const FioSum &other)
    {
        ios += other.ios;
        iops += other.iops;
        lat_ns += other.lat_ns;
        bytes += other.bytes;
        p99_ns = std::max(p99_ns, other.p99_ns);
        runtime_ms = std::max(runtime_ms, other.runtime_ms);
    }
    void facts(const std::string &prefix, Facts &out) const
    {
        out[prefix + "ios"] = ios;
        if (ios == 0)
            return;
        out[prefix + "iops"] = iops;
        out[prefix + "bytes"] = bytes;
        out[prefix + "lat_mean_us"] = lat_ns / ios / 1000;
        out[prefix + "lat_p99_us"] = p99_ns / 1000;
        out[prefix + "runtime_ms"] = runtime_ms;
    }
};

void fio_facts(const Json &answers, Facts &out)
{
    FioSum all;
    for (const auto &[file, answer] : answers.items()) {
        std::map<std::string, FioSum> jobs;
        for (const Json &job : answer.value("jobs", Json::array())) {
            FioSum one;
            for (const char *way : {"read", "write"})
                if (job.contains(way))
                    one.add(job[way]);
            jobs[job.value("jobname", "?")].add(one);
            all.add(one);
        }
        for (const auto &[name, sum] : jobs)
            sum.facts("fio." + name + ".", out);
    }
    if (!answers.empty())
        all.facts("fio.", out);
}

std::expected<Json, Error> read_answer(const fs::path &path, const std::string &name)
{
    std::ifstream file(path);
    if (!file)
        return std::unexpected(Error{fmt::format("run {} did not take place", name),
                                     "what the machine said stands above"});
    try {
        Json answer = Json::parse(file);
        if (answer.contains("error"))
            return std::unexpected(
                Error{fmt::format("run {}: {}", name, text_of(answer["error"])), ""});
        return answer;
    } catch (const Json::exception &error) {
        return std::unexpected(Error{fmt::format("{}: {}", path.string(), error.what()), ""});
    }
}

std::expected<void, Error> report_facts(const fs::path &file, RunResult &out)
{
    auto reader = blktag::store::Reader::open(file.string());
    const auto snapshot = reader ? blktag::agg::summarize(**reader)
                                 : std::unexpected(std::move(reader).error());
    if (!snapshot)
        return std::unexpected(Error{fmt::format("{}: {}", file.string(), snapshot.error().what),
                                     snapshot.error().remedy});
    out.kernel = snapshot->recording.kernel_release;
    out.impaired = snapshot->impaired();
    try {
        flatten(Json::parse(blktag::report::json_report(*snapshot)), "report", "", out.facts);
    } catch (const Json::exception &error) {
        return std::unexpected(Error{fmt::format("{}: {}", file.string(), error.what()), ""});
    }
    return {};
}

} // namespace

std::expected<RunResult, Error> read_run(const fs::path &dir, const std::string &name,
                                         bool recorded)
{
    const auto answer = read_answer(dir / (name + ".run.json"), name);
    if (!answer)
        return std::unexpected(answer.error());
    RunResult out;
    fio_facts(answer->value("fio", Json::object()), out.facts);
    const Json truths = answer->value("truth", Json::object());
    for (const auto &[disk, files] : truths.items())
        for (const auto &[file, values] : files.items())
            flatten(values, fmt::format("{}.{}", file, disk), "", out.facts);
    flatten(answer->value("values", Json::object()), "values", "", out.facts);
    out.facts["elapsed_ns"] = answer->value("elapsed_ns", 0.0);
    if (!recorded)
        return out;
    if (const auto read = report_facts(dir / (name + ".tag"), out); !read)
        return std::unexpected(read.error());
    return out;
}

} // namespace taglab
