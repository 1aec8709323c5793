// SPDX-License-Identifier: GPL-2.0-or-later
// The text report's order and its head. Input: Snapshot. Output: text.
#include "report/text.hpp"

#include "base/clock.hpp"
#include "base/units.hpp"
#include "report/text_findings.hpp"
#include "report/text_parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace blktag::report {

namespace {

constexpr std::string_view kind_names[] = {"none",    "io",      "io_long", "task",  "wait",
                                           "dwait",   "restart", "run",     "arm",   "refuse",
                                           "requeue", "batch",   "budget",  "other", "ident"};

void head(Page &page, std::string_view label, std::string_view text)
{
    page.item(label, text, 0, label_columns);
}

void print_recording(Page &page, const RecordingInfo &r)
{
    const auto or_unknown = [](const std::string &text) {
        return text.empty() ? std::string("unknown") : text;
    };
    head(page, "kernel",
         fmt::format("{} {}, {} CPU{}, host {}", or_unknown(r.kernel_release), r.machine, r.nr_cpus,
                     r.nr_cpus == 1 ? "" : "s", or_unknown(r.hostname)));
    std::string when = base::format_iso(r.start_real_ns);
    when = when.substr(0, when.find('.')) + "Z"; // the JSON has the nanoseconds
    head(page, "recorded",
         fmt::format("{}, {} by tagtrace {}{}", when, base::format_duration(r.duration_ns),
                     or_unknown(r.tool_version), r.cut ? ", NO END" : ""));
    if (r.from_ns || r.to_ns) {
        const auto seconds = [](uint64_t ns) {
            return base::format_seconds(static_cast<int64_t>(ns));
        };
        head(page, "part",
             fmt::format("from {} s{}", seconds(r.from_ns.value_or(0)),
                         r.to_ns ? fmt::format(" to {} s", seconds(*r.to_ns)) : ""));
    }
    // The recorded command follows in a line of its own.
    const auto end =
        r.command.empty() ? r.argv.end() : std::find(r.argv.begin(), r.argv.end(), "--");
    if (!r.argv.empty())
        head(page, "recorder", join({r.argv.begin(), end}, " "));
    if (!r.command.empty())
        head(page, "command", r.command);
    if (!r.filters.empty())
        head(page, "filters", join(r.filters, " "));
}

void print_books(Page &page, const Snapshot &s)
{
    const Books &b = s.books;
    head(page, "books",
         fmt::format("produced {} = recorded {} + lost {}", b.produced, b.recorded, b.lost));
    if (b.lost != 0) {
        std::vector<std::string> kinds;
        for (size_t i = 0; i < b.lost_by_kind.size(); ++i)
            if (b.lost_by_kind[i] != 0)
                kinds.push_back(fmt::format("{} {}",
                                            i < std::size(kind_names) ? kind_names[i] : "unknown",
                                            b.lost_by_kind[i]));
        head(page, "LOST",
             fmt::format("{} of the records ({}): distributions miss them, counts do not",
                         percent_text(b.lost, b.produced), join(kinds)));
    }
    for (const Damage &d : s.damage)
        head(page, "DAMAGE",
             fmt::format("from byte {}{}: {}", d.offset_bytes,
                         d.length_bytes ? fmt::format(", {} bytes", d.length_bytes)
                                        : std::string(" to the end"),
                         d.what));
    for (const Note &note : s.notes)
        head(page, "NOTE", note.text);
}

void print_rungs(Page &page, const Snapshot &s)
{
    std::map<std::string, size_t> by_rung;
    std::vector<std::string> lesser;
    size_t attached = 0;
    for (const ProbeRung &rung : s.recording.rungs) {
        const bool best = rung.rung == "tp_btf" || rung.rung == "fentry" || rung.rung == "fexit" ||
                          rung.rung == "fentry+fexit" ||
                          (rung.rung == "sampled" && rung.why.empty());
        if (rung.rung != "none") {
            ++by_rung[rung.rung];
            ++attached;
        }
        if (!best)
            lesser.push_back(fmt::format("{} on {}{}{}", rung.probe, rung.rung,
                                         rung.why.empty() ? "" : ": ", rung.why));
    }
    if (attached == 0 && !s.recording.rungs.empty()) {
        head(page, "probes", "none attached");
    } else if (attached != 0) {
        std::vector<std::string> counts;
        for (const auto &[rung, count] : by_rung)
            counts.push_back(fmt::format("{} {}", count, rung));
        head(page, "probes", fmt::format("{} attached: {}", attached, join(counts)));
    }
    for (const std::string &text : lesser)
        head(page, "", text);
}

// The unmeasured names; those of one first word stand as "word_*" where none was measured.
std::vector<std::string> short_names(const Snapshot &s)
{
    const auto first_word = [](std::string_view name) {
        return std::string(name.substr(0, name.find('_')));
    };
    std::map<std::string, std::pair<size_t, size_t>> words; // counters in all, and unmeasured
    std::map<std::string, std::string> word_of;
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i) {
        const std::string_view name = counter_name(static_cast<bt_counter>(i));
        auto &[all, unmeasured] = words[first_word(name)];
        ++all;
        unmeasured += !s.measured(name);
        word_of[std::string(name)] = first_word(name);
    }
    std::vector<std::string> out;
    for (const std::string &name : s.not_measured) {
        const auto word = word_of.find(name);
        std::string shown = name;
        if (word != word_of.end() && name.find('_') != std::string::npos)
            if (const auto &[all, unmeasured] = words[word->second]; all > 1 && all == unmeasured)
                shown = word->second + "_*";
        if (out.empty() || out.back() != shown)
            out.push_back(shown);
    }
    return out;
}

