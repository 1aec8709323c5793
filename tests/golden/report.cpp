// SPDX-License-Identifier: GPL-2.0-or-later
// Golden reports. Input: report/*.case (a readable trace, a subset of the JSON, the whole text).
// Output: test results.
//
// JSON is compared as a subset: what the case names must be there and equal; arrays must have the
// same length. Numbers compare as numbers. The text must be the same to the byte, and no line is
// wider than 80 columns.
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "support/trace_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace {

using nlohmann::json;
using namespace blktag;

struct Case {
    std::string trace, json, text;
};

Case load(const std::filesystem::path &path)
{
    std::ifstream file(path);
    Case out;
    std::string *into = nullptr;
    for (std::string line; std::getline(file, line);) {
        if (line == "=== trace")
            into = &out.trace;
        else if (line == "=== json")
            into = &out.json;
        else if (line == "=== text")
            into = &out.text;
        else if (into)
            *into += line + "\n";
    }
    return out;
}

// Where `part` is not in `whole`, the path to it; empty where it is.
std::string missing(const json &part, const json &whole, const std::string &path)
{
    if (part.is_object() && whole.is_object()) {
        for (const auto &[key, value] : part.items()) {
            if (!whole.contains(key))
                return path + "." + key + ": not there";
            if (std::string found = missing(value, whole[key], path + "." + key); !found.empty())
                return found;
        }
        return {};
    }
    if (part.is_array() && whole.is_array()) {
        if (part.size() != whole.size())
            return path + ": length " + std::to_string(whole.size());
        for (size_t i = 0; i < part.size(); ++i)
            if (std::string found =
                    missing(part[i], whole[i], path + "[" + std::to_string(i) + "]");
                !found.empty())
                return found;
        return {};
    }
    return part == whole ? std::string() : path + ": is " + whole.dump();
}

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, matches)
{
    const Case expected = load(GetParam());
    const Snapshot snapshot = test::snapshot_of(expected.trace);
    const std::string json_text = report::json_report(snapshot);
    if (const char *folder =
            std::getenv("BLKTAG_TEST_JSON_DIR")) // report_schema.test.py validates them
        std::ofstream(std::filesystem::path(folder) / (GetParam().stem().string() + ".json"))
            << json_text;
    const json actual = json::parse(json_text);
    EXPECT_EQ(missing(json::parse(expected.json), actual, ""), "");
    const std::string text = report::text_report(snapshot);
    EXPECT_EQ(text, expected.text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(base::display_width(line), 80U) << line;
}

std::vector<std::filesystem::path> cases()
{
    std::vector<std::filesystem::path> out;
    for (const auto &entry :
         std::filesystem::directory_iterator(BLKTAG_SOURCE_DIR "/tests/golden/report"))
        if (entry.path().extension() == ".case")
            out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

INSTANTIATE_TEST_SUITE_P(report, Golden, testing::ValuesIn(cases()),
                         [](const auto &one) { return one.param.stem().string(); });

} // namespace
