// SPDX-License-Identifier: GPL-2.0-or-later
// A live capture from open to the last record. Input: Options. Output: batches (RecordSource).
#include "base/clock.hpp"
#include "capture/capture.hpp"
#include "capture/drain.hpp"
#include "capture/histograms.hpp"
#include "capture/moments.hpp"
#include "capture/sampler.hpp"
#include "capture/sizes.hpp"
#include "capture/topology.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>

#include <fmt/format.h>

namespace blktag::capture {

namespace {

constexpr size_t drain_budget_bytes = 4U << 20; // per ring and call: keeps a batch small
constexpr useconds_t poll_us = 10'000;
constexpr int final_turns = 50; // a program may still be writing its last record after detach

class LiveSession : public Session {
  public:
    std::expected<void, Error> start(const Options &options);
    std::expected<bool, Error> next(Batch &batch) override;
    void request_stop() override { stop_.store(true); }
    void set_counter_interval_ms(uint32_t ms) override { counter_interval_ms_.store(ms); }
    [[nodiscard]] uint64_t lost_so_far() const override { return drain_->books().lost; }
    [[nodiscard]] const TraceInfo &info() const override { return info_; }
    [[nodiscard]] const Books &books() const override { return books_; }
    [[nodiscard]] const std::vector<Damage> &damage() const override { return damage_; }

  private:
    std::expected<void, Error> load(const Options &options, bt_knobs knobs, const Capabilities &capabilities);
    void describe_machine();
    void not_measured();
    void not_measured(const std::string &driver_probe);
    void look_around(Batch &batch, uint64_t now_ns);
    void sample(Batch &batch, uint64_t now_ns);
    void finish(Batch &batch);

