// SPDX-License-Identifier: GPL-2.0-or-later
// What is held side by side, and how sure a difference is. Input: Snapshots, their slices. Output:
// metrics with bootstrap intervals.
#include "compare/parts.hpp"

#include <algorithm>
#include <cmath>

namespace blktag::compare {

namespace {

double to_double(uint64_t value)
{
    return static_cast<double>(value);
}

double count(const Snapshot &s, bt_counter counter)
{
    return to_double(s.counters.get(counter).value_or(0));
}

double count(std::optional<uint64_t> value)
{
    return to_double(value.value_or(0));
}

Quotient mean_of(const Distribution &d)
{
    return {to_double(d.sum_ns), to_double(d.count)};
}

Quotient quantile_of(const std::optional<Latency> &latency, double q)
{
    const auto value = latency ? latency->whole.quantile_ns(q) : std::nullopt;
    return value ? Quotient{to_double(*value), 1} : Quotient{};
}

Quotient phase_of(const Snapshot &s, Phase phase)
{
    return s.latency ? mean_of(s.latency->at(phase)) : Quotient{};
}

// The slices from the first request that ended to the last: recordings begin before the load and
// end after it, and how long that took is no difference between them.
struct Busy {
    uint64_t first = 0, end = 0;
};

Busy busy_slices(const Timeline &timeline)
{
    const auto idle = [&](uint64_t i) {
        return std::ranges::none_of(timeline.hctxs, [i](const HctxTimeline &hctx) {
            return i < hctx.slices.size() && hctx.slices[i].requests != 0;
        });
    };
    Busy out{0, timeline.nr_slices};
    while (out.end > 0 && idle(out.end - 1))
        --out.end;
    while (out.first < out.end && idle(out.first))
        ++out.first;
    return out;
}

double seconds(const Snapshot &s)
{
    const Busy busy = busy_slices(s.timeline);
    const uint64_t busy_ns = (busy.end - busy.first) * s.timeline.slice_ns;
    // less than a few slices is known to no better than one
    const bool told = busy.end - busy.first >= 8;
    return to_double(told ? busy_ns : s.recording.duration_ns) / 1e9;
}

template<bt_cause cause>
Quotient waits_by(const Snapshot &s)
{
    return {count(s.waits.by_cause[cause].count), count(s.totals.gets)};
}

template<bt_cause cause>
Quotient slice_waits_by(const Slice &s, double)
{
    return {to_double(s.waits_by_cause[cause]), to_double(s.requests)};
}

std::vector<Definition> rates()
{
    return {
        {"iops", "1/s",
         [](const Snapshot &s) {
             return Quotient{count(s.totals.completed), seconds(s)};
         },
         [](const Slice &s, double ns) {
             return Quotient{to_double(s.requests), ns / 1e9};
         }},
        {"throughput", "B/s",
         [](const Snapshot &s) {
             return Quotient{count(s, BT_C_complete_bytes), seconds(s)};
         },
         [](const Slice &s, double ns) {
             return Quotient{to_double(s.bytes), ns / 1e9};
         }},
        {"request_size", "B",
         [](const Snapshot &s) {
             return Quotient{count(s, BT_C_complete_bytes), count(s.totals.completed)};
         },
         [](const Slice &s, double) {
             return Quotient{to_double(s.bytes), to_double(s.requests)};
         }},
        {"in_flight", "requests",
         [](const Snapshot &s) {
             return Quotient{s.latency ? to_double(s.latency->at(Phase::device).sum_ns) / 1e9 : 0,
                             s.latency ? seconds(s) : 0};
         },
         [](const Slice &s, double ns) {
             return Quotient{to_double(s.device_ns), ns};
         }},
    };
}

std::vector<Definition> latencies()
{
    return {
        {"latency_mean", "ns",
         [](const Snapshot &s) { return s.latency ? mean_of(s.latency->whole) : Quotient{}; },
         [](const Slice &s, double) {
             return Quotient{to_double(s.whole_ns), to_double(s.requests)};
         }},
        {"latency_p50", "ns", [](const Snapshot &s) { return quantile_of(s.latency, 0.5); },
         nullptr},
        {"latency_p99", "ns", [](const Snapshot &s) { return quantile_of(s.latency, 0.99); },
         nullptr},
        {"submit_wait_mean", "ns",
         [](const Snapshot &s) { return phase_of(s, Phase::submit_wait); },
         [](const Slice &s, double) {
             return Quotient{to_double(s.wait_ns), to_double(s.requests)};
         }},
        {"queued_mean", "ns", [](const Snapshot &s) { return phase_of(s, Phase::queued); },
         nullptr},
        {"dispatch_wait_mean", "ns",
         [](const Snapshot &s) { return phase_of(s, Phase::dispatch_wait); }, nullptr},
        {"device_mean", "ns", [](const Snapshot &s) { return phase_of(s, Phase::device); },
         [](const Slice &s, double) {
             return Quotient{to_double(s.device_ns), to_double(s.requests)};
         }},
        {"completion_mean", "ns", [](const Snapshot &s) { return phase_of(s, Phase::completion); },
         nullptr},
    };
}

std::vector<Definition> waits()
{
    return {
        {"wait_share", "share",
         [](const Snapshot &s) {
             return Quotient{count(s.totals.submit_waits), count(s.totals.gets)};
         },
         [](const Slice &s, double) {
             return Quotient{to_double(s.waits), to_double(s.requests)};
         }},
        {"waits_exhausted", "share", waits_by<BT_CAUSE_EXHAUSTED>,
         slice_waits_by<BT_CAUSE_EXHAUSTED>},
        {"waits_fair_share", "share", waits_by<BT_CAUSE_FAIR_SHARE>,
         slice_waits_by<BT_CAUSE_FAIR_SHARE>},
        {"waits_sched_depth", "share", waits_by<BT_CAUSE_SCHED_DEPTH>,
         slice_waits_by<BT_CAUSE_SCHED_DEPTH>},
        {"wait_length", "ns", [](const Snapshot &s) { return mean_of(s.waits.time); },
         [](const Slice &s, double) {
             return Quotient{to_double(s.wait_ns), to_double(s.waits)};
         }},
        {"dispatch_waits", "share",
         [](const Snapshot &s) {
             return Quotient{count(s.totals.dispatch_waits), count(s.totals.issued)};
         },
         [](const Slice &s, double) {
             return Quotient{to_double(s.dispatch_waits), to_double(s.requests)};
         }},
    };
}

std::vector<Definition> dispatch()
{
    return {
        {"runs_per_request", "runs",
         [](const Snapshot &s) {
             return Quotient{count(s.totals.runs), count(s.totals.issued)};
         },
         [](const Slice &s, double) {
             return Quotient{to_double(s.runs), to_double(s.requests)};
         }},
        {"runs_empty", "share",
         [](const Snapshot &s) {
             return Quotient{count(s, BT_C_runs_empty), count(s.totals.runs)};
         },
         [](const Slice &s, double) {
             return Quotient{to_double(s.runs_empty), to_double(s.runs)};
         }},
        {"restarts_per_request", "restarts",
         [](const Snapshot &s) {
             return Quotient{count(s.totals.restarts), count(s.totals.issued)};
         },
         [](const Slice &s, double) {
             return Quotient{to_double(s.restarts), to_double(s.requests)};
         }},
        {"requeues_per_request", "requeues",
         [](const Snapshot &s) {
             return Quotient{count(s, BT_C_requeues), count(s.totals.issued)};
         },
         [](const Slice &s, double) {
             return Quotient{to_double(s.requeues), to_double(s.requests)};
         }},
        {"budget_refused", "share",
         [](const Snapshot &s) {
             const double refused = count(s.totals.budget_refused);
             return Quotient{refused, refused + count(s, BT_C_budget_taken)};
         },
         nullptr},
        {"batch_size", "requests",
         [](const Snapshot &s) {
             return Quotient{count(s, BT_C_batch_requests), count(s.totals.batches)};
         },
         nullptr},
        {"throttle_time", "tasks",
         [](const Snapshot &s) {
             return Quotient{count(s.other[BT_OTHER_THROTTLE].total_ns) / 1e9, seconds(s)};
         },
         nullptr},
    };
}

uint64_t next_random(uint64_t &state)
{
    uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

constexpr size_t max_groups = 32;
constexpr size_t min_samples_slices = 6; // fewer neighbours in time say nothing of noise
constexpr size_t min_samples_runs = 3;

// Consecutive slices in groups, so that what drags on from slice to slice stays in one sample. The
// first and the last slice are cut by the load's ends and left out.
std::vector<Quotient> slice_samples(const Definition &d, const Snapshot &s)
{
    std::vector<Quotient> out;
    const Busy busy = busy_slices(s.timeline);
    const uint64_t n = busy.end - busy.first;
    if (!d.of_slice || n < min_samples_slices + 2)
        return out;
    const uint64_t used = n - 2;
    const uint64_t groups = std::min<uint64_t>(max_groups, used);
    out.resize(groups);
    const auto length = to_double(s.timeline.slice_ns);
    for (uint64_t i = 0; i < used; ++i) {
        const Quotient q = d.of_slice(s.timeline.whole(busy.first + i + 1), length);
        Quotient &into = out[i * groups / used];
        into.part += q.part;
        into.whole += q.whole;
    }
    return out;
}

std::vector<Quotient> samples_of(const Definition &d, const Side &side, bool by_runs)
{
    std::vector<Quotient> out;
    for (const Snapshot *run : side.runs) {
        if (by_runs) {
            out.push_back(d.of_run(*run));
            continue;
        }
        const auto slices = slice_samples(d, *run);
        out.insert(out.end(), slices.begin(), slices.end());
    }
    std::erase_if(out, [](const Quotient &q) { return q.whole <= 0; });
    return out;
}

std::optional<double> value_of(const std::vector<Quotient> &samples)
{
    double part = 0;
    double whole = 0;
    for (const Quotient &q : samples) {
        part += q.part;
        whole += q.whole;
    }
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

std::optional<double> spread_of(const std::vector<Quotient> &samples)
{
    if (samples.size() < 2)
        return std::nullopt;
    double sum = 0;
    double squares = 0;
    for (const Quotient &q : samples) {
        sum += q.part / q.whole;
        squares += q.part / q.whole * (q.part / q.whole);
    }
    const auto n = to_double(samples.size());
    const double mean = sum / n;
    const double variance = std::max(0.0, (squares - n * mean * mean) / (n - 1));
    return mean > 0 ? std::optional(std::sqrt(variance) / mean) : std::nullopt;
}

double resampled(const std::vector<Quotient> &samples, uint64_t &random)
{
    double part = 0;
    double whole = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
        const Quotient &q = samples[next_random(random) % samples.size()];
        part += q.part;
        whole += q.whole;
    }
    return whole > 0 ? part / whole : 0;
}

void test(Cell &cell, const std::vector<Quotient> &base, const std::vector<Quotient> &other,
          const Options &options, size_t min_samples)
{
    cell.change = Change::untested;
    if (base.size() < min_samples || other.size() < min_samples || options.resamples < 10)
        return;
    uint64_t random = options.seed;
    std::vector<double> ratios;
    for (uint32_t i = 0; i < options.resamples; ++i) {
        const double a = resampled(base, random);
        const double b = resampled(other, random);
        if (a > 0)
            ratios.push_back(b / a);
    }
    if (ratios.size() * 2 < options.resamples)
        return;
    std::sort(ratios.begin(), ratios.end());
    const double tail = (1 - options.confidence) / 2;
    const auto last = to_double(ratios.size() - 1);
    cell.ratio_low = ratios[static_cast<size_t>(std::floor(tail * last))];
    cell.ratio_high = ratios[static_cast<size_t>(std::ceil((1 - tail) * last))];
    cell.change = *cell.ratio_low > 1    ? Change::more
                  : *cell.ratio_high < 1 ? Change::less
                                         : Change::none;
}

} // namespace

const std::vector<Definition> &definitions()
{
    static const std::vector<Definition> all = [] {
        std::vector<Definition> out;
        for (const auto &part : {rates(), latencies(), waits(), dispatch()})
            out.insert(out.end(), part.begin(), part.end());
        return out;
    }();
    return all;
}

Metric measure(const Definition &d, const std::vector<Side> &sides, const Options &options,
               bool by_runs)
{
    Metric out{std::string(d.id), std::string(d.unit), {}};
    std::vector<Quotient> base;
    for (const Side &side : sides) {
        Cell &cell = out.sides.emplace_back();
        std::vector<Quotient> runs;
        for (const Snapshot *run : side.runs)
            runs.push_back(d.of_run(*run));
        cell.value = value_of(runs);
        const std::vector<Quotient> samples = samples_of(d, side, by_runs);
        cell.samples = static_cast<uint32_t>(samples.size());
        cell.spread = spread_of(samples);
        if (&side == &sides.front()) {
            base = samples;
            continue;
        }
        const auto &first = out.sides.front().value;
        if (first && cell.value && *first > 0)
            cell.ratio = *cell.value / *first;
        test(cell, base, samples, options, by_runs ? min_samples_runs : min_samples_slices);
        // From none to some, or back: no ratio, but no noise either.
        if (first && cell.value && (*first == 0) != (*cell.value == 0))
            cell.change = *first == 0 ? Change::more : Change::less;
        else if (first && cell.value && *first == 0 && *cell.value == 0)
            cell.change = Change::none;
    }
    return out;
}

} // namespace blktag::compare
