// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot to JSON: the whole and the recording. Input: Snapshot. Output: JSON text.
#include "report/json.hpp"

#include "base/clock.hpp"
#include "report/json_findings.hpp"
#include "report/json_parts.hpp"
#include "report/json_text.hpp"

namespace blktag::report {

namespace {

using report::json_of; // overloads below would hide those of json_parts.hpp

constexpr std::string_view kind_names[] = {"none",    "io",      "io_long", "task",  "wait",
                                           "dwait",   "restart", "run",     "arm",   "refuse",
                                           "requeue", "batch",   "budget",  "other", "ident"};

Json json_of(const RecordingInfo &r)
{
    Json out;
    out["tool_version"] = r.tool_version;
    out["kernel_release"] = r.kernel_release;
    out["machine"] = r.machine;
    out["hostname"] = r.hostname;
    out["nr_cpus"] = r.nr_cpus;
    out["ring_size_bytes"] = r.ring_size_bytes;
    out["recorder_argv"] = r.argv;
    out["command"] = r.command;
    out["filters"] = r.filters;
    out["start_utc"] = base::format_iso(r.start_real_ns);
    out["start_real_ns"] = r.start_real_ns;
    out["start_mono_ns"] = r.start_mono_ns;
    out["duration_ns"] = r.duration_ns;
    out["cut"] = r.cut;
    out["from_ns"] = json_of(r.from_ns);
    out["to_ns"] = json_of(r.to_ns);
    return out;
}

Json json_of(const Books &b)
{
    Json out;
    out["produced"] = b.produced;
    out["recorded"] = b.recorded;
    out["lost"] = b.lost;
    out["missed"] = b.missed;
    out["complete"] = b.complete;
    Json kinds = Json::object();
    for (size_t i = 0; i < b.lost_by_kind.size() && i < std::size(kind_names); ++i)
        if (b.lost_by_kind[i] != 0)
            kinds[std::string(kind_names[i])] = b.lost_by_kind[i];
    out["lost_by_kind"] = kinds;
    return out;
}

Json json_of(const Anomalies &a)
{
    Json out;
    out["time_backwards"] = a.time_backwards;
    out["absurd"] = a.absurd;
    out["counter_backwards"] = a.counter_backwards;
    out["malformed"] = a.malformed;
    out["unknown"] = a.unknown;
    out["orphans"] = a.orphans;
    out["unused"] = a.unused;
    out["undetailed"] = a.undetailed;
    out["unparsed_topology"] = a.unparsed_topology;
    out["tasks_summed"] = a.tasks_summed;
    return out;
}

Json json_of(const TaskStats &t)
{
    Json out;
    out["tid"] = t.tid;
    out["tgid"] = t.tgid;
    out["comm"] = t.comm;
    out["cgroup_id"] = t.cgroup_id;
    out["task_start_ns"] = t.task_start_ns;
    out["requests"] = t.requests;
    out["bytes"] = t.bytes;
    out["held_ns"] = t.held_ns;
    out["held_longest_ns"] = t.held_longest_ns;
    out["submit_waits"] = t.waits;
    out["submit_wait_ns"] = t.wait_ns;
    out["submit_wait_longest_ns"] = t.wait_longest_ns;
    out["runnable_ns"] = t.runnable_ns;
    Json causes;
    for (size_t i = 0; i < t.waits_by_cause.size(); ++i)
        causes[std::string(cause_name(static_cast<bt_cause>(i)))] = t.waits_by_cause[i];
    out["submit_waits_by_cause"] = causes;
    out["other_waits"] = t.other_waits;
    out["other_wait_ns"] = t.other_wait_ns;
    return out;
}

Json json_of(const OpenWait &w)
{
    Json out;
    out["kind"] = w.dispatch ? "dispatch_wait" : "submit_wait";
    out["tid"] = w.dispatch ? Json() : Json(w.tid);
    out["comm"] = w.comm;
    out["hctx"] = w.hctx;
    out["cause"] = cause_name(w.cause);
    out["age_ns"] = w.age_ns;
    out["began"] = json_of(w.began);
    return out;
}

Json json_of(const TaskName &task)
{
    Json out;
    out["tid"] = task.tid ? Json(task.tid) : Json();
    out["tgid"] = task.tgid ? Json(task.tgid) : Json();
    out["comm"] = task.comm;
    out["cgroup_id"] = task.cgroup_id;
    return out;
}

Json json_of(const WaitNow &w)
{
    Json out;
    out["kind"] = w.dispatch ? "dispatch_wait" : "submit_wait";
    out["task"] = json_of(w.task);
    out["queue_id"] = w.queue_id;
    out["hctx_id"] = w.hctx_id;
    out["space_id"] = w.space_id;
    out["cause"] = cause_name(w.cause);
    out["age_ns"] = w.age_ns;
    out["began"] = json_of(w.began);
    return out;
}

Json json_of(const HeldNow &h)
{
    Json out;
    out["space_id"] = h.space_id;
    out["tag"] = h.tag;
    out["queue_id"] = h.queue_id;
    out["hctx_id"] = h.hctx_id;
    out["task"] = json_of(h.task);
    out["driver_tag_of_scheduled"] = h.driver;
    out["age_ns"] = h.age_ns;
    out["issued_for_ns"] = h.issued_for_ns ? Json(*h.issued_for_ns) : Json();
    out["completed"] = h.completed;
    return out;
}

template<typename List>
Json list_of(const List &list)
{
    Json out = Json::array();
    for (const auto &item : list)
        out.push_back(json_of(item));
    return out;
}

void add_trust(Json &out, const Snapshot &s)
{
    out["books"] = json_of(s.books);
    Json damage = Json::array();
    for (const Damage &d : s.damage)
        damage.push_back(
            {{"offset_bytes", d.offset_bytes}, {"length_bytes", d.length_bytes}, {"what", d.what}});
    out["damage"] = damage;
    Json notes = Json::array();
    for (const Note &n : s.notes)
        notes.push_back({{"id", n.id}, {"text", n.text}});
    out["notes"] = notes;
    out["not_measured"] = s.not_measured;
    Json rungs = Json::array();
    for (const ProbeRung &r : s.recording.rungs)
        rungs.push_back({{"probe", r.probe}, {"hook", r.hook}, {"rung", r.rung}, {"why", r.why}});
    out["rungs"] = rungs;
    out["anomalies"] = json_of(s.anomalies);
}

} // namespace

Json document(const Snapshot &s)
{
    Json out;
    out["schema"] = json_schema_version;
    out["recording"] = json_of(s.recording);
    out["findings"] = json_of(diagnose::diagnose(s));
    add_trust(out, s);
    out["totals"] = json_of(s.totals);
    out["requests_per_s"] = json_of(s.requests_per_s);
    out["bytes_per_s"] = json_of(s.bytes_per_s);
    out["waits_by_cause"] = counts_by_cause(s.waits);
    out["submit_waits"] = json_of(s.waits, Detail::bins);
    out["dispatch_waits"] = json_of(s.dispatch_waits, Detail::bins);
    out["latency"] = json_of(s.latency, Detail::bins);
    out["operations"] = json_of(s.ops, Detail::bins);
    out["runs"] = json_of(s.runs, Detail::bins);
    out["not_tags"] = json_of(s.other, Detail::bins);
    out["counters"] = json_of(s.counters);
    out["sets"] = list_of(s.sets);
    out["queues"] = list_of(s.queues);
    out["open_waits"] = list_of(s.open_waits);
    out["top_waiters"] = list_of(s.top_waiters);
    out["top_holders"] = list_of(s.top_holders);
    return out;
}

namespace {

Json json_of(const UnderWay &now)
{
    Json out;
    out["ts_ns"] = now.ts_ns;
    out["waits"] = list_of(now.waits);
    out["held"] = list_of(now.held);
    out["held_left_out"] = now.held_left_out;
    return out;
}

} // namespace

std::string json_line(const Snapshot &snapshot)
{
    Json out;
    out["schema"] = json_line_version;
    out["duration_ns"] = snapshot.recording.duration_ns;
    out["under_way"] = snapshot.under_way ? json_of(*snapshot.under_way) : Json();
    out["snapshot"] = document(snapshot);
    return out.dump() + "\n";
}

std::string json_report(const Snapshot &snapshot)
{
    std::string out;
    append_json(out, document(snapshot));
    out += '\n';
    return out;
}

std::string json_reports(const std::vector<Snapshot> &snapshots)
{
    Json list = Json::array();
    for (const Snapshot &snapshot : snapshots)
        list.push_back(document(snapshot));
    std::string out;
    append_json(out, list);
    out += '\n';
    return out;
}

} // namespace blktag::report
