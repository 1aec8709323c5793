// SPDX-License-Identifier: GPL-2.0-or-later
// The Snapshot's pure questions and names. Input: values of the Snapshot. Output: numbers and fixed
// words.
#include "blktag/snapshot.hpp"

#include <algorithm>
#include <cmath>

namespace blktag {

std::optional<double> Distribution::mean_ns() const
{
    if (count == 0)
        return std::nullopt;
    return std::clamp(static_cast<double>(sum_ns) / static_cast<double>(count),
                      static_cast<double>(min_ns), static_cast<double>(max_ns));
}

std::optional<uint64_t> Distribution::quantile_ns(double q) const
{
    uint64_t binned = 0;
    for (const Bin &bin : bins)
        binned += bin.count;
    if (binned == 0)
        return std::nullopt;
    if (q >= 1)
        return max_ns;
    // The value whose rank, counted from 0.5, is q * n: the middle of a bin that holds everything.
    const double rank = std::max(q, 0.0) * static_cast<double>(binned);
    uint64_t below = 0;
    for (const Bin &bin : bins) {
        if (static_cast<double>(below + bin.count) < rank) {
            below += bin.count;
            continue;
        }
        const uint64_t low = std::max(bin.low_ns, min_ns);
        const uint64_t high = std::max(low, std::min(bin.high_ns - 1, max_ns));
        const double part = (rank - static_cast<double>(below)) / static_cast<double>(bin.count);
        const double inside = std::clamp(part, 0.0, 1.0) * static_cast<double>(high - low);
        return std::min(high, low + static_cast<uint64_t>(std::llround(inside)));
    }
    return max_ns;
}

void Distribution::merge(const Distribution &other)
{
    if (other.count == 0)
        return;
    if (count == 0) {
        *this = other;
        return;
    }
    count += other.count;
    sum_ns = sum_ns + other.sum_ns < sum_ns ? UINT64_MAX : sum_ns + other.sum_ns;
    min_ns = std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    std::vector<Bin> merged;
    merged.reserve(bins.size() + other.bins.size());
    auto a = bins.begin();
    auto b = other.bins.begin();
    while (a != bins.end() || b != other.bins.end()) {
        if (b == other.bins.end() || (a != bins.end() && a->low_ns < b->low_ns)) {
            merged.push_back(*a++);
        } else if (a == bins.end() || b->low_ns < a->low_ns) {
            merged.push_back(*b++);
        } else {
            merged.push_back({a->low_ns, std::max(a->high_ns, b->high_ns), a->count + b->count});
            ++a;
            ++b;
        }
    }
    bins = std::move(merged);
}

std::string_view phase_name(Phase phase)
{
    static constexpr std::array<std::string_view, nr_phases> names{
        "submit_wait", "queued", "dispatch_wait", "device", "completion"};
    const auto i = static_cast<size_t>(phase);
    return i < names.size() ? names[i] : "unknown";
}

std::string_view cause_name(bt_cause cause)
{
    static constexpr std::array<std::string_view, BT_NR_CAUSES> names{
        "exhausted", "fair_share", "sched_depth", "reserved", "stuck"};
    return static_cast<size_t>(cause) < names.size() ? names[static_cast<size_t>(cause)]
                                                     : "unknown";
}

std::string_view op_name(bt_op op)
{
    static constexpr std::array<std::string_view, BT_NR_OPS> names{
        "read", "write", "flush", "discard", "write_zeroes", "zone", "passthrough", "other"};
    return static_cast<size_t>(op) < names.size() ? names[static_cast<size_t>(op)] : "other";
}

std::string_view other_name(bt_other what)
{
    static constexpr std::array<std::string_view, 3> names{"throttle", "enter", "freeze"};
    return static_cast<size_t>(what) < names.size() ? names[static_cast<size_t>(what)] : "unknown";
}

std::string_view counter_name(bt_counter counter)
{
    static constexpr std::array<std::string_view, BT_NR_COUNTERS> names{
#define BT_COUNTER(name, scope, unit, help) #name,
#include "blktag/counters.def"
#undef BT_COUNTER
    };
    return counter < BT_NR_COUNTERS ? names[counter] : "unknown";
}

char counter_scope(bt_counter counter)
{
    static constexpr std::array<char, BT_NR_COUNTERS> scopes{
#define BT_COUNTER(name, scope, unit, help) #scope[0],
#include "blktag/counters.def"
#undef BT_COUNTER
    };
    return counter < BT_NR_COUNTERS ? scopes[counter] : '?';
}

std::string_view hctx_flag_name(size_t bit)
{
    static constexpr std::array<std::string_view, 11> names{
        "stopped",          "tag_active",  "restart", "inactive",
        "dispatch_pending", "run_pending", "parked",  "ctx_pending",
        "requeue",          "quiesced",    "frozen"};
    return bit < names.size() ? names[bit] : "unknown";
}

void Counters::add(const Counters &other)
{
    for (size_t i = 0; i < value.size(); ++i)
        if (other.value[i])
            value[i] = value[i].value_or(0) + *other.value[i];
}

Totals totals_of(const Counters &counters)
{
    Totals t;
    const auto single = counters.get(BT_C_gets_single);
    const auto batch = counters.get(BT_C_gets_batch);
    if (single && batch) {
        const uint64_t given_back = counters.get(BT_C_inactive_retries).value_or(0);
        const uint64_t got = *single + *batch;
        t.gets = got > given_back ? got - given_back : 0;
    }
    t.issued = counters.get(BT_C_issues);
    t.completed = counters.get(BT_C_completes);
    t.submit_waits = counters.get(BT_C_submit_waits);
    t.dispatch_waits = counters.get(BT_C_dispatch_waits);
    t.restarts = counters.get(BT_C_restarts);
    t.runs = counters.get(BT_C_runs);
    t.budget_refused = counters.get(BT_C_budget_refused);
    t.batches = counters.get(BT_C_batches);
    return t;
}

bool Snapshot::impaired() const
{
    return books.lost != 0 || books.produced != books.recorded + books.lost || !damage.empty() ||
           recording.cut || anomalies.malformed != 0;
}

bool Snapshot::measured(std::string_view name) const
{
    return !std::binary_search(not_measured.begin(), not_measured.end(), name);
}

} // namespace blktag
