// SPDX-License-Identifier: GPL-2.0-or-later
// Makes a recording of any size whose true answers are known, through the real writer. Input:
// options. Output: a trace file, and its truth as JSON on stdout. The same options give the same
// bytes.
//
// The model is a closed loop: each hctx has `depth` tags that are always held; when one is put the
// next request gets it at once, or, every K-th time, after having waited for it.
#include "base/fd.hpp"
#include "store/output_file.hpp"
#include "store/writer.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <queue>

namespace {

using namespace blktag;

constexpr uint64_t start_ns = 1'000'000'000'000;

struct Options {
    uint64_t ios = 1'000'000;
    uint32_t queues = 1;
    uint32_t hctxs = 4;
    uint32_t depth = 64;
    uint64_t waits_every = 0;
    uint64_t seed = 1;
    uint64_t device_us = 80;
    uint64_t disk_gib = 4;
    bool sequential = false;
    bool force = false;
    std::string file = "-";
};

// splitmix64: ours to keep, unlike the standard library's distributions, which differ between
// libraries.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next()
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    uint64_t below(uint64_t limit) { return next() % limit; }
    // Sum of four: a bump around 2 * spread, from 0 to 4 * spread.
    uint64_t bump(uint64_t spread)
    {
        return below(spread) + below(spread) + below(spread) + below(spread);
    }

  private:
    uint64_t state_;
};

struct Truth {
    uint64_t gets = 0, completed = 0, bytes = 0, device_ns = 0;
    uint64_t submit_waits = 0, wait_ns = 0, longest_wait_ns = 0;
    uint64_t reads = 0, writes = 0;
    uint64_t sector_sum = 0;
};

class Generator {
  public:
    Generator(const Options &options, store::Writer &writer)
        : options_(options), writer_(writer), random_(options.seed),
          counters_(options.queues * options.hctxs), next_sector_(options.queues * options.hctxs)
    {}

    std::expected<void, Error> run();
    [[nodiscard]] const Truth &truth() const { return truth_; }
    [[nodiscard]] uint64_t end_ns() const { return now_ns_; }
    [[nodiscard]] uint64_t records() const { return records_; }

  private:
    struct Flight {
        uint64_t put_ns;
        bt_io_long io;
        bool operator>(const Flight &other) const
        {
            return put_ns != other.put_ns
                       ? put_ns > other.put_ns
                       : io.hctx_id * 65536U + io.tag > other.io.hctx_id * 65536U + other.io.tag;
        }
    };

    void identities();
    void submit(uint16_t hctx, uint16_t tag, uint64_t now_ns);
    void count(const bt_io_long &io);
    void sample(uint64_t now_ns);
    std::expected<void, Error> flush();

    const Options &options_;
    store::Writer &writer_;
    Random random_;
    Batch batch_;
    Truth truth_;
    std::vector<std::array<uint64_t, BT_NR_COUNTERS>> counters_;
    std::vector<uint64_t> next_sector_;
    std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flights_;
    uint64_t submitted_ = 0;
    uint64_t now_ns_ = start_ns;
    uint64_t next_gauge_ns_ = start_ns;
    uint64_t next_counters_ns_ = start_ns;
    uint64_t records_ = 0;
};

template<class T>
T record(bt_kind kind, uint64_t ts_ns, uint32_t cpu)
{
    T out{};
    out.h.size = sizeof(T);
    out.h.kind = static_cast<bt_u8>(kind);
    out.h.cpu = cpu;
    out.h.ts_ns = ts_ns;
    return out;
}

