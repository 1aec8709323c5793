// SPDX-License-Identifier: GPL-2.0-or-later
// View 6: what queue_rqs carries, why it carries nothing, and polling. Input: Facts. Output: Table.
#include "view/format.hpp"
#include "view/views.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::view {

namespace {

constexpr std::array size_counters{BT_C_batch_size_1, BT_C_batch_size_2,  BT_C_batch_size_4,
                                   BT_C_batch_size_8, BT_C_batch_size_16, BT_C_batch_size_32,
                                   BT_C_batch_size_64};

std::vector<Column> columns()
{
    return {
        {"object", "queue/hctx", "Request queue, and its hardware contexts below it.", 16, false,
         0},
        {"calls", "batches/s", "queue_rqs calls per second. Exact, from the driver's own function.",
         9, true, 1},
        {"mean", "mean", "Requests offered per call. Exact.", 5, true, 2},
        {"left", "left %",
         "Of the requests offered: left on the list by the driver, to be issued "
         "one by one. Exact.",
         6, true, 3},
        {"sizes", "1 2 4 8163264",
         "Calls by number of requests, up to 1, 2, 4, 8, 16, 32 and "
         "more; the highest bar is the most frequent. Exact.",
         13, false, 6},
        {"direct", "alone/s", "Requests issued one by one without insertion, per second. Exact.", 7,
         true, 7},
        {"inversions", "invert %",
         "Of the requests offered: neighbours in reverse order, the "
         "second ends where the first begins. Exact.",
         8, true, 10},
        {"polls", "polls/s", "Calls of the driver's poll op per second. Exact.", 7, true, 8},
        {"hits", "hits %", "Of the polls: those that found completions. Exact.", 6, true, 9},
        {"polled", "polled/s", "Requests issued as polled, per second. Exact.", 8, true, 11},
        {"complete", "donebatch/s", "Batched completions per second (blk_mq_put_tags). Exact.", 11,
         true, 12},
        {"why", "why not used", "Why queue_rqs carried nothing although requests were issued.", 28,
         false, 4},
    };
}

std::string sizes_text(const Counters &counters, bool ascii)
{
    std::array<uint64_t, size_counters.size()> n{};
    for (size_t i = 0; i < n.size(); ++i)
        n[i] = counters.get(size_counters[i]).value_or(0);
    const uint64_t most = *std::max_element(n.begin(), n.end());
    if (most == 0)
        return nothing_text;
    constexpr std::array<const char *, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string out;
    for (const uint64_t count : n) {
        const size_t level = count ? std::max<size_t>(1, static_cast<size_t>(count * 8 / most)) : 0;
        if (ascii)
            out += count ? static_cast<char>('1' + level) : '.';
        else
            out += count ? blocks[level] : "·";
        out += ' ';
    }
    out.pop_back();
    return out;
}

template<class T>
void add_cells(TableRow &row, const T &object, const Facts &facts, const QueueStats *queue,
               bool ascii)
{
    const Counters &c = object.counters;
    const auto rate = [&](bt_counter counter) {
        return number_cell(facts.rate(c.get(counter)));
    };
    const auto share = [&](bt_counter part, bt_counter whole) {
        if (!c.get(part) || !c.get(whole))
            return not_measured_cell();
        return percent_cell(ratio(c.get(part), c.get(whole)), 0.1, 0.5);
    };
    auto &cells = row.cells;
    cells.push_back(rate(BT_C_batches));
    const auto mean = ratio(c.get(BT_C_batch_requests), c.get(BT_C_batches));
    cells.push_back(!c.get(BT_C_batches) ? not_measured_cell()
                    : mean               ? number_cell(mean)
                                         : nothing_cell());
    cells.push_back(share(BT_C_batch_left, BT_C_batch_requests));
    cells.push_back(c.get(BT_C_batches) ? text_cell(sizes_text(c, ascii))
                                        : not_measured_cell());
    cells.push_back(rate(BT_C_direct_issues));
    cells.push_back(share(BT_C_batch_inversions, BT_C_batch_requests));
    if (queue) {
        const auto polls = c.get(BT_C_poll_calls);
        const auto hits = ratio(c.get(BT_C_poll_hits), polls);
        cells.push_back(rate(BT_C_poll_calls));
        cells.push_back(
            !polls ? not_measured_cell()
            : hits ? TableCell{percent(*hits), *hits < 0.1 ? Role::warn : Role::normal, *hits}
                   : nothing_cell());
    } else {
        cells.push_back(text_cell(""));
        cells.push_back(text_cell(""));
    }
    cells.push_back(rate(BT_C_polled));
    cells.push_back(rate(BT_C_complete_batches));
    cells.push_back(text_cell(queue ? queue->batches_unused_why : "", Role::warn));
}

} // namespace

Table batches_table(const Facts &facts, const UiState &state)
{
    return queue_tree(
        facts, state, columns(),
        [&](TableRow &row, const QueueStats &queue) {
            add_cells(row, queue, facts, &queue, state.ascii);
        },
        [&](TableRow &row, const HctxStats &hctx) {
            row.cells.push_back(hctx_cell(hctx, Role::normal));
            add_cells(row, hctx, facts, nullptr, state.ascii);
        });
}

} // namespace blktag::view
