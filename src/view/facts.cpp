// SPDX-License-Identifier: GPL-2.0-or-later
// Indices over a Screen. Input: Screen. Output: look-ups and common cells.
#include "view/facts.hpp"

#include "view/format.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace blktag::view {

namespace {

constexpr size_t open_hctxs = 8; // a queue with more is one row until it is opened

void count(WaitingNow &to, const WaitNow &wait)
{
    ++(wait.dispatch ? to.parked : to.tasks);
    to.oldest_ns = std::max(to.oldest_ns, wait.age_ns);
}

} // namespace

Facts::Facts(const Screen &screen)
    : total_(screen.total.get()), shown_(screen.interval ? screen.interval.get() : total_)
{
    for (const SetStats &set : total_->sets)
        for (const SpaceStats &space : set.spaces)
            spaces_[space.space_id] = &space;
    for (const QueueStats &queue : total_->queues) {
        queues_[queue.queue_id] = &queue;
        for (const HctxStats &hctx : queue.hctxs)
            hctxs_[hctx.hctx_id] = &hctx;
    }
    if (total_->under_way)
        for (const WaitNow &wait : total_->under_way->waits)
            count(waiting_[wait.hctx_id], wait);
}

double Facts::seconds() const
{
    return static_cast<double>(shown_->recording.duration_ns) / 1e9;
}

double Facts::counted_seconds() const
{
    return static_cast<double>(shown_->recording.counters_ns) / 1e9;
}

const SpaceStats *Facts::space(uint16_t id) const
{
    const auto found = spaces_.find(id);
    return found == spaces_.end() ? nullptr : found->second;
}

const HctxStats *Facts::total_hctx(uint16_t id) const
{
    const auto found = hctxs_.find(id);
    return found == hctxs_.end() ? nullptr : found->second;
}

const QueueStats *Facts::total_queue(uint16_t id) const
{
    const auto found = queues_.find(id);
    return found == queues_.end() ? nullptr : found->second;
}

std::string Facts::queue_name(uint16_t id) const
{
    const QueueStats *queue = total_queue(id);
    return queue ? queue->name : "?";
}

std::string Facts::hctx_name(uint16_t id) const
{
    const HctxStats *hctx = total_hctx(id);
    return hctx ? hctx->label : fmt::format("hctx#{}", id);
}

std::optional<WaitingNow> Facts::waiting_on_hctx(uint16_t id) const
{
    if (!under_way())
        return std::nullopt;
    const auto found = waiting_.find(id);
    return found == waiting_.end() ? WaitingNow{} : found->second;
}

std::optional<WaitingNow> Facts::waiting_on_queue(const QueueStats &queue) const
{
    if (!under_way())
        return std::nullopt;
    WaitingNow sum;
    for (const HctxStats &hctx : queue.hctxs) {
        const WaitingNow one = *waiting_on_hctx(hctx.hctx_id);
        sum.tasks += one.tasks;
        sum.parked += one.parked;
        sum.oldest_ns = std::max(sum.oldest_ns, one.oldest_ns);
    }
    return sum;
}

std::vector<const SpaceStats *> Facts::spaces_of(const QueueStats &queue) const
{
    std::vector<const SpaceStats *> out;
    for (const HctxStats &hctx : queue.hctxs)
        if (const SpaceStats *s = space(hctx.space_id))
            if (std::find(out.begin(), out.end(), s) == out.end())
                out.push_back(s);
    return out;
}

std::optional<double> Facts::rate(std::optional<uint64_t> count) const
{
    if (!count || counted_seconds() <= 0)
        return std::nullopt;
    return static_cast<double>(*count) / counted_seconds();
}

std::optional<double> ratio(std::optional<uint64_t> a, std::optional<uint64_t> b)
{
    if (!a || !b || *b == 0)
        return std::nullopt;
    return static_cast<double>(*a) / static_cast<double>(*b);
}