void Generator::identities()
{
    for (uint32_t queue = 0; queue < options_.queues; queue++) {
        auto q = record<bt_ident_rec>(BT_K_IDENT, start_ns, 0);
        q.what = BT_ID_QUEUE;
        q.id = q.set_id = static_cast<uint16_t>(queue);
        q.dev = 259U << 20 | queue;
        q.depth = options_.depth;
        q.reserved = options_.hctxs;
        batch_.idents.push_back(q);
        for (uint32_t num = 0; num < options_.hctxs; num++) {
            const auto id = static_cast<uint16_t>(queue * options_.hctxs + num);
            auto space = record<bt_ident_rec>(BT_K_IDENT, start_ns, 0);
            space.what = BT_ID_SPACE;
            space.id = id;
            space.set_id = static_cast<uint16_t>(queue);
            space.depth = options_.depth;
            space.slot_base = id * options_.depth;
            batch_.idents.push_back(space);
            auto hctx = record<bt_ident_rec>(BT_K_IDENT, start_ns, 0);
            hctx.what = BT_ID_HCTX;
            hctx.id = hctx.space_id = id;
            hctx.queue_id = static_cast<uint16_t>(queue);
            hctx.hctx_num = static_cast<uint16_t>(num);
            hctx.sched_space_id = BT_NO_ID;
            hctx.nr_ctx = 1;
            batch_.idents.push_back(hctx);
            auto task = record<bt_task>(BT_K_TASK, start_ns, num);
            task.tid = task.tgid = 1000U + id;
            const std::string name = fmt::format("job{}", id);
            std::copy(name.begin(), name.end(), task.comm);
            batch_.tasks.push_back(task);
        }
    }
}

void Generator::submit(uint16_t hctx, uint16_t tag, uint64_t now_ns)
{
    if (submitted_ == options_.ios)
        return;
    submitted_++;
    const bool waits = options_.waits_every && submitted_ % options_.waits_every == 0;
    auto io = record<bt_io_long>(BT_K_IO_LONG, 0, hctx % options_.hctxs);
    io.get_ns = now_ns + 200 + random_.below(300);
    io.start_ns = waits ? now_ns - 1000 * (1 + random_.below(500)) : io.get_ns;
    io.issue_ns = io.get_ns + 300 + random_.bump(200);
    io.complete_ns =
        io.issue_ns + options_.device_us * 600 + random_.bump(options_.device_us * 200);
    io.h.ts_ns = io.complete_ns + 150 + random_.bump(100);
    io.bytes = 4096;
    const uint64_t disk_sectors = options_.disk_gib << 21;
    if (options_.sequential) {
        io.sector = (uint64_t{hctx} << 16) + next_sector_[hctx];
        next_sector_[hctx] += 8;
    } else {
        io.sector = random_.below(disk_sectors / 8) * 8;
    }
    io.tid = 1000U + hctx;
    io.hctx_id = hctx;
    io.tag = tag;
    io.sched_tag = BT_NO_TAG;
    io.flags = waits ? BT_IO_WAITED : 0;
    io.submit_cpu = io.complete_cpu = static_cast<uint16_t>(hctx % options_.hctxs);
    io.op = random_.below(10) < 7 ? BT_OP_READ : BT_OP_WRITE;
    io.status = BT_ST_OK;
    if (waits) {
        auto wait = record<bt_wait>(BT_K_WAIT, io.get_ns, io.h.cpu);
        wait.start_ns = io.start_ns;
        wait.runnable_ns = 100;
        wait.tid = io.tid;
        wait.attempts = wait.sleeps = 1;
        wait.hctx_id = wait.end_hctx_id = wait.space_id = hctx;
        wait.tag = tag;
        wait.start_cpu = io.submit_cpu;
        wait.cause = BT_CAUSE_EXHAUSTED;
        wait.depth = wait.held = wait.limit = options_.depth;
        wait.op = io.op;
        batch_.waits.push_back(wait);
        const uint64_t wait_ns = io.get_ns - io.start_ns;
        truth_.submit_waits++;
        truth_.wait_ns += wait_ns;
        truth_.longest_wait_ns = std::max(truth_.longest_wait_ns, wait_ns);
        counters_[hctx][BT_C_submit_waits]++;
        counters_[hctx][BT_C_submit_wait_ns] += wait_ns;
        counters_[hctx][BT_C_waits_exhausted]++;
    }
    counters_[hctx][BT_C_gets_single]++;
    counters_[hctx][BT_C_issues]++;
    truth_.gets++;
    flights_.push({io.h.ts_ns, io});
}

