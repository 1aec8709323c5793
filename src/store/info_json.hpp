// SPDX-License-Identifier: GPL-2.0-or-later
// TraceInfo and Books to the file's JSON and back. Input: structs, or bytes from anybody. Output:
// the other; what is missing or of a wrong type keeps its default.
#pragma once

#include "blktag/records.hpp"

#include <optional>
#include <span>
#include <string>

namespace blktag::store {

std::string info_to_json(const TraceInfo &info, const Books *books);

struct ParsedInfo {
    TraceInfo info;
    std::optional<Books> books;
};
std::optional<ParsedInfo> info_from_json(std::span<const uint8_t> bytes);

} // namespace blktag::store
