// SPDX-License-Identifier: GPL-2.0-or-later
// Events one by one: what each kind shows, and in which words.
#include "report/print.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "decode/batch.hpp"

#include "blktag/snapshot.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <span>

namespace blktag::report {
namespace {

struct Flag {
    uint32_t bit;
    const char *name;
};

constexpr std::array io_flags{Flag{BT_IO_SYNC, "sync"},
                              Flag{BT_IO_POLLED, "polled"},
                              Flag{BT_IO_PASSTHROUGH, "passthrough"},
                              Flag{BT_IO_BATCH_GET, "batch_get"},
                              Flag{BT_IO_SCHED, "sched"},
                              Flag{BT_IO_RESERVED, "reserved"},
                              Flag{BT_IO_UNUSED, "unused"},
                              Flag{BT_IO_BATCH_PUT, "batch_put"},
                              Flag{BT_IO_FLUSH_SEQ, "flush_seq"},
                              Flag{BT_IO_PARTIAL, "partial"},
                              Flag{BT_IO_FUA, "fua"},
                              Flag{BT_IO_WAITED, "waited"},
                              Flag{BT_IO_ORPHAN, "orphan"}};
constexpr std::array wait_flags{Flag{BT_W_RESERVED, "reserved"}, Flag{BT_W_SCHED, "sched"},
                                Flag{BT_W_WON, "won"}, Flag{BT_W_OPEN, "open"},
                                Flag{BT_W_MOVED, "moved"}};
constexpr std::array run_flags{Flag{BT_RUN_EMPTY, "empty"}, Flag{BT_RUN_ASYNC, "async"},
                               Flag{BT_RUN_REARMED, "rearmed"}};
constexpr std::array ident_flags{Flag{BT_IDF_GONE, "gone"},
                                 Flag{BT_IDF_SCHED, "sched"},
                                 Flag{BT_IDF_HCTX_SHARED, "hctx_shared"},
                                 Flag{BT_IDF_QUEUE_SHARED, "queue_shared"},
                                 Flag{BT_IDF_BLOCKING, "blocking"},
                                 Flag{BT_IDF_ELEVATOR, "elevator"},
                                 Flag{BT_IDF_QUEUE_RQS, "queue_rqs"},
                                 Flag{BT_IDF_BUDGET, "budget"},
                                 Flag{BT_IDF_POLL, "poll"}};
constexpr std::array hctx_flags{
    Flag{BT_HG_STOPPED, "stopped"},   Flag{BT_HG_TAG_ACTIVE, "tag_active"},
    Flag{BT_HG_RESTART, "restart"},   Flag{BT_HG_INACTIVE, "inactive"},
    Flag{BT_HG_DISPATCH, "dispatch"}, Flag{BT_HG_RUN_PENDING, "run_pending"},
    Flag{BT_HG_PARKED, "parked"},     Flag{BT_HG_CTX_PENDING, "ctx_pending"},
    Flag{BT_HG_REQUEUE, "requeue"},   Flag{BT_HG_QUIESCED, "quiesced"},
    Flag{BT_HG_FROZEN, "frozen"}};

constexpr std::array<const char *, BT_NR_COUNTERS> counter_names{
#define BT_COUNTER(name, scope, unit, help) #name,
#include "blktag/counters.def"
#undef BT_COUNTER
};

const char *status_name(unsigned status)
{
    constexpr std::array names{"ok", "error", "resource", "dev_resource", "again", "unknown"};
    return status < names.size() ? names[status] : "?";
}

const char *kind_name(unsigned kind)
{
    constexpr std::array names{"none",    "io",      "io",     "task",       "wait",
                               "dwait",   "restart", "run",    "arm",        "refuse",
                               "requeue", "batch",   "budget", "other_wait", "ident"};
    if (kind < names.size())
        return names[kind];
    switch (kind) {
    case BT_K_COUNTERS:
        return "counters";
    case BT_K_GAUGE:
        return "gauge";
    case BT_K_HGAUGE:
        return "hctx";
    case BT_K_LOSS:
        return "loss";
    default:
        return "?";
    }
}

} // namespace

// One line in the making: the same calls give a text or a JSON line.
class EventPrinter::Line {
  public:
    Line(EventPrinter &printer, std::string &out, bt_kind kind, uint64_t ts_ns,
         std::optional<uint32_t> cpu)
        : printer_(printer), out_(out), json_(printer.json_)
    {
        const auto since_ns = static_cast<int64_t>(ts_ns - printer.start_ns_);
        if (json_) {
            put("{{\"kind\":\"{}\",\"ts_ns\":{},\"time_s\":{}", kind_name(kind), ts_ns,
                base::format_seconds(since_ns));
            if (cpu)
                number("cpu", *cpu);
            return;
        }
        const std::string where = cpu ? fmt::format("[{:03}]", *cpu) : std::string("[---]");
        put("{:>12} {} {:<10}", base::format_seconds(since_ns), where, kind_name(kind));
    }
    Line(const Line &) = delete;
    Line &operator=(const Line &) = delete;
    ~Line() { out_ += json_ ? "}\n" : "\n"; }

