// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of the text report; only for src/report. Input: Snapshot and its parts. Output: lines on a
// Page.
#pragma once

#include "blktag/snapshot.hpp"
#include "report/layout.hpp"
#include "report/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blktag::report {

inline constexpr size_t label_columns = 14;

// Sections that had nothing to show.
struct Silent {
    std::vector<std::string> zero;
    std::vector<std::string> not_measured;
    // Files `name` under one of the two: measured and zero, or not measured at all.
    void add(bool measured, std::string_view name)
    {
        (measured ? zero : not_measured).emplace_back(name);
    }
    void print(Page &page, size_t indent) const;
};

void print_head(Page &page, const Snapshot &snapshot);
void print_totals(Page &page, const Snapshot &snapshot);
void print_set(Page &page, const Snapshot &snapshot, const SetStats &set);
void print_queue(Page &page, const Snapshot &snapshot, const QueueStats &queue,
                 const TextOptions &options);
void print_waits(Page &page, const QueueStats &queue, Silent &silent);
void print_latency(Page &page, const Latency &latency, size_t indent);
void print_operations(Page &page, const std::vector<OpStats> &ops, size_t indent);
void print_dispatch(Page &page, const QueueStats &queue, Silent &silent);
void print_batches(Page &page, const QueueStats &queue, Silent &silent);
void print_budget(Page &page, const QueueStats &queue, Silent &silent);
void print_not_tags(Page &page, const QueueStats &queue, Silent &silent);
void print_tasks(Page &page, const Snapshot &snapshot);

// "limit 32 of 64, held 41"
std::string moment_text(bt_cause cause, const WaitMoment &moment);
bool idle(const QueueStats &queue);

} // namespace blktag::report
