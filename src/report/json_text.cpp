// SPDX-License-Identifier: GPL-2.0-or-later
// JSON to text. Input and output: see json_text.hpp. Numbers and strings are written by nlohmann's
// dump, which knows no locale.
#include "report/json_text.hpp"

#include <algorithm>

namespace blktag::report {

namespace {

using Json = nlohmann::ordered_json;

bool plain(const Json &value)
{
    return !value.is_object() && !value.is_array();
}

bool one_line(const Json &array)
{
    return std::all_of(array.begin(), array.end(), [](const Json &item) {
        return plain(item) || (item.is_array() && std::all_of(item.begin(), item.end(), plain));
    });
}

std::string compact(const Json &value)
{
    return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void new_line(std::string &out, size_t indent)
{
    out += '\n';
    out.append(indent, ' ');
}

} // namespace

void append_json(std::string &out, const Json &value, size_t indent)
{
    if (plain(value) || value.empty() || (value.is_array() && one_line(value))) {
        out += compact(value);
        return;
    }
    bool first = true;
    out += value.is_object() ? '{' : '[';
    for (auto it = value.begin(); it != value.end(); ++it) {
        if (!first)
            out += ',';
        first = false;
        new_line(out, indent + 1);
        if (value.is_object()) {
            out += compact(Json(it.key()));
            out += ": ";
        }
        append_json(out, *it, indent + 1);
    }
    new_line(out, indent);
    out += value.is_object() ? '}' : ']';
}

} // namespace blktag::report
