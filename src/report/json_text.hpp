// SPDX-License-Identifier: GPL-2.0-or-later
// A JSON value as text that people can read too. Input: ordered JSON. Output: objects one member a
// line, arrays of plain values (and of arrays of them) on one line. Ends without a newline.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace blktag::report {

void append_json(std::string &out, const nlohmann::ordered_json &value, size_t indent = 0);

} // namespace blktag::report
