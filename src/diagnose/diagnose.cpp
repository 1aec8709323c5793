// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the rules and puts roots before victims. Input: Snapshot. Output: findings.
#include "diagnose/diagnose.hpp"

#include "diagnose/context.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace blktag::diagnose {

namespace {

size_t rank(std::string_view id)
{
    const auto &table = kinds();
    for (size_t i = 0; i < table.size(); ++i)
        if (table[i].id == id)
            return i;
    return table.size();
}

bool same_place(const Finding &a, const Finding &b)
{
    if (a.where.set_id != BT_NO_ID || b.where.set_id != BT_NO_ID)
        return a.where.set_id == b.where.set_id;
    return a.where.queues == b.where.queues;
}

// (root, victim) beyond the general rule that what does not move hides what is slow.
constexpr std::pair<std::string_view, std::string_view> hides[] = {
    {"stuck_request", "stalled_hctx"},        {"stuck_request", "lost_restart"},
    {"stuck_request", "leaked_tag"},          {"stuck_request", "leaked_active"},
    {"stuck_request", "leaked_budget"},       {"wake_batch_above_depth", "stuck_waiters"},
    {"leaked_tag", "stuck_waiters"},          {"leaked_active", "stuck_waiters"},
    {"leaked_budget", "stalled_hctx"},        {"leaked_budget", "lost_restart"},
    {"dev_resource_idle", "stalled_hctx"},    {"dev_resource_idle", "lost_restart"},
    {"requeue_storm", "empty_runs"},          {"requeue_storm", "device_outlier"},
    {"thundering_herd", "depth_too_small"},   {"thundering_herd", "nr_requests_binds"},
    {"submitter_blocked", "depth_too_small"}, {"submitter_blocked", "nr_requests_binds"},
    {"hctx_imbalance", "depth_too_small"},    {"fair_share", "depth_too_small"},
    {"budget_binds", "depth_too_small"},      {"budget_binds", "nr_requests_binds"},
    {"budget_binds", "empty_runs"},           {"saturated_device", "depth_too_small"},
    {"saturated_device", "too_deep"},         {"frozen", "device_outlier"},
    {"hctx_unmapped", "hctx_imbalance"},
};

bool hidden_by(const Finding &victim, const Finding &root)
{
    if (&victim == &root || !same_place(victim, root))
        return false;
    for (const auto &[root_id, victim_id] : hides)
        if (root.id == root_id && victim.id == victim_id)
            return true;
    const size_t kind = rank(victim.id);
    return root.severity == Severity::critical && kind < kinds().size() && kinds()[kind].victim;
}

} // namespace

void order(std::vector<Finding> &findings)
{
    std::vector<Finding> kept;
    for (const Finding &one : findings) {
        const bool hidden = std::any_of(findings.begin(), findings.end(),
                                        [&one](const Finding &f) { return hidden_by(one, f); });
        if (!hidden)
            kept.push_back(one);
    }
    std::stable_sort(kept.begin(), kept.end(), [](const Finding &a, const Finding &b) {
        return std::tuple(b.severity, rank(a.id)) < std::tuple(a.severity, rank(b.id));
    });
    findings = std::move(kept);
}

std::vector<Finding> diagnose(const Snapshot &snapshot, const Thresholds &thresholds)
{
    std::vector<Finding> out;
    Context context(snapshot, thresholds, out);
    find_stuck(context);
    find_leaks(context);
    find_stalls(context);
    find_requeues(context);
    find_shares(context);
    find_depth(context);
    find_mapping(context);
    find_batches(context);
    find_lookalikes(context);
    order(out);
    return out;
}

namespace {

struct Limit {
    std::string text;
    double full = 0; // share of the time, or of the askings, that it was reached
    bool known = false;
};

Limit limit_of(const Context &c, const std::string &name, const QueueStats &queue, bool sched)
{
    Limit out;
    size_t pools = 0;
    std::optional<uint32_t> depth;
    std::vector<uint16_t> seen;
    for (const HctxStats &hctx : queue.hctxs) {
        const uint16_t id = sched ? hctx.sched_space_id : hctx.space_id;
        const SpaceStats *space = c.space(id);
        if (!space || std::find(seen.begin(), seen.end(), id) != seen.end())
            continue;
        seen.push_back(id);
        ++pools;
        depth = space->depth;
        if (space->gauge) {
            out.known = true;
            out.full = std::max(out.full, space->gauge->full_share);
        }
    }
    if (depth)
        out.text = fmt::format("{} {} x {}", name, *depth, pools);
    return out;
}

} // namespace

std::string limits_text(const Snapshot &snapshot, const QueueStats &queue)
{
    std::vector<Finding> none;
    const Thresholds thresholds;
    const Context c(snapshot, thresholds, none);
    std::vector<Limit> limits{limit_of(c, "sched", queue, true),
                              limit_of(c, "driver", queue, false)};
    if (queue.lun_depth) {
        Limit lun;
        lun.text = fmt::format("LUN depth {}", *queue.lun_depth);
        const uint64_t refused = count_of(queue.counters, BT_C_budget_refused);
        lun.full = ratio(refused, refused + count_of(queue.counters, BT_C_budget_taken));
        lun.known = queue.counters.get(BT_C_budget_refused).has_value();
        limits.push_back(lun);
    }
    if (queue.async_depth)
        limits.push_back({fmt::format("async_depth {}", *queue.async_depth), 0, false});
    const Limit *binds = nullptr;
    for (const Limit &limit : limits)
        if (limit.known && !limit.text.empty() && limit.full > (binds ? binds->full : 0.05))
            binds = &limit;
    std::string out;
    for (const Limit &limit : limits) {
        if (limit.text.empty())
            continue;
        out += (out.empty() ? "" : ", ") + limit.text;
        if (&limit == binds)
            out +=
                fmt::format(" <- binds ({} {})", limit.text.starts_with("LUN") ? "refused" : "full",
                            percent(limit.full));
    }
    return out;
}

} // namespace blktag::diagnose
