// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong, proved: Snapshot to findings, worst and deepest cause first. Input: Snapshot (live
// or recorded). Output: findings; none where all is well. Pure and deterministic.
//
//     for (const Finding &f : diagnose::diagnose(snapshot))
//         print(f.id, f.summary);
//
// A finding is a root: what merely follows from it (tasks that wait behind one stuck request) is
// counted in it, not listed. What cannot be told from a recording is in `not_told`.
#pragma once

#include "blktag/snapshot.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blktag::diagnose {

enum class Severity : uint8_t {
    info,     // costs something, or explains a number
    warning,  // costs throughput or latency
    critical, // something does not move any more, or would not without luck
};
std::string_view severity_name(Severity severity);
std::optional<Severity> severity_from(std::string_view name);

// A number that the finding rests on. unit: "tags", "waits", "ns", "share" (0..1), "1/s", ...
struct Evidence {
    std::string name;
    double value = 0;
    std::string unit;
    bool operator==(const Evidence &) const = default;
};

// Names as in the Snapshot; empty where the finding is not about one.
struct Where {
    std::vector<std::string> queues; // all of the tag set where it is about the set
    std::string hctx, task;
    uint16_t set_id = BT_NO_ID;
};

struct Finding {
    std::string id; // stable: one of kinds()
    Severity severity = Severity::info;
    Where where;
    std::optional<uint64_t> since_ns; // since the recording's start
    std::string summary;              // one sentence or two with the numbers in it
    std::vector<Evidence> evidence;
    double confidence = 0;             // 0..1
    std::string confirm;               // what would prove it
    std::vector<std::string> remedies; // exact paths or parameters with values
    std::string kernel_change;         // that cures it, empty where none is known
};

struct Thresholds {
#define BT_THRESHOLD(name, value, unit, help) double name = value;
#include "diagnose/thresholds.def"
#undef BT_THRESHOLD
};
struct ThresholdInfo {
    std::string_view name;
    double value;
    std::string_view unit, help;
};
const std::vector<ThresholdInfo> &threshold_table();

// Everything that can be found, in the order in which roots hide victims.
struct Kind {
    std::string_view id;
    Severity severity; // the usual one
    std::string_view title;
    bool victim; // hidden where something on the same tag set does not move
    std::string_view confirm;
    std::string_view kernel_change;
};
const std::vector<Kind> &kinds();
// Conditions known in the field that no recording can tell, and why.
struct NotTold {
    std::string_view what, why;
};
const std::vector<NotTold> &not_told();

std::vector<Finding> diagnose(const Snapshot &snapshot, const Thresholds &thresholds = {});

// The limits of one queue and the one that binds: "sched 64 x 1, driver 32 x 4, LUN depth 32 <-
// binds (full 96 % of the time)". Empty where nothing is known.
std::string limits_text(const Snapshot &snapshot, const QueueStats &queue);

} // namespace blktag::diagnose
