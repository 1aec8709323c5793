// SPDX-License-Identifier: GPL-2.0-or-later
// Distributions, waits, sets, queues and hctxs to JSON. Input: parts of a Snapshot. Output: JSON
// values.
#include "report/json_parts.hpp"

namespace blktag::report {

namespace {

using report::json_of; // overloads below would hide those of json_parts.hpp

Json id_or_null(uint16_t id)
{
    return id == BT_NO_ID ? Json() : Json(id);
}

Json json_of_gauge(const std::optional<SpaceGauge> &gauge)
{
    if (!gauge)
        return {};
    const SpaceGauge &g = *gauge;
    Json out;
    out["samples"] = g.samples;
    out["depth"] = g.depth;
    out["held_mean"] = g.held_mean;
    out["held_first"] = g.held_first;
    out["held_last"] = g.held_last;
    out["held_peak"] = g.held_peak;
    out["full_share"] = g.full_share;
    out["in_flight_mean"] = g.in_flight_mean;
    out["in_flight_peak"] = g.in_flight_peak;
    out["waiters_peak"] = g.waiters_peak;
    out["users_peak"] = g.users_peak;
    out["wake_batch"] = g.wake_batch;
    out["wakes_due_last"] = json_of(g.wakes_due_last);
    out["oldest_held_ns"] = g.oldest_held_ns;
    out["oldest_held_last_ns"] = g.oldest_held_last_ns;
    return out;
}

Json json_of_gauge(const std::optional<HctxGauge> &gauge)
{
    if (!gauge)
        return {};
    Json out;
    out["samples"] = gauge->samples;
    out["active_mean"] = gauge->active_mean;
    out["active_peak"] = gauge->active_peak;
    out["dispatch_busy_peak"] = gauge->dispatch_busy_peak;
    Json share;
    Json last;
    for (size_t bit = 0; bit < gauge->flag_share.size(); ++bit) {
        share[std::string(hctx_flag_name(bit))] = gauge->flag_share[bit];
        if ((gauge->flags_last >> bit) & 1U)
            last.push_back(hctx_flag_name(bit));
    }
    out["flag_share"] = share;
    out["flags_last"] = last.is_null() ? Json::array() : last;
    return out;
}

Json json_of(const HctxStats &h)
{
    Json out;
    out["hctx_num"] = id_or_null(h.hctx_num);
    out["hctx_id"] = id_or_null(h.hctx_id);
    out["label"] = h.label;
    out["type"] = h.type;
    out["cpus"] = h.cpus;
    out["depth"] = json_of(h.depth);
    out["reserved_depth"] = json_of(h.reserved_depth);
    out["sched_depth"] = json_of(h.sched_depth);
    out["space_id"] = id_or_null(h.space_id);
    out["sched_space_id"] = id_or_null(h.sched_space_id);
    out["queue_shared"] = h.queue_shared;
    out["gone"] = h.gone;
    out["totals"] = json_of(h.totals);
    out["waits_by_cause"] = counts_by_cause(h.waits);
    out["submit_waits"] = json_of(h.waits, Detail::summary);
    out["dispatch_waits"] = json_of(h.dispatch_waits, Detail::summary);
    out["latency"] = json_of(h.latency, Detail::summary);
    out["operations"] = json_of(h.ops, Detail::summary);
    out["runs"] = json_of(h.runs, Detail::summary);
    out["gauge"] = json_of_gauge(h.gauge);
    Json counters = Json::object();
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i)
        if (counter_scope(static_cast<bt_counter>(i)) == 'H')
            counters[std::string(counter_name(static_cast<bt_counter>(i)))] =
                json_of(h.counters.value[i]);
    out["counters"] = counters;
    return out;
}

} // namespace

Json json_of(const Totals &t)
{
    Json out;
    out["gets"] = json_of(t.gets);
    out["issued"] = json_of(t.issued);
    out["completed"] = json_of(t.completed);
    out["submit_waits"] = json_of(t.submit_waits);
    out["dispatch_waits"] = json_of(t.dispatch_waits);
    out["restarts"] = json_of(t.restarts);
    out["runs"] = json_of(t.runs);
    out["budget_refused"] = json_of(t.budget_refused);
    out["batches"] = json_of(t.batches);
    return out;
}

Json json_of(const Counters &counters)
{
    Json out;
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i)
        out[std::string(counter_name(static_cast<bt_counter>(i)))] = json_of(counters.value[i]);
    return out;
}

Json json_of(const Distribution &d, Detail detail)
{
    Json out;
    out["count"] = d.count;
    if (d.count == 0)
        return out;
    out["sum_ns"] = d.sum_ns;
    out["mean_ns"] = json_of(d.mean_ns());
    out["min_ns"] = d.min_ns;
    out["p50_ns"] = json_of(d.quantile_ns(0.5));
    out["p90_ns"] = json_of(d.quantile_ns(0.9));
    out["p99_ns"] = json_of(d.quantile_ns(0.99));
    out["p99_9_ns"] = json_of(d.quantile_ns(0.999));
    out["max_ns"] = d.max_ns;
    if (detail == Detail::summary)
        return out;
    Json bins = Json::array();
    for (const Bin &bin : d.bins)
        bins.push_back(Json::array({bin.low_ns, bin.high_ns, bin.count}));
    out["bins_low_ns_high_ns_count"] = bins;
    return out;
}

Json json_of(const WaitMoment &m)
{
    Json out;
    out["depth"] = m.depth;
    out["held"] = m.held;
    out["active"] = m.active;
    out["limit"] = m.limit;
    out["users"] = m.users;
    return out;
}

Json counts_by_cause(const Waits &waits)
{
    Json out;
    for (size_t i = 0; i < waits.by_cause.size(); ++i)
        out[std::string(cause_name(static_cast<bt_cause>(i)))] = json_of(waits.by_cause[i].count);
    return out;
}

