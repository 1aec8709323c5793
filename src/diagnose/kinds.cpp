// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of what can be found, of what cannot be told, and of thresholds. Input: none. Output:
// tables.
#include "diagnose/diagnose.hpp"

namespace blktag::diagnose {

std::string_view severity_name(Severity severity)
{
    switch (severity) {
    case Severity::info:
        return "info";
    case Severity::warning:
        return "warning";
    case Severity::critical:
        return "critical";
    }
    return "unknown";
}

std::optional<Severity> severity_from(std::string_view name)
{
    for (const Severity s : {Severity::info, Severity::warning, Severity::critical})
        if (severity_name(s) == name)
            return s;
    return std::nullopt;
}

const std::vector<ThresholdInfo> &threshold_table()
{
    static const std::vector<ThresholdInfo> table{
#define BT_THRESHOLD(name, value, unit, help) {#name, value, #unit, help},
#include "diagnose/thresholds.def"
#undef BT_THRESHOLD
    };
    return table;
}

const std::vector<Kind> &kinds()
{
    using enum Severity;
    static const std::vector<Kind> table{
        {"stuck_request", critical, "a request stays at the device", false,
         "the tag's state in /sys/kernel/debug/block/<disk>/hctx*/busy: it stays the same request",
         ""},
        {"wake_batch_above_depth", critical, "wake batch larger than the depth: nobody is woken",
         false, "wake_batch in /sys/kernel/debug/block/<disk>/hctx*/tags is above the depth",
         "10825410b956 (5.17)"},
        {"stuck_waiters", critical, "tasks wait although tags are free", false,
         "ws_active above 0 in hctx*/tags while the bitmap has free bits; a new request wakes them",
         ""},
        {"leaked_tag", critical, "a tag is held by no request", false,
         "hctx*/busy lists fewer requests than hctx*/tags has bits set", ""},
        {"leaked_active", critical, "the active counter counts requests that are gone", false,
         "hctx*/active stays above 0 on an idle disk", ""},
        {"leaked_budget", critical, "dispatch budgets were taken and never given back", false,
         "the disk's device_busy stays above 0 with nothing in flight", ""},
        {"dev_resource_idle", warning, "the driver promised a re-run with nothing in flight", false,
         "BLK_STS_DEV_RESOURCE returned while the queue's requests in flight are 0",
         "673235f91531 (5.10) for SCSI"},
        {"budget_lost_run", critical, "a budget was returned unused and the queue not run again",
         false, "echo run > /sys/kernel/debug/block/<disk>/state makes it move",
         "a0823421a4d7, ab3cee3762e5 (5.7)"},
        {"run_pushed_out", critical, "a delayed run is moved into the future again and again",
         false, "echo run > /sys/kernel/debug/block/<disk>/state makes it move",
         "8f5fea65b06d"},
        {"restart_scope", critical, "RESTART fired on other hctxs than the one that waits", false,
         "echo run > /sys/kernel/debug/block/<disk>/state makes it move", ""},
        {"lost_dispatch_wake", critical, "a parked hctx was not woken by a freed tag", false,
         "echo run > /sys/kernel/debug/block/<disk>/state makes it move", ""},
        {"lost_restart", critical, "RESTART is set and nothing will fire it", false,
         "echo run > /sys/kernel/debug/block/<disk>/state makes it move", ""},
        {"hctx_stopped", critical, "a stopped hctx has requests", false,
         "echo start > /sys/kernel/debug/block/<disk>/state makes it move", ""},
        {"stalled_hctx", critical, "an hctx has requests and is not run", false,
         "echo run > /sys/kernel/debug/block/<disk>/state makes it move", ""},
        {"requeue_not_kicked", critical, "requests lie on the requeue list", false,
         "echo kick > /sys/kernel/debug/block/<disk>/state makes it move",
         "8b566edbdbfb brought it"},
        {"requeue_storm", warning, "requests are requeued over and over", false,
         "block_rq_requeue events of one sector without a completion", ""},
        {"hctx_unmapped", warning, "hardware queues without a CPU", false,
         "empty cpu_list in /sys/block/<disk>/mq/*", ""},
        {"thundering_herd", warning, "far more submitters than tags", true,
         "the same load with fewer threads has the same throughput", ""},
        {"submitter_blocked", warning,
         "a task that serves several queues sleeps for one queue's tags", true,
         "its requests to the other queues speed up when it does not use this one", ""},
        {"hctx_imbalance", warning, "one hctx is out of tags while others are not", true,
         "the same load with its tasks pinned evenly over the hctxs' CPUs", ""},
        {"fair_share", warning, "fair share denies tags while tags are free", true,
         "the same load alone on the tag set", ""},
        {"budget_binds", warning, "the LUN's queue depth binds", true,
         "fewer refusals with a larger queue_depth", ""},
        {"sched_depth_limit", warning, "the scheduler's depth limit holds requests back", true,
         "the same load with scheduler none, or with a larger async_depth", ""},
        {"nr_requests_binds", warning, "scheduler tags run out before driver tags do", true,
         "the same load with a larger nr_requests", ""},
        {"saturated_device", info, "not tags: more depth would only wait in the device", true,
         "device time falls with the depth and throughput stays", ""},
        {"too_deep", info, "more in flight than the device can use", true,
         "the same throughput with a smaller nr_requests", ""},
        {"depth_too_small", warning, "the tags suffice for less than what is asked", true,
         "the same load with a larger depth", ""},
        {"waits_moved", info, "waits end on another hctx than they began on", true,
         "the same load with its tasks pinned", "e6fc46498784 (4.19) for those left behind"},
        {"empty_runs", warning, "queue runs that find nothing", true,
         "runs and runs_empty fall with fewer hctxs or scheduler none", ""},
        {"batches_unused", info, "queue_rqs is not used", true,
         "the same load with one queue on the tag set", "6.7 uses it on shared sets"},
        {"batch_left", info, "the driver takes only part of each batch", true,
         "batch_left falls with smaller plugs", ""},
        {"batch_reversed", info, "batches reach the driver in reverse order", true,
         "sectors inside a batch descend for an ascending load", "beadf0088501 (6.13)"},
        {"batches_of_one", info, "queue_rqs carries single requests", true,
         "batch sizes grow with a deeper submission batch", ""},
        {"plug_cache_unused", info, "tags got in advance for a plug are given back unused", true,
         "puts_unused falls when submissions are as large as announced", ""},
        {"polled_no_queue", warning, "polling without a poll queue", true,
         "io_poll and the type files in /sys/block/<disk>/mq", ""},
        {"poll_queue_unused", info, "poll queues that nothing uses", true,
         "no request flagged polled", ""},
        {"poll_no_poller", warning, "polled requests and nobody polls", true, "poll_calls stays 0",
         ""},
        {"throttled", info, "not tags: write-back throttling", true,
         "tasks asleep in rq_qos_wait; wbt_lat_usec 0 ends it", ""},
        {"frozen", info, "not tags: a frozen queue", true,
         "tasks asleep in blk_queue_enter while an attribute is written", ""},
        {"device_outlier", info, "not tags: the device itself was slow once", true,
         "device time in this report; the device's own log", ""},
        {"overtaken", info, "a request waited far longer than the others", true,
         "the same load with another scheduler", ""},
        {"slow_flush", info, "flushes take most of the device's time", true,
         "the same load without fsync", ""},
    };
    return table;
}

const std::vector<NotTold> &not_told()
{
    static const std::vector<NotTold> table{
        {"layer above (md, dm)",
         "devices without requests of their own are not recorded: a wait there "
         "leaves no record; the holders of a disk are named in the report"},
        {"length of a dispatch, requeue or scheduler list", "lists are sampled as empty or not"},
        {"merge loss", "one recording has nothing to hold its sizes against: use --compare"},
        {"cached clock", "the kernel's cached stamps are never used; their error is not recorded"},
        {"missing commit_rqs",
         "commit calls are not recorded: started requests that do not complete "
         "show as stuck_request"},
        {"which tag leaked", "samples count tags, they do not name them"},
        {"throttle count leaked", "throttle waits are recorded when they end"},
        {"isolated CPUs", "the map of CPUs is recorded, their isolation is not"},
    };
    return table;
}

} // namespace blktag::diagnose
