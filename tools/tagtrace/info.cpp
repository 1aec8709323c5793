// SPDX-License-Identifier: GPL-2.0-or-later
// tagtrace info: what a recording is, and whether it is whole. Input: a trace. Output: text or JSON
// on stdout.
#include "console.hpp"
#include "offline.hpp"

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "decode/batch.hpp"
#include "store/format.hpp"
#include "store/reader.hpp"

#include <csignal>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace tagtrace {

using namespace blktag;

namespace {

struct Summary {
    std::map<std::string, uint64_t> records; // by kind
    uint64_t first_ts_ns = UINT64_MAX, last_ts_ns = 0;
};

const char *kind_text(bt_kind kind)
{
    switch (kind) {
    case BT_K_IO_LONG:
        return "io";
    case BT_K_TASK:
        return "tasks";
    case BT_K_WAIT:
        return "submit_waits";
    case BT_K_DWAIT:
        return "dispatch_waits";
    case BT_K_RESTART:
        return "restarts";
    case BT_K_RUN:
        return "runs";
    case BT_K_ARM:
        return "arms";
    case BT_K_REFUSE:
        return "refusals";
    case BT_K_REQUEUE:
        return "requeues";
    case BT_K_BATCH:
        return "batches";
    case BT_K_BUDGET:
        return "budgets";
    case BT_K_OTHER:
        return "other_waits";
    case BT_K_IDENT:
        return "idents";
    case BT_K_COUNTERS:
        return "counters";
    case BT_K_GAUGE:
        return "gauges";
    case BT_K_HGAUGE:
        return "hctx_gauges";
    case BT_K_LOSS:
        return "losses";
    default:
        return "others";
    }
}

void count(const Batch &batch, Summary &summary)
{
    decode::for_each_kind(batch, [&](const auto &records, bt_kind kind) {
        if (records.empty())
            return;
        summary.records[kind_text(kind)] += records.size();
        summary.first_ts_ns =
            std::min<uint64_t>(summary.first_ts_ns, decode::time_of(records.front()));
        summary.last_ts_ns =
            std::max<uint64_t>(summary.last_ts_ns, decode::time_of(records.back()));
    });
}

// Until its end, or until the last record where the end is missing.
uint64_t duration_ns(const TraceInfo &info, const Summary &summary)
{
    const uint64_t end_ns = info.end_mono_ns ? info.end_mono_ns : summary.last_ts_ns;
    return end_ns > info.start_mono_ns ? end_ns - info.start_mono_ns : 0;
}

std::string text_of(const Options &options, const store::Reader &reader, const Summary &summary)
{
    const TraceInfo &info = reader.info();
    const Books &books = reader.books();
    const store::ReaderStats &stats = reader.stats();
    std::string out;
    const auto line = [&](std::string_view name, const std::string &value) {
        if (!value.empty())
            out += fmt::format("{:<13} {}\n", name, value);
    };
    const auto safe = [](const std::string &bytes) {
        return base::escape_terminal(bytes);
    };
    std::string command_line, filters;
    for (const std::string &word : info.argv)
        command_line += (command_line.empty() ? "" : " ") + safe(word);
    for (const std::string &filter : info.filters)
        filters += (filters.empty() ? "" : " ") + safe(filter);
    line("file", safe(options.file));
    line("size", fmt::format("{} bytes, {} chunks, format {}.{}", base::format_count(stats.bytes),
                             stats.chunks, store::format_major, stats.format_minor));
    line("recorded by", "blktag " + safe(info.tool_version));
    line("on", safe(info.hostname) + ", " + safe(info.kernel_release) + ", " + safe(info.machine) +
                   fmt::format(", {} CPUs", info.nr_cpus));
    line("command line", command_line);
    line("command", safe(info.command));
    line("filters", filters);
    line("began", info.start_real_ns ? base::format_utc(info.start_real_ns) : "unknown");
    line("lasted", base::format_duration(duration_ns(info, summary)) +
                       (stats.has_end ? "" : " (to the last record: the end is missing)"));
    line("events", fmt::format("{} = {} recorded + {} lost", base::format_count(books.produced),
                               base::format_count(books.recorded), base::format_count(books.lost)));
    if (books.missed)
        line("missed", base::format_count(books.missed) + " probe runs");
    for (const auto &[kind, records] : summary.records)
        line(fmt::format("  {}", kind), base::format_count(records));
    for (const auto &[kind, records] : stats.unknown)
        line(fmt::format("  kind {}", kind),
             base::format_count(records) + " (of a later version, skipped)");
    if (stats.malformed)
        line("malformed", base::format_count(stats.malformed) + " records refused");
    for (const ProbeRung &rung : info.rungs)
        line(&rung == info.rungs.data() ? "probes" : "",
             fmt::format("{:<16} {:<10} {}", safe(rung.probe), safe(rung.rung),
                         safe(rung.hook.empty() ? rung.why : rung.hook)));
    std::string missing;
    for (const std::string &name : info.not_measured)
        missing += (missing.empty() ? "" : ", ") + safe(name);
    line("not measured", missing);
    line("state", reader.damage().empty()
                      ? "whole"
                      : fmt::format("damaged or cut in {} places", reader.damage().size()));
    return out;
}

std::string json_of(const Options &options, const store::Reader &reader, const Summary &summary)
{
    using nlohmann::ordered_json;
    const TraceInfo &info = reader.info();
    const Books &books = reader.books();
    const store::ReaderStats &stats = reader.stats();
    ordered_json rungs = ordered_json::array(), damage = ordered_json::array();
    for (const ProbeRung &rung : info.rungs)
        rungs.push_back(
            {{"probe", rung.probe}, {"hook", rung.hook}, {"rung", rung.rung}, {"why", rung.why}});
    for (const Damage &at : reader.damage())
        damage.push_back({{"offset_bytes", at.offset_bytes},
                          {"length_bytes", at.length_bytes},
                          {"what", at.what}});
    ordered_json unknown = ordered_json::object();
    for (const auto &[kind, records] : stats.unknown)
        unknown[std::to_string(kind)] = records;
    const ordered_json out{
        {"schema", "blktag-info/1"},
        {"file", options.file},
        {"size_bytes", stats.bytes},
        {"chunks", stats.chunks},
        {"format", fmt::format("{}.{}", store::format_major, stats.format_minor)},
        {"tool_version", info.tool_version},
        {"kernel_release", info.kernel_release},
        {"machine", info.machine},
        {"hostname", info.hostname},
        {"nr_cpus", info.nr_cpus},
        {"ring_size_bytes", info.ring_size_bytes},
        {"argv", info.argv},
        {"command", info.command},
        {"filters", info.filters},
        {"start", base::format_iso(info.start_real_ns)},
        {"start_mono_ns", info.start_mono_ns},
        {"duration_ns", duration_ns(info, summary)},
        {"books",
         {{"produced", books.produced},
          {"recorded", books.recorded},
          {"lost", books.lost},
          {"missed", books.missed},
          {"complete", books.complete}}},
        {"records", summary.records},
        {"unknown_kinds", unknown},
        {"malformed", stats.malformed},
        {"rungs", rungs},
        {"not_measured", info.not_measured},
        {"damage", damage}};
    return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

int run_info(const Options &options)
{
    ::signal(SIGPIPE, SIG_IGN);
    auto reader = store::Reader::open(options.file);
    if (!reader) {
        complain({options.file + ": " + reader.error().what, reader.error().remedy});
        return exit_failed;
    }
    Summary summary;
    for (Batch batch;;) {
        const auto more = (*reader)->next(batch);
        if (!more) {
            complain({options.file + ": " + more.error().what, more.error().remedy});
            return exit_failed;
        }
        if (!*more)
            break;
        count(batch, summary);
    }
    Output output;
    output.text =
        options.json ? json_of(options, **reader, summary) : text_of(options, **reader, summary);
    const Output::State state = output.flush();
    if (state == Output::State::closed)
        return exit_ok;
    if (state == Output::State::failed) {
        complain(base::errno_error("cannot write to standard output", output.errnum()));
        return exit_failed;
    }
    tell_damage(options.file, (*reader)->damage());
    return (*reader)->damage().empty() && (*reader)->books().lost == 0 ? exit_ok : exit_impaired;
}

} // namespace tagtrace