Json json_of(const Waits &waits, Detail detail)
{
    Json out;
    out["count"] = json_of(waits.count);
    out["total_ns"] = json_of(waits.total_ns);
    out["open"] = waits.open;
    out["open_longest_ns"] = waits.open_longest_ns;
    out["time"] = json_of(waits.time, detail);
    Json causes = Json::object();
    for (size_t i = 0; i < waits.by_cause.size(); ++i) {
        const CauseWaits &cause = waits.by_cause[i];
        if (cause.count.value_or(0) == 0 && cause.time.count == 0)
            continue;
        Json one;
        one["count"] = json_of(cause.count);
        one["time"] = json_of(cause.time, detail);
        one["at_longest"] = cause.at_longest ? json_of(*cause.at_longest) : Json();
        causes[std::string(cause_name(static_cast<bt_cause>(i)))] = one;
    }
    out["by_cause"] = causes;
    return out;
}

Json json_of(const std::optional<Latency> &latency, Detail detail)
{
    if (!latency)
        return {};
    Json out;
    for (size_t i = 0; i < nr_phases; ++i)
        out[std::string(phase_name(static_cast<Phase>(i)))] = json_of(latency->phase[i], detail);
    out["whole"] = json_of(latency->whole, detail);
    return out;
}

Json json_of(const std::vector<OpStats> &ops, Detail detail)
{
    Json out = Json::array();
    for (const OpStats &op : ops) {
        Json one;
        one["op"] = op_name(op.op);
        one["requests"] = op.requests;
        one["bytes"] = op.bytes;
        one["sequential"] = op.sequential ? Json(*op.sequential) : Json();
        one["device"] = json_of(op.device, detail);
        one["whole"] = json_of(op.whole, detail);
        out.push_back(one);
    }
    return out;
}

Json json_of(const RunStats &runs, Detail detail)
{
    Json out;
    out["duration"] = json_of(runs.duration, detail);
    out["restart_delay"] = json_of(runs.restart_delay, detail);
    out["asked_delay"] = json_of(runs.asked_delay, detail);
    out["issued_by_runs"] = runs.issued_by_runs;
    return out;
}

Json json_of(const std::array<OtherWaits, 3> &other, Detail detail)
{
    Json out;
    for (size_t i = 0; i < other.size(); ++i) {
        Json one;
        one["count"] = json_of(other[i].count);
        one["total_ns"] = json_of(other[i].total_ns);
        one["time"] = json_of(other[i].time, detail);
        out[std::string(other_name(static_cast<bt_other>(i)))] = one;
    }
    return out;
}

Json json_of(const SetStats &set)
{
    Json out;
    out["set_id"] = id_or_null(set.set_id);
    out["queues"] = set.queues;
    out["hctx_shared"] = set.hctx_shared;
    Json spaces = Json::array();
    for (const SpaceStats &space : set.spaces) {
        Json one;
        one["space_id"] = space.space_id;
        one["kind"] = space.sched ? "sched" : "driver";
        one["hctx_shared"] = space.hctx_shared;
        one["depth"] = json_of(space.depth);
        one["reserved_depth"] = json_of(space.reserved_depth);
        one["hctxs"] = space.hctxs;
        one["gauge"] = json_of_gauge(space.gauge);
        spaces.push_back(one);
    }
    out["spaces"] = spaces;
    return out;
}

Json json_of(const QueueStats &q)
{
    Json out;
    out["name"] = q.name;
    out["queue_id"] = id_or_null(q.queue_id);
    out["dev"] = q.dev;
    out["driver"] = q.driver;
    out["scheduler"] = q.scheduler;
    out["generation"] = q.generation;
    out["gone"] = q.gone;
    out["nr_requests"] = json_of(q.nr_requests);
    out["async_depth"] = json_of(q.async_depth);
    out["nr_hw_queues"] = json_of(q.nr_hw_queues);
    out["lun_depth"] = json_of(q.lun_depth);
    out["set_id"] = id_or_null(q.set_id);
    out["nr_sharing"] = q.nr_sharing;
    out["shares_with"] = q.shares_with;
    out["slaves"] = q.slaves;
    out["holders"] = q.holders;
    out["offers_queue_rqs"] = q.offers_queue_rqs;
    out["offers_poll"] = q.offers_poll;
    out["has_budget"] = q.has_budget;
    out["totals"] = json_of(q.totals);
    out["requests_per_s"] = json_of(q.requests_per_s);
    out["bytes_per_s"] = json_of(q.bytes_per_s);
    out["waits_by_cause"] = counts_by_cause(q.waits);
    out["submit_waits"] = json_of(q.waits, Detail::bins);
    out["dispatch_waits"] = json_of(q.dispatch_waits, Detail::bins);
    out["latency"] = json_of(q.latency, Detail::bins);
    out["operations"] = json_of(q.ops, Detail::bins);
    out["runs"] = json_of(q.runs, Detail::bins);
    out["batches_unused_why"] = q.batches_unused_why;
    Json budget;
    budget["refused_recorded"] = q.budget.refused_recorded;
    budget["returned_recorded"] = q.budget.returned_recorded;
    budget["blocked"] = q.budget.blocked;
    budget["in_use_peak"] = q.budget.in_use_peak;
    budget["limit"] = q.budget.limit;
    out["budget_recorded"] = budget;
    out["not_tags"] = json_of(q.other, Detail::bins);
    out["counters"] = json_of(q.counters);
    Json hctxs = Json::array();
    for (const HctxStats &hctx : q.hctxs)
        hctxs.push_back(json_of(hctx));
    out["hctxs"] = hctxs;
    return out;
}

} // namespace blktag::report
