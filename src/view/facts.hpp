// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups that several views need, made once a frame. Input: Screen. Output: by id: gauges, waits
// under way, holders.
#pragma once

#include "view/frame.hpp"
#include "view/screen.hpp"
#include "view/state.hpp"
#include "view/table.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace blktag::view {

struct WaitingNow {
    uint64_t tasks = 0;  // asleep for a tag
    uint64_t parked = 0; // hctxs
    uint64_t oldest_ns = 0;
};

// Points into the Screen, which must live longer.
class Facts {
  public:
    explicit Facts(const Screen &screen);
    // The last interval, or all since the start before there is one.
    [[nodiscard]] const Snapshot &shown() const { return *shown_; }
    [[nodiscard]] const Snapshot &total() const { return *total_; }
    [[nodiscard]] const UnderWay *under_way() const
    {
        return total_->under_way ? &*total_->under_way : nullptr;
    }
    [[nodiscard]] double seconds() const; // of shown(); 0 = no time passed
    // What its counters cover: less, where a recording has them less often than it is stepped.
    [[nodiscard]] double counted_seconds() const;
    [[nodiscard]] const SpaceStats *space(uint16_t id) const;
    [[nodiscard]] const HctxStats *total_hctx(uint16_t id) const;
    [[nodiscard]] const QueueStats *total_queue(uint16_t id) const;
    [[nodiscard]] std::string queue_name(uint16_t id) const;
    [[nodiscard]] std::string hctx_name(uint16_t id) const; // "nullb0/0"
    // nullopt where nobody looked at what is under way.
    [[nodiscard]] std::optional<WaitingNow> waiting_on_hctx(uint16_t id) const;
    [[nodiscard]] std::optional<WaitingNow> waiting_on_queue(const QueueStats &queue) const;
    // The driver tag spaces of a queue, each once.
    [[nodiscard]] std::vector<const SpaceStats *> spaces_of(const QueueStats &queue) const;
    // Per second; nullopt where not measured or no time passed.
    [[nodiscard]] std::optional<double> rate(std::optional<uint64_t> count) const;

  private:
    const Snapshot *total_;
    const Snapshot *shown_;
    std::unordered_map<uint16_t, const SpaceStats *> spaces_;
    std::unordered_map<uint16_t, const HctxStats *> hctxs_;
    std::unordered_map<uint16_t, const QueueStats *> queues_;
    std::unordered_map<uint16_t, WaitingNow> waiting_;
};

// a / b; nullopt where either is not measured or b is 0.
std::optional<double> ratio(std::optional<uint64_t> a, std::optional<uint64_t> b);
// The space that most tasks wait for now, else the one with the largest share held; BT_NO_ID
// without any.
uint16_t worst_space(const Facts &facts);
// "fio/412", "412", "?" (no task known).
std::string task_text(const TaskName &task);
// The most a queue may hold of a space that `users` share: hctx_may_queue's rule.
uint32_t fair_share(uint32_t depth, uint32_t users);

// What a cell says where nothing measured it, and where there was nothing to measure.
TableCell not_measured_cell();
TableCell nothing_cell();
// A cell of a count that may not be measured.
TableCell number_cell(std::optional<double> value, Role role = Role::normal);
TableCell percent_cell(std::optional<double> share, double warn = 2, double bad = 2);
TableCell time_cell(std::optional<uint64_t> ns, bool measured = true,
                    uint64_t warn_ns = UINT64_MAX);
TableCell text_cell(std::string text, Role role = Role::normal);

// Key of a row: "q3", "h12", "t412".
std::string queue_key(uint16_t id);
std::string hctx_key(uint16_t id);
// Whether a queue's hctxs are rows too: few are, unless toggled.
bool is_open(const QueueStats &queue, const UiState &state);

inline constexpr const char *no_queue_text = "no request queue was seen yet";
// Rows of a queue and of an hctx below it, still without cells.
TableRow queue_row(const QueueStats &queue, const UiState &state, std::string search);
TableRow hctx_row(const QueueStats &queue, const HctxStats &hctx);
TableCell hctx_cell(const HctxStats &hctx, Role role);
// Every queue by name and, where it is open, its hctxs. fill_queue adds all cells but the name,
// fill_hctx all of them.
Table queue_tree(const Facts &facts, const UiState &state, std::vector<Column> columns,
                 const std::function<void(TableRow &, const QueueStats &)> &fill_queue,
                 const std::function<void(TableRow &, const HctxStats &)> &fill_hctx);

} // namespace blktag::view