    void number(const char *name, uint64_t value)
    {
        put(json_ ? ",\"{}\":{}" : " {}={}", name, value);
    }
    // A value that stands for "there is none".
    void number_unless(const char *name, uint64_t value, uint64_t none)
    {
        if (value != none)
            number(name, value);
        else if (json_)
            put(",\"{}\":null", name);
    }
    void time(const char *name, uint64_t value_ns)
    {
        if (json_) {
            put(",\"{}_ns\":{}", name, value_ns);
            return;
        }
        std::string text = base::format_duration(value_ns);
        text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
        put(" {}={}", name, text);
    }
    // From an earlier moment to a later one; in JSON also the moment. Nothing where the moment was
    // not.
    void since(const char *name, uint64_t from_ns, uint64_t to_ns)
    {
        if (from_ns && from_ns <= to_ns)
            time(name, to_ns - from_ns);
    }
    // A word of ours.
    void word(const char *name, std::string_view value)
    {
        put(json_ ? ",\"{}\":\"{}\"" : " {}={}", name, value);
    }
    // Bytes from outside.
    void text(const char *name, std::string_view value)
    {
        if (json_) {
            put(",\"{}\":", name);
            base::append_json_string(out_, value);
        } else if (!value.empty()) {
            put(" {}={}", name, base::escape_terminal(value, 60));
        }
    }
    void flags(std::span<const Flag> names, uint32_t value)
    {
        std::string list;
        for (const Flag &flag : names) {
            if (value & flag.bit)
                list += (list.empty() ? "" : json_ ? "\",\"" : ",") + std::string(flag.name);
        }
        if (json_)
            put(",\"flags\":[{}]", list.empty() ? list : "\"" + list + "\"");
        else if (!list.empty())
            put(" flags={}", list);
    }
    void hctx(uint16_t id, const char *label = "hctx")
    {
        if (json_)
            number_unless(label == std::string_view("hctx") ? "hctx_id" : "end_hctx_id", id,
                          BT_NO_ID);
        place(label, id == BT_NO_ID ? "-" : printer_.topology_.hctx_label(id));
    }
    void queue(uint16_t id)
    {
        if (json_)
            number_unless("queue_id", id, BT_NO_ID);
        place("queue", id == BT_NO_ID ? "-" : printer_.topology_.queue_label(id));
    }
    void task(uint32_t tid, uint64_t when_ns)
    {
        number("tid", tid);
        const model::Task &task = printer_.tasks_.tasks()[printer_.tasks_.find(tid, when_ns)];
        text("comm", base::fixed_string(task.comm.data(), task.comm.size()));
    }
    void op(unsigned op) { word("op", op_name(static_cast<bt_op>(op))); }
    void tag(uint16_t tag) { number_unless("tag", tag, BT_NO_TAG); }
    [[nodiscard]] bool json() const { return json_; }
    std::string &out() { return out_; }

