// SPDX-License-Identifier: GPL-2.0-or-later
// Attaching to a driver's own functions, found through its mq_ops, so that any driver works. Input: a queue id. Output:
// links, and the rung of each of the driver's operations.
//
// fentry and fexit need the driver's BTF (module BTF for modules) and pin its module; without BTF there are kprobes.
#include "capture/programs.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "blktag.skel.h"
#include "driver.skel.h"

#include <fmt/format.h>

namespace blktag::capture {

namespace {

// "null_queue_rq [null_blk]" -> function and module
std::pair<std::string, std::string> split_symbol(const std::string &symbol)
{
    const size_t bracket = symbol.find(" [");
    if (bracket == std::string::npos)
        return {symbol, ""};
    return {symbol.substr(0, bracket), symbol.substr(bracket + 2, symbol.size() - bracket - 3)};
}

Rung fexit(std::vector<ProgramUse> programs, const char *name = "fexit")
{
    return {name, "", false, -1, std::move(programs)};
}

Rung kretprobe(const char *entry, const char *exit)
{
    return {"kretprobe", "", false, -1, {{entry, Attach::kprobe}, {exit, Attach::kretprobe}}};
}

Rung kprobe(const char *entry)
{
    return {"kprobe", "", false, -1, {{entry, Attach::kprobe}}};
}

} // namespace

const std::vector<DriverFeed> &driver_feeds()
{
    static const std::vector<DriverFeed> feeds = {
        {"queue_rq", GROUP_RUN, {"status_resource", "status_dev_resource", "status_other", "dev_resource_idle"}},
        {"queue_rqs",
         GROUP_BATCH,
         {"batches", "batch_requests", "batch_left", "batch_inversions", "batch_size_1", "batch_size_2", "batch_size_4",
          "batch_size_8", "batch_size_16", "batch_size_32", "batch_size_64", "direct_issues"}},
        {"poll", GROUP_BATCH, {"poll_calls", "poll_hits"}},
        {"get_budget", GROUP_BUDGET, {"budget_taken", "budget_refused"}},
        {"put_budget", GROUP_BUDGET, {"budget_returned"}},
        {"unbusy", GROUP_BUDGET, {"budget_completed"}},
    };
    return feeds;
}

void Programs::SkeletonDestroy::operator()(driver_bpf *s) const
{
    driver_bpf__destroy(s);
}

// An instance of the driver object with only `uses` in it, on the main object's maps.
std::expected<std::unique_ptr<driver_bpf, Programs::SkeletonDestroy>, Error>
Programs::load_driver(const std::vector<ProgramUse> &uses)
{
    std::unique_ptr<driver_bpf, SkeletonDestroy> d(driver_bpf__open());
    if (!d)
        return std::unexpected(Error{"cannot open the driver programs", ""});
    d->rodata->knobs = knobs_;
    bpf_map *map = nullptr;
    bpf_object__for_each_map(map, d->obj)
    {
        const bpf_map *mine = bpf_object__find_map_by_name(main_->obj, bpf_map__name(map));
        if (mine && !bpf_map__is_internal(map))
            bpf_map__reuse_fd(map, bpf_map__fd(mine));
    }
    bpf_map__reuse_fd(d->maps.bss, bpf_map__fd(main_->maps.bss));
    bpf_program *p = nullptr;
    bpf_object__for_each_program(p, d->obj) bpf_program__set_autoload(p, false);
    for (const ProgramUse &use : uses) {
        p = bpf_object__find_program_by_name(d->obj, use.program);
        bpf_program__set_autoload(p, true);
        if (use.attach == Attach::automatic && bpf_program__set_attach_target(p, 0, use.function))
            return std::unexpected(Error{fmt::format("no BTF for {}", use.function), ""});
    }
    if (const int err = driver_bpf__load(d.get()))
        return std::unexpected(Error{fmt::format("cannot load for {}: {}", uses.front().function, strerror(-err)), ""});
    return d;
}

ProbeRung Programs::attach_op(const char *probe, const std::string &driver, const std::vector<Rung> &rungs,
                              const std::string &function, const std::set<std::string> &off)
{
    const std::string name = fmt::format("{}:{}", probe, driver);
    std::string why = "turned off (--no-probe)";
    if (off.contains(probe))
        return {name, function, "none", why};
    for (const Rung &r : rungs) {
        if (off.contains(fmt::format("{}/{}", probe, r.name)))
            continue;
        std::vector<ProgramUse> uses = r.programs;
        for (ProgramUse &use : uses)
            use.function = function.c_str();
        auto skeleton = load_driver(uses);
        if (!skeleton) {
            why = skeleton.error().what;
            continue;
        }
        Driver d{std::move(*skeleton), {}};
        bool all = true;
        for (const ProgramUse &use : uses) {
            auto link = attach(bpf_object__find_program_by_name(d.skeleton->obj, use.program), use);
            if (!link) {
                why = link.error().what;
                all = false;
                break;
            }
            d.links.push_back(std::move(*link));
        }
        if (!all)
            continue;
        drivers_.push_back(std::move(d));
        return {name, function, r.name, ""};
    }
    return {name, function, "none", why};
}

std::vector<ProbeRung> Programs::attach_driver(uint16_t queue_id, const Options &options)
{
    const std::set<std::string> off(options.no_probe.begin(), options.no_probe.end());
    std::vector<ProbeRung> out;
    auto op = [&](bt_driver_op which, uint32_t group, const char *probe, const std::vector<Rung> &rungs) {
        const std::string symbol = op_name(queue_id, which);
        if (symbol.empty() || !(options.groups & group) || !seen_functions_.insert(symbol).second)
            return std::string();
        auto [function, module] = split_symbol(symbol);
        out.push_back(attach_op(probe, module.empty() ? "kernel" : module, rungs, function, off));
        return function;
    };
    const std::string queue_rq = op(BT_OP_QUEUE_RQ, GROUP_RUN, "queue_rq",
                                    {fexit({{"queue_rq_fexit"}}), kretprobe("queue_rq_kprobe", "queue_rq_kretprobe")});
    op(BT_OP_QUEUE_RQS, GROUP_BATCH, "queue_rqs",
       {fexit({{"queue_rqs_fentry"}, {"queue_rqs_fexit"}}, "fentry+fexit"),
        kretprobe("queue_rqs_kprobe", "queue_rqs_kretprobe")});
    op(BT_OP_POLL, GROUP_BATCH, "poll", {fexit({{"poll_fexit"}}), kretprobe("poll_kprobe", "poll_kretprobe")});

    // SCSI gives budgets back in its own functions and lets us look at the LUN; others only through put_budget
    const bool scsi = op_name(queue_id, BT_OP_GET_BUDGET).starts_with("scsi_mq_get_budget");
    const Rung get_kretprobe = kretprobe("get_budget_kprobe", "get_budget_kretprobe");
    const std::string get = op(BT_OP_GET_BUDGET, GROUP_BUDGET, "get_budget",
                               scsi ? std::vector<Rung>{fexit({{"scsi_get_budget_fexit"}}), get_kretprobe}
                                    : std::vector<Rung>{fexit({{"get_budget_fexit"}}), get_kretprobe});
    op(BT_OP_PUT_BUDGET, GROUP_BUDGET, "put_budget",
       {fexit({{scsi ? "scsi_put_budget_fentry" : "put_budget_fentry"}}, "fentry"), kprobe("put_budget_kprobe")});
    if (scsi && !get.empty()) {
        out.push_back(attach_op("unbusy", "scsi_mod",
                                {fexit({{"scsi_unbusy_fentry"}}, "fentry"), kprobe("scsi_unbusy_kprobe")},
                                "scsi_device_unbusy", off));
        if (!queue_rq.empty())
            out.push_back(attach_op("queue_rq_budget", "scsi_mod", {fexit({{"scsi_queue_rq_fexit"}})}, queue_rq, off));
    }
    return out;
}

} // namespace blktag::capture
