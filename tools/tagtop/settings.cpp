// SPDX-License-Identifier: GPL-2.0-or-later
// What is remembered from one run to the next. Input: the settings file. Output: Options; the file.
#include "options.hpp"

#include "view/draw.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tagtop {

using namespace blktag;

namespace {

std::filesystem::path settings_file()
{
    const char *config = std::getenv("XDG_CONFIG_HOME");
    const char *home = std::getenv("HOME");
    std::filesystem::path base;
    if (config && *config == '/')
        base = config;
    else if (home && *home)
        base = std::filesystem::path(home) / ".config";
    return base.empty() ? base : base / "blktag" / "tagtop.json";
}

nlohmann::json read_file()
{
    std::ifstream file(settings_file());
    return nlohmann::json::parse(file, nullptr, false);
}

nlohmann::json json_of(const view::UiState &state, uint64_t interval_ns)
{
    nlohmann::json out;
    out["interval_ns"] = interval_ns;
    out["theme"] = state.theme;
    out["view"] = static_cast<unsigned>(state.view);
    for (const view::TableState &table : state.tables)
        out["tables"].push_back({{"sort", table.sort}, {"reverse", table.reverse}});
    return out;
}

} // namespace

void load_settings(Options &options)
{
    const nlohmann::json file = read_file();
    if (!file.is_object())
        return;
    try {
        const uint64_t interval_ns = file.value("interval_ns", options.interval_ns);
        if (interval_ns >= 50'000'000 && interval_ns <= 3'600'000'000'000)
            options.interval_ns = interval_ns;
        options.state.theme = file.value("theme", 0U);
        options.state.view =
            static_cast<view::ViewId>(file.value("view", 0U) % unsigned{view::nr_views});
        const nlohmann::json tables = file.value("tables", nlohmann::json::array());
        for (size_t i = 0; i < tables.size() && i < options.state.tables.size(); i++) {
            options.state.tables[i].sort = tables[i].value("sort", std::string());
            options.state.tables[i].reverse = tables[i].value("reverse", false);
        }
    } catch (const nlohmann::json::exception &) {
        // written by hand, or by another version: what was read so far is good enough
    }
}

void save_settings(const view::UiState &state, uint64_t interval_ns)
{
    const nlohmann::json now = json_of(state, interval_ns);
    const std::filesystem::path path = settings_file();
    if (path.empty() || read_file() == now)
        return;
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream file(path);
    file << now.dump(1) << '\n';
}

} // namespace tagtop
