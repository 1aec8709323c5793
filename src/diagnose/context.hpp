// SPDX-License-Identifier: GPL-2.0-or-later
// What the rules share; only for src/diagnose. Input: Snapshot, Thresholds. Output: findings being
// put together, and answers to questions that several rules ask.
#pragma once

#include "diagnose/diagnose.hpp"

#include <functional>
#include <string>
#include <vector>

namespace blktag::diagnose {

// The part of the requests' lives that one queue's waits took, and how many waited.
struct WaitLoad {
    uint64_t waits = 0;
    uint64_t gets = 0;
    uint64_t total_ns = 0;
    double share = 0;         // of gets
    double latency_share = 0; // of the summed latency
};

class Context {
  public:
    Context(const Snapshot &snapshot, const Thresholds &thresholds, std::vector<Finding> &out)
        : s(snapshot), t(thresholds), out_(out)
    {}

    const Snapshot &s;
    const Thresholds &t;

    // Starts a finding of this kind; the reference is good until the next call.
    Finding &add(std::string_view id, Where where, double confidence);
    [[nodiscard]] const SetStats *set(uint16_t set_id) const;
    [[nodiscard]] const SpaceStats *space(uint16_t space_id) const;
    [[nodiscard]] std::vector<const QueueStats *> queues_of(uint16_t set_id) const;
    [[nodiscard]] std::vector<const HctxStats *> hctxs_of(const SpaceStats &space) const;
    [[nodiscard]] Where at(const QueueStats &queue) const;
    [[nodiscard]] Where at(const QueueStats &queue, const HctxStats &hctx) const;
    [[nodiscard]] Where at_set(uint16_t set_id) const;
    // submit_waits with one cause (nullopt: all).
    [[nodiscard]] WaitLoad load(const QueueStats &queue, std::optional<bt_cause> cause) const;
    [[nodiscard]] bool matters(const WaitLoad &load) const;
    // When the first record of what `count` counts was seen on any hctx of these queues.
    [[nodiscard]] std::optional<uint64_t>
    since(const std::vector<const QueueStats *> &queues,
          const std::function<uint64_t(const Slice &)> &count) const;
    [[nodiscard]] uint64_t end_ns() const;

  private:
    std::vector<Finding> &out_;
};

// How device time follows the number in flight, from the timeline of these queues' hctxs.
struct DepthResponse {
    double slope = 0; // of the logarithms: 0 = parallel device, 1 = one request at a time
    double in_flight_low = 0, in_flight_high = 0;
    double device_low_ns = 0, device_high_ns = 0;
    double rate_low = 0, rate_high = 0; // requests per second
};
std::optional<DepthResponse> depth_response(const Snapshot &snapshot,
                                            const std::vector<const QueueStats *> &queues);

inline double to_double(uint64_t value) // exact below 2^53
{
    return static_cast<double>(value);
}
uint64_t count_of(const Counters &counters, bt_counter counter); // 0 where not measured
double ratio(uint64_t part, uint64_t whole);                     // 0 of nothing
std::string percent(double share);                               // "12 %", "3.1 %"
std::string plural(uint64_t count, std::string_view noun);       // "1 task", "2 tasks"
std::string number(double value);                                // "6.3", "412"
// How to give this driver more tags.
std::string depth_remedy(const QueueStats &queue, uint64_t depth);

void find_stuck(Context &c);
void find_leaks(Context &c);
void find_stalls(Context &c);
void find_requeues(Context &c);
void find_depth(Context &c);
void find_shares(Context &c);
void find_mapping(Context &c);
void find_batches(Context &c);
void find_lookalikes(Context &c);

// Roots first; victims of a root on the same tag set dropped.
void order(std::vector<Finding> &findings);

} // namespace blktag::diagnose
