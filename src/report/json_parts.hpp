// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of the JSON report; only for src/report. Input: parts of a Snapshot. Output: JSON values.
#pragma once

#include "blktag/snapshot.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace blktag::report {

using Json = nlohmann::ordered_json;

// Bins are written for the whole and for queues; an hctx has the summary of its distributions.
enum class Detail : uint8_t { bins, summary };

template<typename T>
Json json_of(const std::optional<T> &value)
{
    return value ? Json(*value) : Json();
}
Json json_of(const Totals &totals);
Json json_of(const Counters &counters); // null where not measured
Json json_of(const Distribution &distribution, Detail detail);
Json json_of(const WaitMoment &moment);
Json json_of(const Waits &waits, Detail detail);
Json json_of(const std::optional<Latency> &latency, Detail detail);
Json json_of(const std::vector<OpStats> &ops, Detail detail);
Json json_of(const RunStats &runs, Detail detail);
Json json_of(const std::array<OtherWaits, 3> &other, Detail detail);
Json json_of(const SetStats &set);
Json json_of(const QueueStats &queue);
Json counts_by_cause(const Waits &waits);
// The whole report of one recording, findings included.
Json document(const Snapshot &snapshot);

} // namespace blktag::report
