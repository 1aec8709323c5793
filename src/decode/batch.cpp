// SPDX-License-Identifier: GPL-2.0-or-later
// Batch's own functions (records.hpp): count and clear over every kind.
#include "decode/batch.hpp"

namespace blktag {

size_t Batch::size() const
{
    size_t records = topology_json.size() + histograms.size() + moments.size();
    decode::for_each_kind(*this, [&](const auto &of_kind, bt_kind) { records += of_kind.size(); });
    return records;
}

void Batch::clear()
{
    topology_json.clear();
    histograms.clear();
    moments.clear();
    decode::for_each_kind(*this, [](auto &of_kind, bt_kind) { of_kind.clear(); });
}

} // namespace blktag