    Options options_;
    std::unique_ptr<Programs> programs_;
    std::unique_ptr<Drain> drain_;
    std::unique_ptr<Sampler> sampler_;
    std::unique_ptr<Histograms> histograms_;
    std::unique_ptr<Moments> moments_;
    IdentWatch idents_;
    std::vector<Choice> choices_;
    TraceInfo info_;
    Books books_;
    std::vector<Damage> damage_;
    std::atomic<bool> stop_{false};
    std::atomic<uint32_t> counter_interval_ms_{1000};
    bool done_ = false;
    uint64_t next_gauge_ns_ = 0;
    uint64_t next_counters_ns_ = 0;
};

std::expected<void, Error> set_filters(bt_knobs &k, const Options &options, TraceInfo &info)
{
    if (options.devices.size() > std::size(k.dev))
        return std::unexpected(Error{fmt::format("more than {} devices", std::size(k.dev)), "leave -d away to record all"});
    for (const std::string &name : options.devices) {
        auto dev = resolve_device(name);
        if (!dev)
            return std::unexpected(dev.error());
        k.dev[k.nr_devs++] = *dev;
        info.filters.push_back("dev=" + name);
    }
    if (!options.cgroup.empty()) {
        auto id = resolve_cgroup(options.cgroup);
        if (!id)
            return std::unexpected(id.error());
        k.cgroup_id = *id;
        info.filters.push_back("cgroup=" + options.cgroup);
    }
    k.tgid = options.tgid;
    k.op_mask = options.op_mask;
    if (k.tgid)
        info.filters.push_back(fmt::format("pid={}", k.tgid));
    if (k.op_mask)
        info.filters.push_back(fmt::format("op_mask={:#x}", k.op_mask));
    k.records = options.records;
    k.rec_run = (options.groups & GROUP_RUN) != 0;
    k.rec_batch = (options.groups & GROUP_BATCH) != 0;
    k.rec_budget = (options.groups & GROUP_BUDGET) != 0;
    return {};
}

} // namespace

// Rungs that look possible and are refused at attach are tried again without them.
std::expected<void, Error> LiveSession::load(const Options &options, bt_knobs knobs, const Capabilities &capabilities)
{
    std::set<std::string> refused_rungs;
    for (int attempt = 0; attempt < 16; attempt++) {
        choices_ = choose(capabilities, options, refused_rungs);
        for (const Choice &c : choices_)
            if (c.probe->required && !c.rung)
                return std::unexpected(Error{fmt::format("probe '{}' cannot be attached: {}", c.probe->name, c.why),
                                             "run 'tagtrace doctor' to see what this kernel offers"});
        programs_ = std::make_unique<Programs>();
        Refused refused;
        auto loaded = programs_->load(knobs, choices_, refused);
        if (loaded)
            return {};
        if (refused.probe_and_rung.empty())
            return loaded;
        refused_rungs.insert(refused.probe_and_rung);
    }
    return std::unexpected(Error{"the kernel refuses too many hooks", "run 'tagtrace doctor'"});
}

void LiveSession::describe_machine()
{
    utsname u{};
    uname(&u);
    info_.tool_version = BLKTAG_VERSION;
    info_.kernel_release = u.release;
    info_.machine = u.machine;
    info_.hostname = u.nodename;
    info_.nr_cpus = programs_->knobs().nr_cpus;
    info_.ring_size_bytes = programs_->knobs().ring_size_bytes;
    info_.start_mono_ns = base::now_mono_ns();
    info_.start_real_ns = base::now_real_ns();
}

void LiveSession::not_measured()
{
    info_.rungs.clear();
    info_.not_measured.clear();
    for (const Choice &c : choices_) {
        info_.rungs.push_back(describe(c));
        if (!c.rung)
            info_.not_measured.insert(info_.not_measured.end(), c.probe->feeds.begin(), c.probe->feeds.end());
    }
    for (const DriverFeed &feed : driver_feeds())
        if (!(options_.groups & feed.group))
            info_.not_measured.insert(info_.not_measured.end(), feed.counters.begin(), feed.counters.end());
    info_.rungs.push_back({"gauges", "sbitmap words", "sampled", ""});
}

// "queue_rqs:nvme": what it feeds is no number for the other drivers' queues alone either.
void LiveSession::not_measured(const std::string &driver_probe)
{
    info_.not_measured.push_back(driver_probe);
    for (const DriverFeed &feed : driver_feeds())
        if (driver_probe.starts_with(std::string(feed.probe) + ":"))
            info_.not_measured.insert(info_.not_measured.end(), feed.counters.begin(), feed.counters.end());
}

std::expected<void, Error> LiveSession::start(const Options &options)
{
    options_ = options;
    counter_interval_ms_ = options.counter_interval_ms;
    auto capabilities = find_capabilities(wanted_hooks());
    if (!capabilities)
        return std::unexpected(capabilities.error());
    bt_knobs knobs = knobs_for(*capabilities);
    if (auto ok = set_filters(knobs, options, info_); !ok)
        return ok;
    set_sizes(knobs, read_sysfs(), options, capabilities->possible_cpus);
    if (auto ok = load(options, knobs, *capabilities); !ok)
        return ok;
    drain_ = std::make_unique<Drain>(programs_->rings, knobs.ring_size_bytes);
    sampler_ = std::make_unique<Sampler>(*programs_);
    histograms_ = std::make_unique<Histograms>(*programs_);
    if (!options.records)
        moments_ = std::make_unique<Moments>(*programs_, *sampler_);
    describe_machine();
    not_measured();
    const std::vector<SysQueue> sys = read_sysfs(); // shows the programs every hctx
    info_.topology_json = topology_json(sys, *programs_);
    Batch first;
    look_around(first, base::now_mono_ns());
    idents_ = IdentWatch(); // told again in the first batch
    return {};
}

// New, changed and gone objects; the drivers behind new queues.
void LiveSession::look_around(Batch &batch, uint64_t now_ns)
{
    const size_t before = batch.idents.size();
    idents_.poll(*programs_, now_ns, batch.idents);
    for (const uint16_t queue : idents_.new_queues())
        for (ProbeRung &rung : programs_->attach_driver(queue, options_)) {
            if (rung.rung == "none")
                not_measured(rung.probe);
            info_.rungs.push_back(std::move(rung));
        }
    if (batch.idents.size() == before)
        return;
    std::string json = topology_json(read_sysfs(), *programs_);
    if (json != info_.topology_json) {
        info_.topology_json = json;
        batch.topology_json.push_back(std::move(json));
    }
}

void LiveSession::sample(Batch &batch, uint64_t now_ns)
{
    if (now_ns >= next_gauge_ns_) {
        next_gauge_ns_ = now_ns + options_.gauge_interval_ms * 1'000'000ULL;
        sampler_->gauges(idents_.live_spaces(), idents_.live_hctxs(), now_ns, batch);
        sampler_->mark_stuck(batch.gauges, now_ns);
        drain_->losses(now_ns, batch.losses);
    }
    if (now_ns >= next_counters_ns_) {
        next_counters_ns_ = now_ns + counter_interval_ms_.load() * 1'000'000ULL;
        histograms_->read(now_ns, batch.histograms);
        sampler_->counters(now_ns, false, batch.counters);
        if (moments_)
            moments_->read(idents_.live_spaces(), now_ns, batch);
    }
}

// Detached: what is still in the rings, the last counters, waits that have not ended.
void LiveSession::finish(Batch &batch)
{
    const Programs::Misses misses = programs_->misses();
    programs_->detach();
    for (int turn = 0; turn < final_turns; turn++) {
        drain_->run(batch, SIZE_MAX);
        if (!drain_->pending() && turn > 1)
            break;
        usleep(1000);
    }
    const uint64_t now_ns = base::now_mono_ns();
    idents_.poll(*programs_, now_ns, batch.idents);
    histograms_->read(now_ns, batch.histograms);
    sampler_->counters(now_ns, true, batch.counters);
    sampler_->open_waits(now_ns, batch.waits);
    drain_->losses(now_ns, batch.losses);
    books_ = drain_->books();
    books_.missed = misses.count;
    books_.complete = true;
    info_.end_mono_ns = now_ns;
    info_.end_real_ns = base::now_real_ns();
    if (misses.kprobes_unknown)
        info_.not_measured.push_back("events that kprobes missed");
    if (programs_->globals().ident_full)
        info_.not_measured.push_back(fmt::format("{} objects without room", programs_->globals().ident_full));
    if (programs_->globals().hist_full)
        info_.not_measured.push_back(fmt::format("{} durations without a histogram", programs_->globals().hist_full));
    if (programs_->globals().waits_full)
        info_.not_measured.push_back(fmt::format("{} waits without room", programs_->globals().waits_full));
    if (programs_->globals().waits_broken)
        info_.not_measured.push_back(fmt::format("{} waits whose end was missed", programs_->globals().waits_broken));
    done_ = true;
}

std::expected<bool, Error> LiveSession::next(Batch &batch)
{
    batch.clear();
    if (done_)
        return false;
    const uint64_t now_ns = base::now_mono_ns();
    look_around(batch, now_ns);
    if (stop_.load()) {
        finish(batch);
        return true;
    }
    if (!drain_->run(batch, drain_budget_bytes) && now_ns < next_gauge_ns_)
        usleep(poll_us);
    sample(batch, base::now_mono_ns());
    const uint64_t missed = books_.missed;
    books_ = drain_->books();
    books_.missed = missed;
    return true;
}

std::expected<std::unique_ptr<Session>, Error> Session::open(const Options &options)
{
    auto session = std::make_unique<LiveSession>();
    if (auto ok = session->start(options); !ok)
        return std::unexpected(ok.error());
    return session;
}

} // namespace blktag::capture
