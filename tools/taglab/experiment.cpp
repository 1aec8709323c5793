// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and checks experiment files. Input: folders below contrib/experiments. Output: see
// experiment.hpp.
#include "experiment.hpp"

#include "formula.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace taglab {

namespace {

namespace fs = std::filesystem;
using blktag::Error;

// One object of a file: every member is asked for by name, and what nobody asked for is an error.
// Throws std::runtime_error, which load_experiment turns into an Error.
class Object {
  public:
    Object(const Json &json, std::string where) : json_(json), where_(std::move(where))
    {
        if (!json.is_object())
            throw std::runtime_error(where_ + " is no object");
    }

    const Json *find(const char *key)
    {
        asked_.emplace_back(key);
        const auto at = json_.find(key);
        return at == json_.end() ? nullptr : &*at;
    }

    template<typename T>
    void get(const char *key, T &out, bool needed = false)
    {
        const Json *value = find(key);
        if (value == nullptr) {
            if (needed)
                throw std::runtime_error(fmt::format("{}: '{}' is missing", where_, key));
            return;
        }
        try {
            value->get_to(out);
        } catch (const Json::exception &) {
            throw std::runtime_error(fmt::format("{}: '{}' is of the wrong kind", where_, key));
        }
    }

    void steps(const char *key, Json &out)
    {
        if (const Json *value = find(key)) {
            if (!value->is_array())
                throw std::runtime_error(fmt::format("{}: '{}' is no list of steps", where_, key));
            out = *value;
        }
    }

    // A number or text becomes text: environment variables are nothing else.
    void env(const char *key, std::map<std::string, std::string> &out)
    {
        const Json *value = find(key);
        if (value == nullptr)
            return;
        for (const auto &[name, text] : value->items())
            out[name] = text.is_string() ? text.get<std::string>() : text.dump();
    }

    void done() const
    {
        for (const auto &[key, value] : json_.items())
            if (std::ranges::find(asked_, key) == asked_.end())
                throw std::runtime_error(fmt::format("{}: '{}' is not known here", where_, key));
    }

