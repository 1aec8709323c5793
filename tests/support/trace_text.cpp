// SPDX-License-Identifier: GPL-2.0-or-later
// Parses hand-written recordings. Input and output: see trace_text.hpp.
#include "support/trace_text.hpp"

#include "agg/make_snapshot.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

namespace blktag::test {

namespace {

[[noreturn]] void fail(const std::string &what)
{
    throw std::runtime_error(what);
}

std::string unquote(std::string_view text)
{
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"')
            continue;
        if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
            unsigned byte = 0;
            std::from_chars(text.data() + i + 2, text.data() + i + 4, byte, 16);
            out += static_cast<char>(byte);
            i += 3;
            continue;
        }
        out += text[i];
    }
    return out;
}

// Splits at spaces outside quotes.
std::vector<std::string> words_of(std::string_view line)
{
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    for (const char c : line) {
        quoted ^= c == '"';
        if (c != ' ' || quoted) {
            word += c;
            continue;
        }
        if (!word.empty())
            words.push_back(word);
        word.clear();
    }
    if (!word.empty())
        words.push_back(word);
    return words;
}

uint64_t number(const std::string &text)
{
    static const std::map<std::string, uint64_t> units{
        {"", 1}, {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
    uint64_t whole = 0;
    const char *end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, whole);
    uint64_t fraction = 0;
    uint64_t scale = 1;
    if (error != std::errc())
        fail("not a number: " + text);
    if (at != end && *at == '.')
        for (++at; at != end && *at >= '0' && *at <= '9'; ++at, scale *= 10)
            fraction = fraction * 10 + static_cast<uint64_t>(*at - '0');
    const auto unit = units.find(std::string(at, end));
    if (unit == units.end())
        fail("not a number: " + text);
    return whole * unit->second + fraction * unit->second / scale;
}

// The keys of one line; every one must be used.
class Fields {
  public:
    Fields(const std::vector<std::string> &words, uint64_t moved_ns) : moved_ns_(moved_ns)
    {
        for (size_t i = 1; i < words.size(); ++i) {
            const size_t equals = words[i].find('=');
            if (equals == std::string::npos)
                fail("key=value expected: " + words[i]);
            values_[words[i].substr(0, equals)] =
                unquote(std::string_view(words[i]).substr(equals + 1));
        }
    }
    template<typename T>
    void get(const char *key, T &into)
    {
        if (const std::string *text = find(key))
            into = static_cast<T>(number(*text));
    }
    void time(const char *key, uint64_t &into)
    {
        if (const std::string *text = find(key))
            into = number(*text) + moved_ns_;
    }
    void text(const char *key, std::string &into)
    {
        if (const std::string *text = find(key))
            into = *text;
    }
    template<typename T>
    void word(const char *key, T &into, const std::vector<std::string> &words)
    {
        const std::string *text = find(key);
        for (size_t i = 0; text && i < words.size(); ++i)
            if (words[i] == *text) {
                into = static_cast<T>(i);
                return;
            }
        if (text)
            into = static_cast<T>(number(*text));
    }
    template<typename T>
    void flags(T &into, const std::vector<std::string> &names)
    {
        const std::string *text = find("flags");
        if (!text)
            return;
        std::string rest = *text + ",";
        for (size_t comma = 0; (comma = rest.find(',')) != std::string::npos;
             rest.erase(0, comma + 1)) {
            const std::string name = rest.substr(0, comma);
            bool known = false;
            for (size_t bit = 0; bit < names.size(); ++bit)
                if (names[bit] == name) {
                    into = static_cast<T>(into | (1U << bit));
                    known = true;
                }
            if (!known)
                fail("unknown flag: " + name);
        }
    }
    [[nodiscard]] std::map<std::string, std::string> rest() const
    {
        std::map<std::string, std::string> out;
        for (const auto &[key, value] : values_)
            if (!used_.contains(key))
                out[key] = value;
        return out;
    }
    void all_used() const
    {
        for (const auto &[key, value] : rest())
            fail("unknown key: " + key);
    }

  private:
    const std::string *find(const std::string &key)
    {
        used_.insert(key);
        const auto it = values_.find(key);
        return it == values_.end() ? nullptr : &it->second;
    }
    std::map<std::string, std::string> values_;
    std::set<std::string> used_{"repeat", "step"};
    uint64_t moved_ns_;
};

const std::vector<std::string> op_words{"read",         "write", "flush", "discard",
                                        "write_zeroes", "zone",  "drv",   "other"};
const std::vector<std::string> cause_words{"exhausted", "fair_share", "sched_depth", "reserved",
                                           "stuck"};
const std::vector<std::string> status_words{"ok",           "error", "resource",
                                            "dev_resource", "again", "unknown"};
const std::vector<std::string> io_flags{"sync",     "polled", "passthrough", "batch_get", "sched",
                                        "reserved", "unused", "batch_put",   "flush_seq", "partial",
                                        "fua",      "waited", "orphan"};
const std::vector<std::string> wait_flags{"reserved", "sched", "won", "open", "moved"};
const std::vector<std::string> ident_flags{"gone",         "sched",    "hctx_shared",
                                           "queue_shared", "blocking", "elevator",
                                           "queue_rqs",    "budget",   "poll"};
const std::vector<std::string> hgauge_flags{"stopped",  "tag_active",  "restart", "inactive",
                                            "dispatch", "run_pending", "parked",  "ctx_pending",
                                            "requeue",  "quiesced",    "frozen"};

void parse_io(Fields &f, Batch &b)
{
    bt_io_long io{};
    io.tag = io.sched_tag = BT_NO_TAG;
    f.time("put", io.h.ts_ns);
    f.time("get", io.get_ns);
    io.start_ns = io.get_ns;
    f.time("start", io.start_ns);
    f.time("insert", io.insert_ns);
    f.time("refused", io.refused_ns);
    f.time("issue", io.issue_ns);
    f.time("complete", io.complete_ns);
    f.get("sector", io.sector);
    f.get("bytes", io.bytes);
    f.get("tid", io.tid);
    f.get("hctx", io.hctx_id);
    f.get("tag", io.tag);
    f.get("sched_tag", io.sched_tag);
    f.get("requeues", io.requeues);
    f.word("op", io.op, op_words);
    f.word("status", io.status, status_words);
    f.flags(io.flags, io_flags);
    b.io.push_back(io);
}

void parse_task(Fields &f, Batch &b)
{
    bt_task task{};
    std::string comm;
    f.time("ts", task.h.ts_ns);
    f.get("tid", task.tid);
    f.get("tgid", task.tgid);
    f.get("cgroup", task.cgroup_id);
    f.get("start", task.start_ns);
    f.text("comm", comm);
    std::memcpy(task.comm, comm.data(), std::min<size_t>(comm.size(), BT_COMM_LEN));
    b.tasks.push_back(task);
}

void parse_wait(Fields &f, Batch &b)
{
    bt_wait wait{};
    f.time("ts", wait.h.ts_ns);
    f.time("start", wait.start_ns);
    f.get("runnable", wait.runnable_ns);
    f.get("tid", wait.tid);
    f.get("attempts", wait.attempts);
    f.get("sleeps", wait.sleeps);
    f.get("hctx", wait.hctx_id);
    wait.end_hctx_id = wait.hctx_id;
    f.get("end_hctx", wait.end_hctx_id);
    f.get("space", wait.space_id);
    f.word("cause", wait.cause, cause_words);
    f.word("op", wait.op, op_words);
    f.flags(wait.flags, wait_flags);
    f.get("depth", wait.depth);
    f.get("held", wait.held);
    f.get("active", wait.active);
    f.get("limit", wait.limit);
    f.get("users", wait.users);
    b.waits.push_back(wait);
}

void parse_dwait(Fields &f, Batch &b)
{
    bt_dwait wait{};
    f.time("ts", wait.h.ts_ns);
    f.time("start", wait.start_ns);
    f.get("hctx", wait.hctx_id);
    f.get("space", wait.space_id);
    f.get("fails", wait.fails);
    f.word("cause", wait.cause, cause_words);
    f.flags(wait.flags, wait_flags);
    f.get("depth", wait.depth);
    f.get("held", wait.held);
    f.get("active", wait.active);
    f.get("limit", wait.limit);
    b.dwaits.push_back(wait);
}

void parse_restart(Fields &f, Batch &b)
{
    bt_restart restart{};
    f.time("ts", restart.h.ts_ns);
    f.time("marked", restart.marked_ns);
    f.get("hctx", restart.hctx_id);
    b.restarts.push_back(restart);
}

void parse_run(Fields &f, Batch &b)
{
    bt_run run{};
    f.time("ts", run.h.ts_ns);
    f.time("start", run.start_ns);
    f.get("issued", run.issued);
    f.get("hctx", run.hctx_id);
    f.flags(run.flags, {"empty", "async", "rearmed"});
    b.runs.push_back(run);
}

void parse_arm(Fields &f, Batch &b)
{
    bt_run arm{};
    f.time("ts", arm.h.ts_ns);
    f.get("delay", arm.start_ns);
    f.get("hctx", arm.hctx_id);
    f.flags(arm.flags, {"empty", "async", "rearmed"});
    b.arms.push_back(arm);
}

bt_refuse refuse_of(Fields &f)
{
    bt_refuse refuse{};
    f.time("ts", refuse.h.ts_ns);
    f.get("hctx", refuse.hctx_id);
    f.get("tag", refuse.tag);
    f.get("requeues", refuse.requeues);
    f.word("status", refuse.status, status_words);
    f.get("in_flight", refuse.in_flight);
    return refuse;
}

void parse_batch(Fields &f, Batch &b)
{
    bt_batch batch{};
    f.time("ts", batch.h.ts_ns);
    f.get("hctx", batch.hctx_id);
    f.get("offered", batch.offered);
    f.get("left", batch.left);
    f.get("inversions", batch.inversions);
    b.batches.push_back(batch);
}

void parse_budget(Fields &f, Batch &b)
{
    bt_budget budget{};
    f.time("ts", budget.h.ts_ns);
    f.get("queue", budget.queue_id);
    f.flags(budget.flags, {"returned"});
    f.get("blocked", budget.blocked);
    f.get("in_use", budget.in_use);
    f.get("limit", budget.limit);
    b.budgets.push_back(budget);
}

void parse_other(Fields &f, Batch &b)
{
    bt_other_wait wait{};
    f.time("ts", wait.h.ts_ns);
    f.time("start", wait.start_ns);
    f.get("tid", wait.tid);
    f.get("queue", wait.queue_id);
    f.word("what", wait.what, {"throttle", "enter", "freeze"});
    b.other_waits.push_back(wait);
}

void parse_ident(Fields &f, Batch &b, bt_ident what)
{
    bt_ident_rec ident{};
    ident.what = static_cast<bt_u8>(what);
    ident.space_id = ident.sched_space_id = ident.queue_id = ident.set_id = BT_NO_ID;
    f.time("ts", ident.h.ts_ns);
    f.get("id", ident.id);
    f.word("type", ident.hctx_type, {"default", "read", "poll"});
    f.get("queue", ident.queue_id);
    f.get("num", ident.hctx_num);
    uint32_t major = 0;
    uint32_t minor = 0;
    f.get("major", major);
    f.get("minor", minor);
    ident.dev = major << 20 | minor;
    f.get("depth", ident.depth);
    f.get("reserved", ident.reserved);
    f.get("nr_requests", ident.depth);
    f.get("nr_hw_queues", ident.reserved);
    f.get("space", ident.space_id);
    f.get("sched_space", ident.sched_space_id);
    f.get("set", ident.set_id);
    f.flags(ident.flags, ident_flags);
    b.idents.push_back(ident);
}

void parse_gauge(Fields &f, Batch &b)
{
    bt_gauge gauge{};
    gauge.wakes_due = UINT32_MAX;
    f.time("ts", gauge.h.ts_ns);
    f.get("space", gauge.space_id);
    f.get("depth", gauge.depth);
    f.get("held", gauge.held);
    f.get("cleared", gauge.cleared);
    f.get("waiters", gauge.waiters);
    f.get("users", gauge.users);
    f.get("wake_batch", gauge.wake_batch);
    f.get("wakes_due", gauge.wakes_due);
    f.get("in_flight", gauge.in_flight);
    f.time("oldest_get", gauge.oldest_get_ns);
    b.gauges.push_back(gauge);
}

void parse_hgauge(Fields &f, Batch &b)
{
    bt_hgauge gauge{};
    f.time("ts", gauge.h.ts_ns);
    f.get("hctx", gauge.hctx_id);
    f.flags(gauge.flags, hgauge_flags);
    f.get("active", gauge.active);
    f.get("dispatch_busy", gauge.dispatch_busy);
    b.hgauges.push_back(gauge);
}

void parse_counters(Fields &f, Batch &b)
{
    static const std::map<std::string, size_t> index{
#define BT_COUNTER(name, scope, unit, help) {#name, BT_C_##name},
#include "blktag/counters.def"
#undef BT_COUNTER
    };
    CounterSnapshot snapshot;
    uint64_t known = BT_NR_COUNTERS;
    uint32_t queue = UINT32_MAX;
    f.time("ts", snapshot.ts_ns);
    f.get("known", known);
    f.get("hctx", snapshot.id);
    f.get("queue", queue);
    if (queue != UINT32_MAX) {
        snapshot.what = BT_ID_QUEUE;
        snapshot.id = static_cast<uint16_t>(queue);
    }
    snapshot.value.resize(known);
    for (const auto &[key, value] : f.rest()) {
        const auto it = index.find(key);
        if (it == index.end() || it->second >= known)
            fail("unknown counter: " + key);
        snapshot.value[it->second] = number(value);
        uint64_t used = 0;
        f.get(key.c_str(), used);
    }
    b.counters.push_back(snapshot);
}

void parse_info(Fields &f, TraceInfo &info)
{
    f.text("tool", info.tool_version);
    f.text("kernel", info.kernel_release);
    f.text("machine", info.machine);
    f.text("host", info.hostname);
    f.text("command", info.command);
    f.get("cpus", info.nr_cpus);
    f.get("ring", info.ring_size_bytes);
    f.get("start", info.start_mono_ns);
    f.get("real", info.start_real_ns);
    f.get("end", info.end_mono_ns);
    f.get("end_real", info.end_real_ns);
}

void parse_books(Fields &f, Books &books)
{
    f.get("produced", books.produced);
    f.get("recorded", books.recorded);
    f.get("lost", books.lost);
    f.get("missed", books.missed);
    f.get("complete", books.complete);
    books.lost_by_kind.assign(BT_NR_RING_KINDS, 0);
    for (size_t kind = 0; kind < BT_NR_RING_KINDS; ++kind)
        f.get(("lost." + std::to_string(kind)).c_str(), books.lost_by_kind[kind]);
}

using RecordParser = std::function<void(Fields &, Batch &)>;

const std::map<std::string, RecordParser> record_parsers{
    {"io", parse_io},
    {"task", parse_task},
    {"wait", parse_wait},
    {"dwait", parse_dwait},
    {"restart", parse_restart},
    {"run", parse_run},
    {"arm", parse_arm},
    {"batch", parse_batch},
    {"budget", parse_budget},
    {"other", parse_other},
    {"gauge", parse_gauge},
    {"hgauge", parse_hgauge},
    {"counters", parse_counters},
    {"refuse",
     [](Fields &f, Batch &b) {
         b.refusals.push_back(refuse_of(f));
     }},
    {"requeue",
     [](Fields &f, Batch &b) {
         b.requeues.push_back(refuse_of(f));
     }},
    {"queue",
     [](Fields &f, Batch &b) {
         parse_ident(f, b, BT_ID_QUEUE);
     }},
    {"hctx",
     [](Fields &f, Batch &b) {
         parse_ident(f, b, BT_ID_HCTX);
     }},
    {"space",
     [](Fields &f, Batch &b) {
         parse_ident(f, b, BT_ID_SPACE);
     }},
};

bool parse_header_line(const std::string &kind, const std::vector<std::string> &words,
                       TraceText &trace)
{
    std::vector<std::string> plain;
    for (size_t i = 1; i < words.size(); ++i)
        plain.push_back(unquote(words[i]));
    if (kind == "argv")
        trace.info.argv = plain;
    else if (kind == "filter")
        trace.info.filters = plain;
    else if (kind == "unmeasured")
        trace.info.not_measured = plain;
    else
        return false;
    return true;
}

void parse_line(std::string_view line, TraceText &trace)
{
    if (line.starts_with("topology ")) {
        trace.info.topology_json = line.substr(9);
        return;
    }
    const std::vector<std::string> words = words_of(line);
    const std::string &kind = words[0];
    if (parse_header_line(kind, words, trace))
        return;
    Fields once(words, 0);
    if (kind == "info") {
        parse_info(once, trace.info);
    } else if (kind == "books") {
        parse_books(once, trace.books);
    } else if (kind == "rung") {
        ProbeRung &rung = trace.info.rungs.emplace_back();
        once.text("probe", rung.probe);
        once.text("hook", rung.hook);
        once.text("rung", rung.rung);
        once.text("why", rung.why);
    } else if (kind == "damage") {
        Damage &damage = trace.damage.emplace_back();
        once.get("offset", damage.offset_bytes);
        once.get("length", damage.length_bytes);
        once.text("what", damage.what);
    } else {
        const auto parser = record_parsers.find(kind);
        if (parser == record_parsers.end())
            fail("unknown kind: " + kind);
        uint64_t repeat = 1;
        uint64_t step = 0;
        once.get("repeat", repeat);
        once.get("step", step);
        for (uint64_t i = 0; i < repeat; ++i) {
            Fields fields(words, i * step);
            parser->second(fields, trace.batch);
            fields.all_used();
        }
        return;
    }
    once.all_used();
}

} // namespace

TraceText parse_trace(std::string_view text)
{
    TraceText trace;
    size_t line_number = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++line_number;
        while (!line.empty() && line.front() == ' ')
            line.remove_prefix(1);
        if (line.empty() || line.front() == '#')
            continue;
        try {
            parse_line(line, trace);
        } catch (const std::runtime_error &error) {
            throw std::runtime_error("line " + std::to_string(line_number) + ": " + error.what());
        }
    }
    return trace;
}

Snapshot snapshot_of(const TraceText &trace, agg::Window window)
{
    agg::Aggregate aggregate(window);
    aggregate.start(trace.info);
    aggregate.add(trace.batch);
    return agg::make_snapshot(aggregate, {trace.info, trace.books, trace.damage});
}

Snapshot snapshot_of(std::string_view text)
{
    return snapshot_of(parse_trace(text));
}

} // namespace blktag::test
