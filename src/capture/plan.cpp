// SPDX-License-Identifier: GPL-2.0-or-later
// The table of probes and the choice among their rungs. Facts per kernel: ARCHITECTURE.md, hooks.
#include "capture/plan.hpp"

#include <algorithm>

namespace blktag::capture {

namespace {

Rung typed(const char *rung, const char *hook, std::vector<ProgramUse> programs, int arguments = -1)
{
    return {rung, hook, false, arguments, std::move(programs)};
}

Rung kprobe(const char *hook, const char *program)
{
    return {"kprobe", hook, false, -1, {{program, Attach::kprobe, hook}}};
}

Rung kretprobe(const char *hook, const char *entry, const char *exit)
{
    return {"kretprobe", hook, false, -1, {{entry, Attach::kprobe, hook}, {exit, Attach::kretprobe, hook}}};
}

Probe tracepoint(const char *name, const char *hook, const char *btf, const char *raw, std::vector<const char *> feeds)
{
    return {name,
            GROUP_RQ | GROUP_RUN | GROUP_TAG | GROUP_BATCH,
            false,
            {{"tp_btf", hook, true, -1, {{btf}}}, {"raw_tp", hook, true, -1, {{raw}}}},
            std::move(feeds)};
}

Probe lifetime(const char *name, const char *hook, const char *fentry, const char *kprobe_program)
{
    return {name, GROUP_ALL, false, {typed("fentry", hook, {{fentry}}), kprobe(hook, kprobe_program)}, {name}};
}

std::vector<Probe> tag_probes()
{
    return {
        {"tag_get",
         GROUP_ALL,
         true,
         {typed("fexit", "__blk_mq_get_tag", {{"tag_get_fexit"}}),
          kretprobe("__blk_mq_get_tag", "tag_get_kprobe", "tag_get_kretprobe")},
         {"gets_single", "submit_waits", "nowait_fails", "retries_won"}},
        {"tag_get_batch",
         GROUP_ALL,
         false,
         {typed("fexit", "blk_mq_get_tags", {{"tag_get_batch_fexit"}}),
          kretprobe("blk_mq_get_tags", "tag_get_batch_kprobe", "tag_get_batch_kretprobe")},
         {"gets_batch"}},
        {"tag_put",
         GROUP_ALL,
         true,
         {typed("fentry", "blk_mq_put_tag", {{"tag_put_fentry"}}), kprobe("blk_mq_put_tag", "tag_put_kprobe")},
         {"puts_single", "io"}},
        {"tag_put_batch",
         GROUP_ALL,
         false,
         {typed("fentry", "blk_mq_put_tags", {{"tag_put_batch_fentry"}}),
          kprobe("blk_mq_put_tags", "tag_put_batch_kprobe")},
         {"puts_batch", "complete_batches"}},
        {"driver_tag",
         GROUP_TAG | GROUP_RUN,
         false,
         {typed("fexit", "__blk_mq_alloc_driver_tag", {{"driver_tag_alloc_fexit"}}),
          typed("fexit", "__blk_mq_get_driver_tag", {{"driver_tag_get_fexit"}}),
          typed("fexit", "blk_mq_get_driver_tag", {{"driver_tag_old_fexit"}}),
          kretprobe("__blk_mq_alloc_driver_tag", "driver_tag_kprobe_rq1", "driver_tag_kretprobe"),
          kretprobe("__blk_mq_get_driver_tag", "driver_tag_kprobe_rq2", "driver_tag_kretprobe")},
         {"driver_gets", "driver_fails", "dispatch_waits"}},
    };
}

std::vector<Probe> run_probes()
{
    constexpr uint32_t g = GROUP_RUN;
    return {
        {"dispatch_wake",
         GROUP_TAG | GROUP_RUN,
         false,
         {typed("fentry", "blk_mq_dispatch_wake", {{"dispatch_wake_fentry"}}),
          kprobe("blk_mq_dispatch_wake", "dispatch_wake_kprobe")},
         {"dispatch_wakes"}},
        {"restart",
         g,
         false,
         {typed("fentry", "__blk_mq_sched_restart", {{"restart_fentry"}}),
          kprobe("__blk_mq_sched_restart", "restart_kprobe")},
         {"restarts"}},
        {"run_ask",
         g,
         false,
         {typed("fentry", "blk_mq_run_hw_queue", {{"run_ask_fentry"}}), kprobe("blk_mq_run_hw_queue", "run_ask_kprobe")},
         {"runs_asked"}},
        {"run_arm",
         g,
         false,
         {typed("fentry", "kblockd_mod_delayed_work_on", {{"run_arm_fentry"}}),
          kprobe("kblockd_mod_delayed_work_on", "run_arm_kprobe")},
         {"runs_delayed", "runs_armed", "runs_rearmed"}},
        {"run",
         g,
         false,
         {typed("fentry+fexit", "blk_mq_sched_dispatch_requests", {{"run_begin_fentry"}, {"run_end_fexit"}}),
          kretprobe("blk_mq_sched_dispatch_requests", "run_begin_kprobe", "run_end_kretprobe")},
         {"runs", "runs_empty", "restarts_marked"}},
    };
}

std::vector<Probe> other_probes()
{
    constexpr uint32_t g = GROUP_OTHER;
    return {
        {"throttle",
         g,
         false,
         {typed("fentry+fexit", "rq_qos_wait", {{"throttle_begin_fentry"}, {"throttle_end_fexit"}})},
         {"throttle_waits"}},
        {"enter",
         g,
         false,
         {typed("fentry+fexit", "__bio_queue_enter", {{"enter_begin_fentry"}, {"enter_end_fexit"}})},
         {"enter_waits"}},
        {"freeze",
         g,
         false,
         {typed("fentry+fexit", "blk_mq_freeze_queue_wait", {{"freeze_begin_fentry"}, {"freeze_end_fexit"}})},
         {"freezes"}},
    };
}

std::vector<Probe> lifetime_probes()
{
    std::vector<Probe> out = {
        lifetime("prime", "blk_mq_hw_sysfs_nr_tags_show", "prime_fentry", "prime_kprobe"),
        lifetime("gone_hctx", "blk_mq_exit_hctx", "gone_hctx_fentry", "gone_hctx_kprobe"),
        lifetime("gone_queue", "blk_mq_exit_queue", "gone_queue_fentry", "gone_queue_kprobe"),
        lifetime("gone_set", "blk_mq_free_tag_set", "gone_set_fentry", "gone_set_kprobe"),
    };
    // 6.18 put the tag set in front of the tags, 5.15 flags behind them: two arguments, told apart by a newer function
    // would be a guess, so the two-argument form goes to the kprobe, which looks at both.
    out.push_back({"gone_space",
                   GROUP_ALL,
                   false,
                   {typed("fentry", "blk_mq_free_tags", {{"gone_space_1st_fentry"}}, 1),
                    kprobe("blk_mq_free_tags", "gone_space_kprobe"),
                    typed("fentry", "blk_mq_free_tags", {{"gone_space_2nd_fentry"}}, 2)},
                   {"gone_space"}});
    return out;
}

std::vector<Probe> build()
{
    std::vector<Probe> all = tag_probes();
    auto add = [&](std::vector<Probe> more) {
        for (Probe &p : more)
            all.push_back(std::move(p));
    };
    add({tracepoint("rq_insert", "block_rq_insert", "rq_insert_btf", "rq_insert_raw", {"inserts"}),
         tracepoint("rq_issue", "block_rq_issue", "rq_issue_btf", "rq_issue_raw",
                    {"issues", "direct_issues", "batch_requests", "batch_inversions"}),
         tracepoint("rq_complete", "block_rq_complete", "rq_complete_btf", "rq_complete_raw", {"completes"}),
         tracepoint("rq_requeue", "block_rq_requeue", "rq_requeue_btf", "rq_requeue_raw", {"requeues"})});
    add(run_probes());
    add(other_probes());
    add(lifetime_probes());
    return all;
}

bool is_off(const std::set<std::string> &set, const Probe &p, const Rung &r)
{
    return set.contains(p.name) || set.contains(std::string(p.name) + "/" + r.name);
}

bool exists(const Capabilities &c, const Rung &r)
{
    if (r.tracepoint)
        return c.tracepoints.contains(r.hook);
    const auto it = c.functions.find(r.hook);
    return it != c.functions.end() && (r.arguments < 0 || it->second == r.arguments);
}

} // namespace

const std::vector<Probe> &all_probes()
{
    static const std::vector<Probe> probes = build();
    return probes;
}

Wanted wanted_hooks()
{
    Wanted w;
    for (const Probe &p : all_probes())
        for (const Rung &r : p.rungs)
            (r.tracepoint ? w.tracepoints : w.functions).insert(r.hook);
    w.tracepoints.insert("block_rq_tag_wait");
    return w;
}

std::vector<Choice> choose(const Capabilities &c, const Options &options, const std::set<std::string> &refused)
{
    const std::set<std::string> off(options.no_probe.begin(), options.no_probe.end());
    std::vector<Choice> out;
    for (const Probe &p : all_probes()) {
        Choice choice{&p, nullptr, ""};
        if (!(p.groups & options.groups)) {
            choice.why = "not asked for (--only)";
        } else {
            choice.why = "not in this kernel";
            for (const Rung &r : p.rungs) {
                if (is_off(off, p, r)) {
                    choice.why = "turned off (--no-probe)";
                } else if (is_off(refused, p, r)) {
                    choice.why = "the kernel refused to attach it";
                } else if (exists(c, r)) {
                    choice.rung = &r;
                    choice.why.clear();
                    break;
                }
            }
        }
        out.push_back(std::move(choice));
    }
    return out;
}

ProbeRung describe(const Choice &choice)
{
    if (!choice.rung)
        return {choice.probe->name, "", "none", choice.why};
    return {choice.probe->name, choice.rung->hook, choice.rung->name, ""};
}

} // namespace blktag::capture