void Generator::count(const bt_io_long &io)
{
    auto &counters = counters_[io.hctx_id];
    const uint64_t device_ns = io.complete_ns - io.issue_ns;
    counters[BT_C_completes]++;
    counters[BT_C_complete_bytes] += io.bytes;
    counters[BT_C_device_ns] += device_ns;
    counters[BT_C_puts_single]++;
    truth_.completed++;
    truth_.bytes += io.bytes;
    truth_.sector_sum += io.sector;
    truth_.device_ns += device_ns;
    (io.op == BT_OP_READ ? truth_.reads : truth_.writes)++;
}

void Generator::sample(uint64_t now_ns)
{
    for (uint16_t hctx = 0; hctx < counters_.size(); hctx++) {
        auto gauge = record<bt_gauge>(BT_K_GAUGE, now_ns, 0);
        gauge.space_id = hctx;
        gauge.depth = options_.depth;
        gauge.held = gauge.in_flight = static_cast<uint32_t>(counters_[hctx][BT_C_gets_single] -
                                                             counters_[hctx][BT_C_puts_single]);
        gauge.wake_batch = 8;
        batch_.gauges.push_back(gauge);
    }
    next_gauge_ns_ = now_ns + 100'000'000;
    if (now_ns < next_counters_ns_)
        return;
    for (uint16_t hctx = 0; hctx < counters_.size(); hctx++) {
        CounterSnapshot snapshot{now_ns, hctx, BT_ID_HCTX, {}};
        snapshot.value.assign(counters_[hctx].begin(), counters_[hctx].end());
        batch_.counters.push_back(std::move(snapshot));
    }
    next_counters_ns_ = now_ns + 1'000'000'000;
}

std::expected<void, Error> Generator::flush()
{
    std::stable_sort(batch_.waits.begin(), batch_.waits.end(),
                     [](const bt_wait &a, const bt_wait &b) { return a.h.ts_ns < b.h.ts_ns; });
    // From the rings come io, waits, tasks and identities; the rest is made beside them.
    records_ += batch_.io.size() + batch_.waits.size() + batch_.tasks.size() + batch_.idents.size();
    Books books;
    books.produced = books.recorded = records_;
    writer_.set_books(books);
    if (auto put = writer_.put(batch_); !put)
        return put;
    batch_.clear();
    return writer_.tick(now_ns_);
}

std::expected<void, Error> Generator::run()
{
    identities();
    for (uint16_t tag = 0; tag < options_.depth; tag++) {
        for (uint16_t hctx = 0; hctx < counters_.size(); hctx++)
            submit(hctx, tag, start_ns + random_.below(options_.device_us * 1000));
    }
    while (!flights_.empty()) {
        const bt_io_long io = flights_.top().io;
        flights_.pop();
        now_ns_ = io.h.ts_ns;
        batch_.io.push_back(io);
        count(io);
        submit(io.hctx_id, io.tag, now_ns_);
        if (now_ns_ >= next_gauge_ns_)
            sample(now_ns_);
        if (batch_.io.size() == 4096) {
            if (auto flushed = flush(); !flushed)
                return flushed;
        }
    }
    next_counters_ns_ = 0;
    sample(now_ns_);
    return flush();
}