  private:
    template<class... Args>
    void put(fmt::string_view format, const Args &...args)
    {
        fmt::vformat_to(std::back_inserter(out_), format, fmt::make_format_args(args...));
    }
    void place(const char *name, const std::string &label)
    {
        if (json_)
            text(name, label);
        else
            put(" {}", base::pad(base::escape_terminal(label, 40), 14));
    }

    EventPrinter &printer_;
    std::string &out_;
    bool json_;
};

EventPrinter::EventPrinter(bool json, const TraceInfo &info)
    : json_(json), start_ns_(info.start_mono_ns)
{
    topology_.apply_json(info.topology_json);
}

void EventPrinter::io(Line &line, const bt_io_long &io)
{
    line.hctx(io.hctx_id);
    line.op(io.op);
    line.number("sector", io.sector);
    line.number("bytes", io.bytes);
    line.tag(io.tag);
    if (io.sched_tag != BT_NO_TAG || line.json())
        line.number_unless("sched_tag", io.sched_tag, BT_NO_TAG);
    if (line.json()) {
        line.number("start_ns", io.start_ns);
        line.number("get_ns", io.get_ns);
        line.number("insert_ns", io.insert_ns);
        line.number("refused_ns", io.refused_ns);
        line.number("issue_ns", io.issue_ns);
        line.number("complete_ns", io.complete_ns);
    } else {
        if (io.start_ns < io.get_ns)
            line.since("wait", io.start_ns, io.get_ns);
        if (io.issue_ns)
            line.since("queued", io.get_ns, io.issue_ns);
        if (io.complete_ns)
            line.since("device", io.issue_ns, io.complete_ns);
        line.since("done", io.complete_ns, io.h.ts_ns);
    }
    line.task(io.tid, io.start_ns ? io.start_ns : io.h.ts_ns);
    line.number("submit_cpu", io.submit_cpu);
    line.number("complete_cpu", io.complete_cpu);
    if (io.requeues || line.json())
        line.number("requeues", io.requeues);
    if (io.status != BT_ST_OK || line.json())
        line.word("status", status_name(io.status));
    line.flags(io_flags, io.flags);
}

void EventPrinter::event(Line &line, const bt_task &task)
{
    line.number("tid", task.tid);
    line.number("tgid", task.tgid);
    line.number("cgroup_id", task.cgroup_id);
    if (line.json())
        line.number("start_ns", task.start_ns);
    line.text("comm", base::fixed_string(task.comm, sizeof(task.comm)));
}

void EventPrinter::event(Line &line, const bt_wait &wait)
{
    line.hctx(wait.hctx_id);
    line.word("cause", cause_name(static_cast<bt_cause>(wait.cause)));
    line.time("wait", wait.h.ts_ns - wait.start_ns);
    line.time("runnable", wait.runnable_ns);
    line.task(wait.tid, wait.start_ns);
    line.op(wait.op);
    line.tag(wait.tag);
    line.number("depth", wait.depth);
    line.number("held", wait.held);
    line.number("active", wait.active);
    line.number("limit", wait.limit);
    line.number("users", wait.users);
    line.number("attempts", wait.attempts);
    line.number("sleeps", wait.sleeps);
    if (line.json())
        line.number("start_cpu", wait.start_cpu);
    if (line.json() || wait.end_hctx_id != wait.hctx_id)
        line.hctx(wait.end_hctx_id, "end_hctx");
    if (line.json())
        line.number_unless("space_id", wait.space_id, BT_NO_ID);
    line.flags(wait_flags, wait.flags);
}

void EventPrinter::event(Line &line, const bt_dwait &wait)
{
    line.hctx(wait.hctx_id);
    line.word("cause", cause_name(static_cast<bt_cause>(wait.cause)));
    line.time("wait", wait.h.ts_ns - wait.start_ns);
    line.number("fails", wait.fails);
    line.number("depth", wait.depth);
    line.number("held", wait.held);
    line.number("active", wait.active);
    line.number("limit", wait.limit);
    if (line.json())
        line.number_unless("space_id", wait.space_id, BT_NO_ID);
    line.flags(wait_flags, wait.flags);
}

void EventPrinter::event(Line &line, const bt_restart &restart)
{
    line.hctx(restart.hctx_id);
    line.since("marked", restart.marked_ns, restart.h.ts_ns);
}

void EventPrinter::run(Line &line, const bt_run &run)
{
    line.hctx(run.hctx_id);
    line.number("issued", run.issued);
    line.since("took", run.start_ns, run.h.ts_ns);
    line.flags(run_flags, run.flags);
}

void EventPrinter::arm(Line &line, const bt_run &arm)
{
    line.hctx(arm.hctx_id);
    line.time("delay", arm.start_ns);
    line.flags(run_flags, arm.flags);
}

void EventPrinter::refuse(Line &line, const bt_refuse &refusal)
{
    line.hctx(refusal.hctx_id);
    if (refusal.h.kind == BT_K_REFUSE)
        line.word("status", status_name(refusal.status));
    line.op(refusal.op);
    line.tag(refusal.tag);
    line.number("requeues", refusal.requeues);
    line.number_unless("in_flight", refusal.in_flight, UINT32_MAX);
}

void EventPrinter::event(Line &line, const bt_batch &batch)
{
    line.hctx(batch.hctx_id);
    line.number("offered", batch.offered);
    line.number("left", batch.left);
    line.number("inversions", batch.inversions);
}

void EventPrinter::event(Line &line, const bt_budget &budget)
{
    line.queue(budget.queue_id);
    line.word("what", budget.flags & BT_B_RETURNED ? "returned" : "refused");
    line.number("in_use", budget.in_use);
    line.number("limit", budget.limit);
    line.number("blocked", budget.blocked);
}

void EventPrinter::event(Line &line, const bt_other_wait &wait)
{
    constexpr std::array names{"throttle", "enter", "freeze"};
    line.queue(wait.queue_id);
    line.word("what", wait.what < names.size() ? names[wait.what] : "?");
    line.time("wait", wait.h.ts_ns - wait.start_ns);
    line.task(wait.tid, wait.start_ns);
}

void EventPrinter::event(Line &line, const bt_ident_rec &ident)
{
    const bool gone = ident.flags & BT_IDF_GONE;
    switch (ident.what) {
    case BT_ID_QUEUE:
        line.queue(ident.id);
        line.word("what", gone ? "queue_gone" : "queue");
        line.text("dev", model::Topology::dev_text(ident.dev));
        line.number("nr_requests", ident.depth);
        line.number("nr_hw_queues", ident.reserved);
        line.number_unless("set_id", ident.set_id, BT_NO_ID);
        break;
    case BT_ID_HCTX:
        line.hctx(ident.id);
        line.word("what", gone ? "hctx_gone" : "hctx");
        line.number("hctx_num", ident.hctx_num);
        line.number("hctx_type", ident.hctx_type);
        line.number_unless("space_id", ident.space_id, BT_NO_ID);
        line.number_unless("sched_space_id", ident.sched_space_id, BT_NO_ID);
        line.number("nr_ctx", ident.nr_ctx);
        break;
    default:
        line.number("space_id", ident.id);
        line.word("what", gone ? "space_gone" : "space");
        line.number("depth", ident.depth);
        line.number("reserved", ident.reserved);
        line.number_unless("set_id", ident.set_id, BT_NO_ID);
    }
    line.flags(ident_flags, ident.flags);
}

// In text only what is not 0: there are some eighty.
void EventPrinter::event(Line &line, const CounterSnapshot &counters)
{
    if (counters.what == BT_ID_HCTX)
        line.hctx(counters.id);
    else
        line.queue(counters.id);
    for (size_t i = 0; i < counters.value.size() && i < counter_names.size(); i++) {
        if (counters.value[i] || line.json())
            line.number(counter_names[i], counters.value[i]);
    }
}

void EventPrinter::event(Line &line, const bt_gauge &gauge)
{
    line.number("space_id", gauge.space_id);
    line.number("depth", gauge.depth);
    line.number("held", gauge.held);
    line.number("reserved_held", gauge.reserved_held);
    line.number("in_flight", gauge.in_flight);
    line.number("cleared", gauge.cleared);
    line.number("waiters", gauge.waiters);
    line.number("users", gauge.users);
    line.number("wake_batch", gauge.wake_batch);
    line.number_unless("wakes_due", gauge.wakes_due, UINT32_MAX);
    line.since("oldest", gauge.oldest_get_ns, gauge.h.ts_ns);
}

void EventPrinter::event(Line &line, const bt_hgauge &gauge)
{
    line.hctx(gauge.hctx_id);
    line.number("active", gauge.active);
    line.number("dispatch_busy", gauge.dispatch_busy);
    line.flags(hctx_flags, gauge.flags);
}

void EventPrinter::event(Line &line, const bt_loss &loss)
{
    line.number("of_cpu", loss.of_cpu);
    line.since("within", loss.from_ns, loss.h.ts_ns);
    std::array<uint64_t, BT_NR_RING_KINDS> lost{};
    std::copy(std::begin(loss.lost), std::end(loss.lost), lost.begin());
    lost[BT_K_IO] += lost[BT_K_IO_LONG]; // one kind here: what was lost has no form
    lost[BT_K_IO_LONG] = 0;
    for (unsigned kind = 0; kind < lost.size(); kind++) {
        if (lost[kind])
            line.number(fmt::format("lost_{}", kind_name(kind)).c_str(), lost[kind]);
    }
}

void EventPrinter::learn(const Batch &batch)
{
    for (const std::string &json : batch.topology_json)
        topology_.apply_json(json);
    for (const bt_ident_rec &ident : batch.idents)
        topology_.apply(ident);
    topology_.settle();
    for (const bt_task &task : batch.tasks)
        tasks_.apply(task);
    if (tasks_.full()) // names are forgotten rather than memory taken
        tasks_.keep_only(std::vector<bool>(tasks_.tasks().size(), false));
}

void EventPrinter::one(const Batch &batch, bt_kind kind, size_t at, std::string &out)
{
    const auto line_of = [&](const auto &record, auto &&print) {
        if constexpr (requires { record.h; }) {
            Line line(*this, out, kind, record.h.ts_ns, record.h.cpu);
            print(line, record);
        } else {
            Line line(*this, out, kind, record.ts_ns, std::nullopt);
            print(line, record);
        }
    };
    decode::for_each_kind(batch, [&](const auto &records, bt_kind of) {
        if (of != kind)
            return;
        line_of(records[at], [&](Line &line, const auto &record) {
            using T = std::remove_cvref_t<decltype(record)>;
            if constexpr (std::is_same_v<T, bt_io_long>)
                io(line, record);
            else if constexpr (std::is_same_v<T, bt_run>)
                of == BT_K_RUN ? run(line, record) : arm(line, record);
            else if constexpr (std::is_same_v<T, bt_refuse>)
                refuse(line, record);
            else
                event(line, record);
        });
    });
}

void EventPrinter::topology(const std::string &json, std::string &out) const
{
    if (!json_)
        return; // a page of text in a list of lines: print's readers have the names already
    out += "{\"kind\":\"topology\",\"topology_json\":";
    base::append_json_string(out, json);
    out += "}\n";
}

void EventPrinter::print(const Batch &batch, std::string &out)
{
    learn(batch);
    for (const std::string &json : batch.topology_json)
        topology(json, out);
    struct Place {
        uint64_t ts_ns;
        bt_kind kind;
        uint32_t at;
    };
    std::vector<Place> order;
    order.reserve(batch.size());
    decode::for_each_kind(batch, [&](const auto &records, bt_kind kind) {
        for (uint32_t i = 0; i < records.size(); i++)
            order.push_back({decode::time_of(records[i]), kind, i});
    });
    std::stable_sort(order.begin(), order.end(),
                     [](const Place &a, const Place &b) { return a.ts_ns < b.ts_ns; });
    for (const Place &place : order)
        one(batch, place.kind, place.at, out);
}

} // namespace blktag::report
