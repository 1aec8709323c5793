// SPDX-License-Identifier: GPL-2.0-or-later
// queue_rqs, plug caches and polling. Input: counters, hctx types. Output: findings.
#include "diagnose/context.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace blktag::diagnose {

namespace {

void unused(Context &c, const QueueStats &queue)
{
    const uint64_t issued = queue.totals.issued.value_or(0);
    const bool shared = queue.nr_sharing != 0 && queue.batches_unused_why == "tag set shared";
    // Who submits one at a time has nothing to batch; a plug that was told of many gets its tags
    // so.
    const bool batched = count_of(queue.counters, BT_C_gets_batch) * 2 >= issued;
    if (!batched || !queue.offers_queue_rqs || queue.totals.batches.value_or(1) != 0 || !shared ||
        to_double(issued) < c.t.min_requests)
        return;
    Finding &f = c.add("batches_unused", c.at(queue), 0.85);
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.requests; });
    f.summary = fmt::format("batch entry (queue_rqs) used for 0 of {} requests; reason: tag set "
                            "shared by {} queues (this kernel).",
                            issued, queue.nr_sharing + 1);
    f.evidence = {{"issued", to_double(issued), "requests"},
                  {"batches", 0, "calls"},
                  {"queues_on_set", to_double(queue.nr_sharing + 1), "queues"}};
    f.remedies.push_back(
        "one queue per tag set (delete the namespace or disk that is not used), or "
        "a kernel from 6.7 on");
}

void sizes(Context &c, const QueueStats &queue)
{
    const uint64_t batches = queue.totals.batches.value_or(0);
    const uint64_t offered = count_of(queue.counters, BT_C_batch_requests);
    const uint64_t left = count_of(queue.counters, BT_C_batch_left);
    const uint64_t turned = count_of(queue.counters, BT_C_batch_inversions);
    const uint64_t ones = count_of(queue.counters, BT_C_batch_size_1);
    const auto since = [&] {
        return c.since({&queue}, [](const Slice &s) { return s.batches; });
    };
    if (to_double(batches) >= c.t.min_waits && offered > batches &&
        ratio(turned, offered - batches) >= c.t.reversed_share) {
        Finding &f = c.add("batch_reversed", c.at(queue), 0.95);
        f.since_ns = since();
        f.summary = fmt::format("batches {}, mean size {}, issue order reversed in {} of the "
                                "neighbours.",
                                batches, number(ratio(offered, batches)),
                                percent(ratio(turned, offered - batches)));
        f.evidence = {{"batches", to_double(batches), "calls"},
                      {"mean_size", ratio(offered, batches), "requests"},
                      {"reversed_share", ratio(turned, offered - batches), "share"}};
        f.remedies.push_back("a kernel with the fix; no setting changes the order");
    }
    if (to_double(offered) >= c.t.min_requests && ratio(left, offered) >= c.t.left_share) {
        Finding &f = c.add("batch_left", c.at(queue), 0.9);
        f.since_ns = since();
        f.summary = fmt::format("queue_rqs left {} of {} offered requests ({}) to be issued one by "
                                "one.",
                                left, offered, percent(ratio(left, offered)));
        f.evidence = {{"left", to_double(left), "requests"},
                      {"offered", to_double(offered), "requests"},
                      {"left_share", ratio(left, offered), "share"}};
        f.remedies.push_back("submit in smaller batches, or give the driver a deeper queue");
    }
    if (to_double(batches) >= c.t.min_requests && ratio(ones, batches) >= c.t.batch_one_share) {
        Finding &f = c.add("batches_of_one", c.at(queue), 0.9);
        f.since_ns = since();
        f.summary = fmt::format("{} of {} queue_rqs calls carry one request: nothing is batched.",
                                percent(ratio(ones, batches)), batches);
        f.evidence = {{"batches", to_double(batches), "calls"},
                      {"batches_of_one", to_double(ones), "calls"}};
        f.remedies.push_back("submit more requests at a time (io_uring batch, fio iodepth_batch)");
    }
}

void plug_cache(Context &c, const QueueStats &queue)
{
    const uint64_t got = count_of(queue.counters, BT_C_gets_batch);
    const uint64_t back = count_of(queue.counters, BT_C_puts_unused);
    if (to_double(got) < c.t.min_requests || ratio(back, got) < c.t.unused_share)
        return;
    Finding &f = c.add("plug_cache_unused", c.at(queue), 0.8);
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.requests; });
    f.summary = fmt::format("{} of {} tags got in advance for a plug went back unused ({}): others "
                            "had to wait for them meanwhile.",
                            back, got, percent(ratio(back, got)));
    f.evidence = {{"gets_batch", to_double(got), "tags"}, {"puts_unused", to_double(back), "tags"}};
    f.remedies.push_back("submit as many requests as the plug is told to expect");
}

std::string poll_remedy(const QueueStats &queue)
{
    for (const std::string_view driver : {"nvme", "null_blk", "virtio_blk"})
        if (queue.driver == driver)
            return fmt::format("module parameter {}.poll_queues=1 or more", driver);
    return "a driver with poll queues";
}

void polling(Context &c, const QueueStats &queue)
{
    const uint64_t polled = count_of(queue.counters, BT_C_polled);
    const uint64_t calls = count_of(queue.counters, BT_C_poll_calls);
    const uint64_t hits = count_of(queue.counters, BT_C_poll_hits);
    const uint64_t issued = queue.totals.issued.value_or(0);
    const auto poll_queues = std::count_if(queue.hctxs.begin(), queue.hctxs.end(),
                                           [](const HctxStats &h) { return h.type == "poll"; });
    const std::vector<Evidence> evidence{
        {"polled", to_double(polled), "requests"},
        {"poll_calls", to_double(calls), "calls"},
        {"poll_hits", to_double(hits), "calls"},
        {"poll_queues", static_cast<double>(poll_queues), "hctxs"}};
    std::string text;
    std::string_view id;
    if (to_double(calls) >= c.t.min_requests && hits == 0 && poll_queues == 0) {
        id = "polled_no_queue";
        text = fmt::format("polled requests {}; {} poll calls, 0 found work; poll queues: 0.",
                           polled, calls);
    } else if (poll_queues != 0 && queue.counters.get(BT_C_polled) && polled == 0 &&
               to_double(issued) >= c.t.min_requests) {
        id = "poll_queue_unused";
        text = fmt::format("{} poll queue{}, no polled request seen in {}.", poll_queues,
                           poll_queues == 1 ? "" : "s", issued);
    } else if (to_double(polled) >= c.t.min_requests && queue.counters.get(BT_C_poll_calls) &&
               calls == 0) {
        id = "poll_no_poller";
        text = fmt::format("{} polled requests and 0 poll calls: they complete by luck.", polled);
    } else {
        return;
    }
    Finding &f = c.add(id, c.at(queue), 0.9);
    f.summary = text;
    f.evidence = evidence;
    f.since_ns = c.since({&queue}, [](const Slice &s) { return s.requests; });
    f.remedies.push_back(id == "polled_no_queue" ? poll_remedy(queue)
                         : id == "poll_queue_unused"
                             ? "ask for polling (io_uring IORING_SETUP_IOPOLL, fio "
                               "hipri=1), or give the poll queues back"
                             : "reap completions by polling "
                               "(IORING_ENTER_GETEVENTS)");
}

} // namespace

void find_batches(Context &c)
{
    for (const QueueStats &queue : c.s.queues) {
        unused(c, queue);
        sizes(c, queue);
        plug_cache(c, queue);
        polling(c, queue);
    }
}

} // namespace blktag::diagnose
