// SPDX-License-Identifier: GPL-2.0-or-later
// What an experiment is. Input: contrib/experiments/NAME/experiment.json and the shared
// contrib/experiments/metrics.json. Output: checked values; anything unknown in a file is an error.
//
// An experiment runs each of its variants (A, B, ...) in each of its cells (workloads), some times
// over. contrib/README.md documents the file format.
#pragma once

#include "blktag/records.hpp"

#include <expected>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace taglab {

using Json = nlohmann::ordered_json;

struct Module {
    std::string name;
    Json parameters = Json::object();
};

struct Variant {
    std::string name; // "A"
    std::string what;
    std::vector<Module> modules;
    Json setup = Json::array();    // steps before the recording
    Json workload = Json::array(); // steps under the recording; empty = the experiment's
    Json after = Json::array();
    std::map<std::string, std::string> env;
    unsigned scsi_disks = 0;
    std::vector<std::string> record; // more options for tagtrace
    bool leaves_stuck = false;       // its disks cannot go away any more
};

struct Published {
    std::map<std::string, double> value; // by variant
    std::string metric;                  // which of our metrics it is to be held against
};

struct Cell {
    std::string name;
    std::string what;
    Json setup = Json::array();
    Json workload = Json::array();
    std::map<std::string, std::string> env;
    std::vector<std::string> variants; // that run it; empty = all
    std::vector<Published> published;
};

struct Metric {
    std::string name;
    std::string label;
    std::string unit;  // "", "%", "us", "1/s"
    std::string value; // formula
};

struct Expectation {
    std::string say;
    std::string metric;
    std::string of; // "B/A", "A", "C-A"
    std::string op; // ">=", "<=", ">", "<", "==", "between"
    double limit = 0;
    double high = 0;                  // between
    std::vector<std::string> cells;   // empty = all
    std::vector<std::string> kernels; // empty = all
};

struct Machine {
    unsigned cpus = 2;
    bool icount = true;
    std::string memory = "2G";
    std::vector<std::string> qemu;
    std::string append; // kernel command line
    unsigned timeout_s = 600;
    bool operator==(const Machine &) const = default;
};

struct Quick {
    std::optional<unsigned> repeats;
    std::vector<std::string> cells; // empty = all
    std::map<std::string, std::string> env;
};

struct Experiment {
    std::string name, title, source, about;
    bool is_case = false;
    bool native_ok = false; // nothing in it needs a throwaway machine
    Machine machine;
    unsigned repeats = 1;
    unsigned bare =
        0; // how often each run is made once more without a recording, the quickest counts
    std::vector<std::string> record; // more options for tagtrace
    bool loss_expected = false;
    Quick quick;
    Json setup = Json::array();
    Json workload = Json::array();
    std::map<std::string, std::string> env;
    std::vector<Variant> variants;
    std::vector<Cell> cells;
    std::vector<Metric> headline; // shown beside what was published
    std::vector<Metric> why;
    std::vector<Expectation> expect;
    std::vector<std::string> kernels; // that it can run on; empty = all
    std::string not_held;             // what to know where an expectation does not hold

    [[nodiscard]] const Metric *metric(const std::string &metric_name) const;
};

// The folders' names, sorted.
std::expected<std::vector<std::string>, blktag::Error>
experiment_names(const std::filesystem::path &dir);
std::expected<Experiment, blktag::Error> load_experiment(const std::filesystem::path &dir,
                                                         const std::string &name);

} // namespace taglab
