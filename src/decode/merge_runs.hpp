// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts a vector that is made of few sorted runs, as several CPUs' records appended to each other
// are. Input: the vector. Output: the same records by time; equal times keep their order. Moves
// each record once, however many runs there are.
#pragma once

#include "decode/batch.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace blktag::decode {

struct SortKey {
    uint64_t ts_ns;
    uint32_t at;
    bool operator<(const SortKey &other) const
    {
        return ts_ns != other.ts_ns ? ts_ns < other.ts_ns : at < other.at;
    }
};

// Merges neighbouring runs until one is left. `ends` are the runs' ends in `keys`.
inline void merge_keys(std::vector<SortKey> &keys, std::vector<size_t> &ends)
{
    std::vector<SortKey> merged(keys.size());
    std::vector<size_t> next_ends;
    const auto at = [](std::vector<SortKey> &v, size_t i) {
        return v.begin() + static_cast<std::ptrdiff_t>(i);
    };
    while (ends.size() > 1) {
        next_ends.clear();
        size_t from = 0;
        for (size_t run = 0; run < ends.size(); run += 2) {
            const size_t middle = ends[run];
            const size_t to = run + 1 < ends.size() ? ends[run + 1] : middle;
            std::merge(at(keys, from), at(keys, middle), at(keys, middle), at(keys, to),
                       at(merged, from));
            next_ends.push_back(to);
            from = to;
        }
        keys.swap(merged);
        ends.swap(next_ends);
    }
}

template<class T>
void merge_runs(std::vector<T> &records)
{
    std::vector<size_t> ends;
    uint64_t before_ns = 0;
    for (size_t i = 0; i < records.size(); i++) {
        const uint64_t ts_ns = time_of(records[i]);
        if (ts_ns < before_ns)
            ends.push_back(i);
        before_ns = ts_ns;
    }
    if (ends.empty())
        return;
    ends.push_back(records.size());
    std::vector<SortKey> keys(records.size());
    for (size_t i = 0; i < records.size(); i++)
        keys[i] = {time_of(records[i]), static_cast<uint32_t>(i)};
    merge_keys(keys, ends);
    std::vector<T> sorted;
    sorted.reserve(records.size());
    for (const SortKey &key : keys)
        sorted.push_back(std::move(records[key.at]));
    records.swap(sorted);
}

} // namespace blktag::decode
