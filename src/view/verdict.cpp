// SPDX-License-Identifier: GPL-2.0-or-later
// The one line that says which hctx hurts. Input: Facts. Output: Verdict.
#include "view/format.hpp"
#include "view/views.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace blktag::view {

namespace {

struct Suspect {
    const QueueStats *queue = nullptr;
    const HctxStats *hctx = nullptr;
    bool dispatch = false;
    uint64_t pain_ns = 0; // time waited in the interval, and by those who still wait
};

bt_cause main_cause(const Facts &facts, const Suspect &suspect)
{
    const Waits &waits = suspect.dispatch ? suspect.hctx->dispatch_waits : suspect.hctx->waits;
    std::array<uint64_t, BT_NR_CAUSES> count{};
    for (size_t i = 0; i < count.size(); ++i)
        count[i] = std::max(waits.by_cause[i].count.value_or(0), waits.by_cause[i].time.count);
    if (facts.under_way())
        for (const WaitNow &wait : facts.under_way()->waits)
            if (wait.hctx_id == suspect.hctx->hctx_id && wait.dispatch == suspect.dispatch)
                ++count[wait.cause];
    return static_cast<bt_cause>(std::max_element(count.begin(), count.end()) - count.begin());
}

std::string holder_text(const Facts &facts, uint16_t space_id)
{
    if (!facts.under_way())
        return {};
    std::map<uint32_t, std::pair<uint64_t, const TaskName *>> held;
    for (const HeldNow &tag : facts.under_way()->held)
        if (tag.space_id == space_id && tag.task.tid != 0) {
            auto &entry = held[tag.task.tid];
            ++entry.first;
            entry.second = &tag.task;
        }
    const auto most = std::max_element(held.begin(), held.end(), [](const auto &a, const auto &b) {
        return a.second.first < b.second.first;
    });
    if (most == held.end())
        return {};
    std::string text = ", held by " + task_text(*most->second.second);
    if (held.size() > 1)
        text += fmt::format(" and {} more", held.size() - 1);
    return text;
}

Suspect worst(const Facts &facts)
{
    Suspect out;
    std::map<std::pair<uint16_t, bool>, uint64_t> open;
    if (facts.under_way())
        for (const WaitNow &wait : facts.under_way()->waits)
            open[{wait.hctx_id, wait.dispatch}] +=
                std::min<uint64_t>(wait.age_ns, facts.shown().recording.duration_ns);
    for (const QueueStats &queue : facts.shown().queues)
        for (const HctxStats &hctx : queue.hctxs)
            for (const bool dispatch : {false, true}) {
                const Waits &waits = dispatch ? hctx.dispatch_waits : hctx.waits;
                uint64_t pain = waits.total_ns.value_or(waits.time.sum_ns);
                if (const auto now = open.find({hctx.hctx_id, dispatch}); now != open.end())
                    pain += now->second;
                if (pain > out.pain_ns)
                    out = {&queue, &hctx, dispatch, pain};
            }
    return out;
}

std::string share_text(const Facts &facts, const Suspect &suspect)
{
    const Totals &totals = suspect.hctx->totals;
    if (suspect.dispatch) {
        const double share =
            facts.seconds() > 0 ? static_cast<double>(suspect.pain_ns) / 1e9 / facts.seconds() : 0;
        return fmt::format("parked for a driver tag {} % of the time",
                           percent(std::min(share, 1.0)));
    }
    const auto share = ratio(totals.submit_waits, totals.gets);
    const auto now = facts.waiting_on_hctx(suspect.hctx->hctx_id);
    if ((!share || *share == 0) && now && now->tasks)
        return fmt::format("{} wait since {}", now->tasks, duration(now->oldest_ns));
    return fmt::format("{} % of gets wait", percent(share));
}

} // namespace

Verdict verdict_of(const Facts &facts)
{
    const Suspect suspect = worst(facts);
    if (!suspect.hctx) {
        if (!facts.shown().totals.submit_waits)
            return {"waits are not measured here: tagtrace doctor says why", Role::warn};
        return {"no task waits for a tag, no hctx is parked for one", Role::good};
    }
    const HctxStats &hctx = *suspect.hctx;
    const bt_cause cause = main_cause(facts, suspect);
    const bool sched = !suspect.dispatch && hctx.sched_depth;
    const auto depth = sched ? hctx.sched_depth : hctx.depth;
    std::string text = fmt::format("{} hctx{}: {}", suspect.queue->name, hctx.hctx_num,
                                   share_text(facts, suspect));
    if (depth)
        text += fmt::format(", {} {}tags", *depth, sched ? "scheduler " : "");
    text += fmt::format(", cause: {}", cause_name(cause));
    text += holder_text(facts, sched ? hctx.sched_space_id : hctx.space_id);
    const auto share = ratio(hctx.totals.submit_waits, hctx.totals.gets);
    const bool bad = suspect.dispatch || share.value_or(1) >= 0.05 || cause == BT_CAUSE_STUCK;
    return {text, bad ? Role::bad : Role::warn};
}

} // namespace blktag::view