  private:
    const Json &json_;
    std::string where_;
    std::vector<std::string> asked_;
};

Json read_json(const fs::path &path)
{
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    try {
        return Json::parse(file);
    } catch (const Json::exception &error) {
        throw std::runtime_error(fmt::format("{}: {}", path.string(), error.what()));
    }
}

Module module_of(const Json &json)
{
    Module out;
    Object object(json, "module");
    object.get("name", out.name, true);
    object.get("parameters", out.parameters);
    object.done();
    return out;
}

Variant variant_of(const Json &json)
{
    Variant out;
    Object object(json, "variant");
    object.get("name", out.name, true);
    object.get("what", out.what, true);
    if (const Json *modules = object.find("modules"))
        for (const Json &module : *modules)
            out.modules.push_back(module_of(module));
    object.steps("setup", out.setup);
    object.steps("workload", out.workload);
    object.steps("after", out.after);
    object.env("env", out.env);
    object.get("scsi_disks", out.scsi_disks);
    object.get("record", out.record);
    object.get("leaves_stuck", out.leaves_stuck);
    object.done();
    return out;
}

Cell cell_of(const Json &json)
{
    Cell out;
    Object object(json, "cell");
    object.get("name", out.name, true);
    object.get("what", out.what);
    object.steps("setup", out.setup);
    object.steps("workload", out.workload);
    object.env("env", out.env);
    object.get("variants", out.variants);
    if (const Json *published = object.find("published"))
        for (const auto &[metric, values] : published->items())
            out.published.push_back({values.get<std::map<std::string, double>>(), metric});
    object.done();
    return out;
}

Metric metric_of(const std::string &name, const Json &json)
{
    Metric out;
    out.name = name;
    Object object(json, "metric " + name);
    object.get("label", out.label, true);
    object.get("unit", out.unit);
    object.get("value", out.value, true);
    object.done();
    if (const auto checked = check_formula(out.value); !checked)
        throw std::runtime_error(checked.error().what);
    return out;
}

// A list of names of shared metrics, and of objects that have a "name" of their own.
std::vector<Metric> metrics_of(const Json *list, const Json &shared)
{
    std::vector<Metric> out;
    for (const Json &entry : list != nullptr ? *list : Json::array()) {
        if (entry.is_string()) {
            const std::string name = entry.get<std::string>();
            if (!shared.contains(name))
                throw std::runtime_error("metrics.json has no metric " + name);
            out.push_back(metric_of(name, shared[name]));
        } else {
            Json rest = entry;
            const std::string name = rest.value("name", "");
            rest.erase("name");
            out.push_back(metric_of(name.empty() ? rest.value("label", "") : name, rest));
        }
    }
    return out;
}

Expectation expectation_of(const Json &json)
{
    static const std::vector<std::string> ops = {">=", "<=", ">", "<", "==", "between"};
    Expectation out;
    Object object(json, "expectation");
    object.get("say", out.say, true);
    object.get("metric", out.metric, true);
    object.get("of", out.of, true);
    object.get("op", out.op, true);
    object.get("value", out.limit, true);
    object.get("high", out.high);
    object.get("cells", out.cells);
    object.get("kernels", out.kernels);
    object.done();
    if (std::ranges::find(ops, out.op) == ops.end())
        throw std::runtime_error(fmt::format("expectation '{}': no operator {}", out.say, out.op));
    return out;
}

void read_machine(const Json *json, Machine &out)
{
    if (json == nullptr)
        return;
    Object object(*json, "machine");
    object.get("cpus", out.cpus);
    object.get("icount", out.icount);
    object.get("memory", out.memory);
    object.get("qemu", out.qemu);
    object.get("append", out.append);
    object.get("timeout_s", out.timeout_s);
    object.done();
}

void read_quick(const Json *json, Quick &out)
{
    if (json == nullptr)
        return;
    Object object(*json, "quick");
    if (const Json *repeats = object.find("repeats"))
        out.repeats = repeats->get<unsigned>();
    object.get("cells", out.cells);
    object.env("env", out.env);
    object.done();
}

bool has_name(const auto &list, const std::string &name)
{
    return std::ranges::any_of(list, [&](const auto &one) { return one.name == name; });
}

void check_names(const Experiment &e)
{
    for (const Expectation &one : e.expect) {
        if (e.metric(one.metric) == nullptr)
            throw std::runtime_error(
                fmt::format("expectation '{}': no metric {}", one.say, one.metric));
        for (const std::string &cell : one.cells)
            if (!has_name(e.cells, cell))
                throw std::runtime_error(
                    fmt::format("expectation '{}': no cell {}", one.say, cell));
        for (size_t at = 0; at < one.of.size(); at += 2)
            if (!has_name(e.variants, one.of.substr(at, 1)))
                throw std::runtime_error(
                    fmt::format("expectation '{}': no such variant in {}", one.say, one.of));
    }
    for (const std::string &cell : e.quick.cells)
        if (!has_name(e.cells, cell))
            throw std::runtime_error("quick: no cell " + cell);
    for (const Variant &variant : e.variants)
        if (variant.name.size() != 1 ||
            std::isupper(static_cast<unsigned char>(variant.name[0])) == 0)
            throw std::runtime_error("a variant's name is one capital letter");
}

Experiment read_experiment(const fs::path &dir, const std::string &name)
{
    Experiment out;
    const Json shared = read_json(dir / "metrics.json");
    const Json json = read_json(dir / name / "experiment.json");
    Object object(json, name);
    out.name = name;
    out.is_case = name.starts_with("case-");
    object.get("title", out.title, true);
    object.get("source", out.source, true);
    object.get("about", out.about);
    object.get("native", out.native_ok);
    read_machine(object.find("machine"), out.machine);
    object.get("repeats", out.repeats);
    object.get("bare", out.bare);
    object.get("record", out.record);
    object.get("loss_expected", out.loss_expected);
    object.get("kernels", out.kernels);
    object.get("not_held", out.not_held);
    read_quick(object.find("quick"), out.quick);
    object.steps("setup", out.setup);
    object.steps("workload", out.workload);
    object.env("env", out.env);
    if (const Json *variants = object.find("variants"))
        for (const Json &variant : *variants)
            out.variants.push_back(variant_of(variant));
    if (const Json *cells = object.find("cells"))
        for (const Json &cell : *cells)
            out.cells.push_back(cell_of(cell));
    if (out.cells.empty())
        out.cells.emplace_back().name = "all";
    out.headline = metrics_of(object.find("headline"), shared);
    out.why = metrics_of(object.find("why"), shared);
    if (const Json *expect = object.find("expect"))
        for (const Json &one : *expect)
            out.expect.push_back(expectation_of(one));
    object.done();
    if (out.variants.empty() || out.repeats == 0)
        throw std::runtime_error("it needs a variant and a repeat at least");
    check_names(out);
    return out;
}

} // namespace

const Metric *Experiment::metric(const std::string &metric_name) const
{
    for (const auto *list : {&headline, &why})
        for (const Metric &one : *list)
            if (one.name == metric_name)
                return &one;
    return nullptr;
}

std::expected<std::vector<std::string>, Error> experiment_names(const fs::path &dir)
{
    std::vector<std::string> out;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(dir, error))
        if (fs::exists(entry.path() / "experiment.json"))
            out.push_back(entry.path().filename().string());
    if (error)
        return std::unexpected(
            Error{fmt::format("cannot read {}: {}", dir.string(), error.message()),
                  "--tree names the folder that contrib/ is in"});
    std::ranges::sort(out);
    return out;
}

std::expected<Experiment, Error> load_experiment(const fs::path &dir, const std::string &name)
{
    const bool plain = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    if (!plain || !fs::exists(dir / name / "experiment.json"))
        return std::unexpected(
            Error{fmt::format("there is no experiment '{}'", name), "taglab list tells them all"});
    try {
        return read_experiment(dir, name);
    } catch (const std::exception &error) {
        return std::unexpected(Error{fmt::format("experiment {}: {}", name, error.what()),
                                     "contrib/README.md documents the format"});
    }
}

} // namespace taglab