TraceInfo describe(const Options &options)
{
    TraceInfo info;
    info.tool_version = BLKTAG_VERSION;
    info.kernel_release = "6.12.0-tracegen";
    info.machine = "x86_64";
    info.hostname = "tracegen";
    info.argv = {"tracegen"};
    info.nr_cpus = options.hctxs;
    info.ring_size_bytes = 1U << 20;
    info.start_mono_ns = start_ns;
    info.start_real_ns = 1'770'000'000'000'000'000;
    info.rungs = {{"tag_get", "__blk_mq_get_tag", "fexit", ""}};
    nlohmann::json queues = nlohmann::json::array();
    for (uint32_t queue = 0; queue < options.queues; queue++) {
        nlohmann::json hctxs = nlohmann::json::array();
        for (uint32_t num = 0; num < options.hctxs; num++)
            hctxs.push_back({{"hctx_id", queue * options.hctxs + num},
                             {"hctx_num", num},
                             {"type", "default"},
                             {"cpus", {num}},
                             {"nr_tags", options.depth},
                             {"nr_reserved_tags", 0}});
        queues.push_back({{"queue_id", queue},
                          {"name", fmt::format("gen{}", queue)},
                          {"dev", fmt::format("259:{}", queue)},
                          {"scheduler", "none"},
                          {"nr_requests", options.depth},
                          {"driver", "tracegen"},
                          {"nr_hw_queues", options.hctxs},
                          {"set_id", queue},
                          {"hctxs", hctxs}});
    }
    info.topology_json = nlohmann::json{{"queues", queues}}.dump();
    return info;
}

std::string truth_json(const Options &options, const Generator &generator,
                       const store::Writer &writer)
{
    const Truth &truth = generator.truth();
    return nlohmann::ordered_json{{"ios", options.ios},
                                  {"gets", truth.gets},
                                  {"issued", truth.completed},
                                  {"completed", truth.completed},
                                  {"reads", truth.reads},
                                  {"writes", truth.writes},
                                  {"bytes", truth.bytes},
                                  {"sector_sum", truth.sector_sum},
                                  {"device_ns", truth.device_ns},
                                  {"submit_waits", truth.submit_waits},
                                  {"submit_wait_ns", truth.wait_ns},
                                  {"longest_submit_wait_ns", truth.longest_wait_ns},
                                  {"produced", generator.records()},
                                  {"duration_ns", generator.end_ns() - start_ns},
                                  {"file_bytes", writer.bytes_written()}}
        .dump(2);
}

int fail(const Error &error)
{
    fmt::print(stderr, "tracegen: {}\n", error.what);
    return 1;
}

int generate(const Options &options)
{
    auto fd = store::create_output(options.file, options.force);
    if (!fd)
        return fail(fd.error());
    TraceInfo info = describe(options);
    auto writer = store::Writer::open(std::move(*fd), info, {.name = options.file});
    if (!writer)
        return fail(writer.error());
    Generator generator(options, **writer);
    if (auto ran = generator.run(); !ran)
        return fail(ran.error());
    info.end_mono_ns = generator.end_ns();
    info.end_real_ns = info.start_real_ns + (generator.end_ns() - start_ns);
    Books books;
    books.produced = books.recorded = generator.records();
    books.lost_by_kind.assign(BT_NR_RING_KINDS, 0);
    if (auto finished = (*writer)->finish(info, books); !finished)
        return fail(finished.error());
    fmt::print("{}\n", truth_json(options, generator, **writer));
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    CLI::App app{"Makes a trace with known answers; its truth is printed as JSON.", "tracegen"};
    app.add_option("--ios", options.ios, "requests in all");
    app.add_option("--queues", options.queues, "queues")->check(CLI::Range(1, 256));
    app.add_option("--hctxs", options.hctxs, "hctxs of each queue")->check(CLI::Range(1, 128));
    app.add_option("--depth", options.depth, "tags of each hctx")->check(CLI::Range(1, 10240));
    app.add_option("--waits-every", options.waits_every, "every K-th request waits; 0: none");
    app.add_option("--seed", options.seed, "of the random numbers");
    app.add_option("--device-us", options.device_us, "mean device time")
        ->check(CLI::Range(1, 100000));
    app.add_option("--disk-gib", options.disk_gib, "size of the disk")->check(CLI::Range(1, 65536));
    app.add_flag("--sequential", options.sequential, "each hctx reads on; else random places");
    app.add_flag("--force", options.force, "replace the file");
    app.add_option("file", options.file, "the trace to make")->required();
    CLI11_PARSE(app, argc, argv);
    return generate(options);
}
