// SPDX-License-Identifier: GPL-2.0-or-later
// Puts a Snapshot together. Input: Aggregate, TraceInfo, Books, Damage. Output: Snapshot.
#include "agg/make_snapshot.hpp"

#include "agg/build.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace blktag::agg {

namespace {

std::vector<std::string> escaped(const std::vector<std::string> &texts)
{
    std::vector<std::string> out;
    for (const std::string &text : texts)
        out.push_back(base::escape_terminal(text));
    return out;
}

RecordingInfo recording_info(const Aggregate &aggregate, const TraceInfo &info)
{
    RecordingInfo out;
    out.tool_version = base::escape_terminal(info.tool_version);
    out.kernel_release = base::escape_terminal(info.kernel_release);
    out.machine = base::escape_terminal(info.machine);
    out.hostname = base::escape_terminal(info.hostname);
    out.command = base::escape_terminal(info.command);
    out.argv = escaped(info.argv);
    out.filters = escaped(info.filters);
    for (const ProbeRung &rung : info.rungs)
        out.rungs.push_back({base::escape_terminal(rung.probe), base::escape_terminal(rung.hook),
                             base::escape_terminal(rung.rung), base::escape_terminal(rung.why)});
    out.nr_cpus = info.nr_cpus;
    out.ring_size_bytes = info.ring_size_bytes;
    out.start_mono_ns = info.start_mono_ns;
    out.start_real_ns = info.start_real_ns;
    out.cut = info.end_mono_ns == 0;
    const Window &window = aggregate.window();
    const uint64_t end = out.cut ? aggregate.last_ns() : info.end_mono_ns;
    const uint64_t from = std::max(window.from_ns, info.start_mono_ns);
    const uint64_t to = std::min(window.to_ns, end);
    out.duration_ns = to > from ? to - from : 0;
    const uint64_t counted = std::min(aggregate.last_counters_ns(), to);
    out.counters_ns = counted > from ? counted - from : 0;
    if (window.from_ns != 0)
        out.from_ns = from - info.start_mono_ns;
    if (window.to_ns != UINT64_MAX)
        out.to_ns = window.to_ns > info.start_mono_ns ? window.to_ns - info.start_mono_ns : 0;
    return out;
}

void build_timeline(Snapshot &out, const Aggregate &aggregate)
{
    out.timeline = aggregate.timeline().timeline();
    out.timeline.start_ns =
        since_start(aggregate.timeline().origin_ns(), out.recording.start_mono_ns).value_or(0);
    for (HctxTimeline &hctx : out.timeline.hctxs)
        hctx.label = hctx.hctx_id == BT_NO_ID
                         ? "others"
                         : base::escape_terminal(aggregate.topology().hctx_label(hctx.hctx_id));
    const auto by_id = [](const auto &member) {
        return [member](const auto &a, const auto &b) {
            return a.*member < b.*member;
        };
    };
    std::sort(out.timeline.hctxs.begin(), out.timeline.hctxs.end(), by_id(&HctxTimeline::hctx_id));
    std::sort(out.timeline.spaces.begin(), out.timeline.spaces.end(),
              by_id(&SpaceTimeline::space_id));
}

} // namespace

std::set<std::string> unmeasured_names(const Aggregate &aggregate, const Recording &recording)
{
    std::set<std::string> out;
    for (const std::string &name : recording.info.not_measured)
        out.insert(base::escape_terminal(name));
    // Both scopes are written with the same list of counters. A whole recording in which nothing
    // was ever seen has no snapshot at all: then its counters were 0, not unknown.
    const bool nothing_happened = recording.books.complete && recording.books.produced == 0 &&
                                  aggregate.counts().all == 0 && aggregate.counts().counters == 0;
    const auto known = [](const std::vector<CounterTrack> &tracks, unsigned counter) {
        return std::any_of(tracks.begin(), tracks.end(), [counter](const CounterTrack &t) {
            return t.value(counter).has_value();
        });
    };
    for (unsigned i = 0; i < BT_NR_COUNTERS && !nothing_happened; ++i)
        if (aggregate.counts().counters_inside == 0 ||
            (!known(aggregate.hctx_counters(), i) && !known(aggregate.queue_counters(), i)))
            out.insert(std::string(counter_name(static_cast<bt_counter>(i))));
    if (aggregate.counts().gauges == 0 && !nothing_happened)
        out.insert("gauge");
    return out;
}

Snapshot make_snapshot(const Aggregate &aggregate, const Recording &recording,
                       const SnapshotOptions &options)
{
    Snapshot out;
    out.recording = recording_info(aggregate, recording.info);
    out.books = recording.books;
    out.damage = recording.damage;
    for (Damage &damage : out.damage)
        damage.what = base::escape_terminal(damage.what);
    out.records = aggregate.counts().all;
    out.anomalies = aggregate.anomalies();
    out.anomalies.malformed = recording.malformed;
    out.anomalies.unknown = recording.unknown;
    const std::set<std::string> unmeasured = unmeasured_names(aggregate, recording);
    out.not_measured.assign(unmeasured.begin(), unmeasured.end());
    build_queues(out, aggregate, unmeasured);
    build_sets(out, aggregate);
    build_tasks(out, aggregate, options.top_tasks);
    build_under_way(out, aggregate);
    build_notes(out, aggregate);
    build_timeline(out, aggregate);
    return out;
}

} // namespace blktag::agg
