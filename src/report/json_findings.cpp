// SPDX-License-Identifier: GPL-2.0-or-later
// Findings to JSON. Input: findings. Output: a JSON array.
#include "report/json_findings.hpp"

namespace blktag::report {

Json json_of(const std::vector<diagnose::Finding> &findings)
{
    Json out = Json::array();
    for (const diagnose::Finding &f : findings) {
        Json one;
        one["id"] = f.id;
        one["severity"] = diagnose::severity_name(f.severity);
        Json where;
        where["set_id"] = f.where.set_id == BT_NO_ID ? Json() : Json(f.where.set_id);
        where["queues"] = f.where.queues;
        where["hctx"] = f.where.hctx.empty() ? Json() : Json(f.where.hctx);
        where["task"] = f.where.task.empty() ? Json() : Json(f.where.task);
        one["where"] = where;
        one["since_ns"] = json_of(f.since_ns);
        one["summary"] = f.summary;
        Json evidence = Json::array();
        for (const diagnose::Evidence &e : f.evidence)
            evidence.push_back({{"name", e.name}, {"value", e.value}, {"unit", e.unit}});
        one["evidence"] = evidence;
        one["confidence"] = f.confidence;
        one["confirm"] = f.confirm;
        one["try"] = f.remedies;
        one["kernel_change"] = f.kernel_change.empty() ? Json() : Json(f.kernel_change);
        out.push_back(one);
    }
    return out;
}

} // namespace blktag::report
