// SPDX-License-Identifier: GPL-2.0-or-later
// What goes on right now, with names. Input: Aggregate's newest moment. Output:
// Snapshot::under_way.
#include "agg/build.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <unordered_map>

namespace blktag::agg {

namespace {

// The newest task of each tid: what is under way was begun by it.
class Names {
  public:
    explicit Names(const model::TaskTable &table) : tasks_(table.tasks())
    {
        for (size_t i = 1; i < tasks_.size(); ++i)
            newest_[tasks_[i].tid] = i;
    }
    [[nodiscard]] TaskName of(uint32_t tid) const
    {
        TaskName out;
        out.tid = tid;
        const auto found = newest_.find(tid);
        if (found == newest_.end() || tid == 0)
            return out;
        const model::Task &task = tasks_[found->second];
        out.tgid = task.tgid;
        out.cgroup_id = task.cgroup_id;
        out.comm = base::escape_terminal(base::fixed_string(task.comm.data(), task.comm.size()));
        return out;
    }

  private:
    const std::vector<model::Task> &tasks_;
    std::unordered_map<uint32_t, size_t> newest_;
};

uint64_t age(uint64_t since_ns, uint64_t now_ns)
{
    return now_ns > since_ns ? now_ns - since_ns : 0;
}

uint16_t queue_of(const Aggregate &aggregate, uint16_t hctx_id)
{
    const model::HctxInfo *hctx = aggregate.topology().hctx(hctx_id);
    return hctx ? hctx->queue_id : static_cast<uint16_t>(BT_NO_ID);
}

// What both kinds of waits have.
template<class Wait>
WaitNow wait_now(const Aggregate &aggregate, const Wait &wait, uint64_t now_ns)
{
    WaitNow w;
    w.hctx_id = wait.hctx_id;
    w.queue_id = queue_of(aggregate, wait.hctx_id);
    w.space_id = wait.space_id;
    w.cause = static_cast<bt_cause>(std::min<unsigned>(wait.cause, BT_NR_CAUSES - 1));
    w.flags = wait.flags;
    w.age_ns = age(wait.start_ns, now_ns);
    w.began = {wait.depth, wait.held, wait.active, wait.limit, 0};
    return w;
}

void add_waits(UnderWay &out, const Aggregate &aggregate, const Moment &moment, const Names &names)
{
    for (const bt_wait &wait : moment.waits) {
        WaitNow &w = out.waits.emplace_back(wait_now(aggregate, wait, moment.ts_ns));
        w.task = names.of(wait.tid);
        w.began.users = wait.users;
        w.op = static_cast<bt_op>(std::min<unsigned>(wait.op, BT_OP_OTHER));
    }
    for (const bt_dwait &wait : moment.dispatch_waits)
        out.waits.emplace_back(wait_now(aggregate, wait, moment.ts_ns)).dispatch = true;
    std::stable_sort(out.waits.begin(), out.waits.end(),
                     [](const WaitNow &a, const WaitNow &b) { return a.age_ns > b.age_ns; });
}

} // namespace

void build_under_way(Snapshot &out, const Aggregate &aggregate)
{
    const Moment *moment = aggregate.moment();
    if (!moment)
        return;
    const Names names(aggregate.tasks());
    UnderWay now;
    now.ts_ns = moment->ts_ns;
    now.held_left_out = moment->held_left_out;
    now.bits = moment->bits;
    add_waits(now, aggregate, *moment, names);
    for (const HeldTag &tag : moment->held) {
        HeldNow &h = now.held.emplace_back();
        h.task = names.of(tag.tid);
        h.hctx_id = tag.hctx_id;
        h.queue_id = queue_of(aggregate, tag.hctx_id);
        h.space_id = tag.space_id;
        h.tag = tag.tag;
        h.driver = tag.driver;
        h.op = static_cast<bt_op>(std::min<unsigned>(tag.op, BT_OP_OTHER));
        h.flags = tag.flags;
        h.bytes = tag.bytes;
        h.sector = tag.sector;
        h.age_ns = age(tag.get_ns, moment->ts_ns);
        if (tag.issue_ns && tag.issue_ns <= moment->ts_ns)
            h.issued_for_ns = age(tag.issue_ns, moment->ts_ns);
        h.completed = tag.complete_ns && tag.complete_ns <= moment->ts_ns;
    }
    std::stable_sort(now.held.begin(), now.held.end(), [](const HeldNow &a, const HeldNow &b) {
        return std::pair(a.space_id, a.tag) < std::pair(b.space_id, b.tag);
    });
    out.under_way = std::move(now);
}

} // namespace blktag::agg