uint16_t worst_space(const Facts &facts)
{
    std::map<uint16_t, uint64_t> waiting;
    if (facts.under_way())
        for (const WaitNow &wait : facts.under_way()->waits)
            ++waiting[wait.space_id];
    std::tuple<uint64_t, double, bool> most{0, -1, false};
    uint16_t worst = BT_NO_ID;
    for (const SetStats &set : facts.total().sets)
        for (const SpaceStats &space : set.spaces) {
            if (!space.gauge || space.gauge->depth == 0)
                continue;
            const double share = static_cast<double>(space.gauge->held_last) / space.gauge->depth;
            const std::tuple<uint64_t, double, bool> hurt{
                waiting.contains(space.space_id) ? waiting[space.space_id] : 0, share,
                !space.sched};
            if (worst == BT_NO_ID || hurt > most) {
                most = hurt;
                worst = space.space_id;
            }
        }
    return worst;
}

std::string task_text(const TaskName &task)
{
    if (task.tid == 0)
        return "?";
    return task.comm.empty() ? fmt::format("{}", task.tid)
                             : fmt::format("{}/{}", task.comm, task.tid);
}

uint32_t fair_share(uint32_t depth, uint32_t users)
{
    if (users < 2 || depth < 2)
        return depth;
    return std::min(depth, std::max((depth + users - 1) / users, 4U));
}

TableCell not_measured_cell()
{
    return {not_measured_text, Role::dim, -1};
}

TableCell nothing_cell()
{
    return {nothing_text, Role::dim, 0};
}

TableCell number_cell(std::optional<double> value, Role role)
{
    if (!value)
        return not_measured_cell();
    return {amount(*value), *value > 0 ? role : Role::normal, *value};
}

TableCell percent_cell(std::optional<double> share, double warn, double bad)
{
    if (!share)
        return {nothing_text, Role::dim, -1};
    const Role role = *share >= bad ? Role::bad : *share >= warn ? Role::warn : Role::normal;
    return {percent(*share), role, *share};
}

TableCell time_cell(std::optional<uint64_t> ns, bool measured, uint64_t warn_ns)
{
    if (!measured)
        return not_measured_cell();
    if (!ns)
        return nothing_cell();
    return {duration(*ns), *ns >= warn_ns ? Role::warn : Role::normal, static_cast<double>(*ns)};
}

TableCell text_cell(std::string text, Role role)
{
    return {std::move(text), role, 0};
}

std::string queue_key(uint16_t id)
{
    return fmt::format("q{}", id);
}

std::string hctx_key(uint16_t id)
{
    return fmt::format("h{}", id);
}

TableRow queue_row(const QueueStats &queue, const UiState &state, std::string search)
{
    TableRow row;
    row.key = queue_key(queue.queue_id);
    row.search = std::move(search);
    row.has_children = !queue.hctxs.empty();
    row.open = is_open(queue, state);
    return row;
}

TableRow hctx_row(const QueueStats &queue, const HctxStats &hctx)
{
    TableRow row;
    row.key = hctx_key(hctx.hctx_id);
    row.depth = 1;
    row.search = queue.name;
    return row;
}

TableCell hctx_cell(const HctxStats &hctx, Role role)
{
    return {fmt::format("hctx{}", hctx.hctx_num), role, static_cast<double>(hctx.hctx_num)};
}

Table queue_tree(const Facts &facts, const UiState &state, std::vector<Column> columns,
                 const std::function<void(TableRow &, const QueueStats &)> &fill_queue,
                 const std::function<void(TableRow &, const HctxStats &)> &fill_hctx)
{
    Table table;
    table.columns = std::move(columns);
    table.empty = no_queue_text;
    const std::vector<QueueStats> &queues = facts.shown().queues;
    for (const QueueStats &queue : queues) {
        TableRow row = queue_row(queue, state, queue.driver);
        row.cells.push_back({queue.name, queue.gone ? Role::dim : Role::title,
                             static_cast<double>(&queue - queues.data())});
        fill_queue(row, queue);
        const bool open = row.open;
        table.rows.push_back(std::move(row));
        if (!open)
            continue;
        for (const HctxStats &hctx : queue.hctxs)
            fill_hctx(table.rows.emplace_back(hctx_row(queue, hctx)), hctx);
    }
    return table;
}

bool is_open(const QueueStats &queue, const UiState &state)
{
    const bool usually = queue.hctxs.size() <= open_hctxs;
    return usually != state.toggled.contains(queue_key(queue.queue_id));
}

} // namespace blktag::view