void print_not_measured(Page &page, const Snapshot &s)
{
    if (s.not_measured.empty())
        return;
    size_t counters = 0;
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i)
        counters += !s.measured(counter_name(static_cast<bt_counter>(i)));
    head(page, "NOT MEASURED",
         (counters == BT_NR_COUNTERS ? "(every counter) " : "") + join(short_names(s)));
}

} // namespace

void Silent::print(Page &page, size_t indent) const
{
    if (!zero.empty())
        page.item("zero", join(zero), indent, label_columns);
    if (!not_measured.empty())
        page.item("not measured", join(not_measured), indent, label_columns);
}

void print_head(Page &page, const Snapshot &snapshot)
{
    print_recording(page, snapshot.recording);
    print_books(page, snapshot);
    print_rungs(page, snapshot);
    print_not_measured(page, snapshot);
}

void print_totals(Page &page, const Snapshot &s)
{
    page.gap();
    page.line("TOTALS");
    const Totals &t = s.totals;
    Table table(2, {{"", false}, {""}, {"", false}, {"", false}, {"", false}, {""}, {"", false}});
    const auto share = [](std::optional<uint64_t> part, std::optional<uint64_t> whole) {
        return part && whole && *part != 0 ? percent_text(*part, *whole) + " of gets"
                                           : std::string();
    };
    const auto rate = [](std::optional<double> r, auto text) {
        return r ? text(*r) : std::string();
    };
    table.row({"gets", count_text(t.gets), "", "", "submit_waits", count_text(t.submit_waits),
               share(t.submit_waits, t.gets)});
    table.row({"issued", count_text(t.issued), "", "", "dispatch_waits",
               count_text(t.dispatch_waits), ""});
    table.row({"completed", count_text(t.completed),
               rate(s.requests_per_s, [](double r) { return mean_text(r) + " IOPS"; }), "",
               "restarts", count_text(t.restarts), ""});
    table.row({"batches", count_text(t.batches), rate(s.bytes_per_s, rate_text), "",
               "budget_refused", count_text(t.budget_refused), ""});
    table.row({"runs", count_text(t.runs), "", "", "requeues",
               count_text(s.counters.get(BT_C_requeues)), ""});
    table.print(page);
}

std::string text_report(const Snapshot &snapshot, const TextOptions &options)
{
    Page page;
    page.line("blktag report: who waits for block-layer tags, where, how long and why");
    print_findings(page, diagnose::diagnose(snapshot));
    print_head(page, snapshot);
    print_totals(page, snapshot);
    for (const SetStats &set : snapshot.sets)
        print_set(page, snapshot, set);
    std::vector<std::string> idle_names;
    for (const QueueStats &queue : snapshot.queues) {
        if (idle(queue))
            idle_names.push_back(queue.name);
        else
            print_queue(page, snapshot, queue, options);
    }
    if (!idle_names.empty()) {
        page.gap();
        page.item("idle queues", join(idle_names), 0, label_columns);
    }
    print_tasks(page, snapshot);
    return page.take();
}

} // namespace blktag::report
