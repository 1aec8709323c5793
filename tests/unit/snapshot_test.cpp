// SPDX-License-Identifier: GPL-2.0-or-later
// What a Snapshot says of queues, sets, tasks and itself. Input: hand-written traces. Output: test
// results.
#include "support/trace_text.hpp"

#include <gtest/gtest.h>

namespace {

using namespace blktag;

using test::snapshot_of;

std::string queue_json(const std::string &names)
{
    std::string out = "topology {\"queues\":[";
    int id = 0;
    std::string rest = names + " ";
    for (size_t space = 0; (space = rest.find(' ')) != std::string::npos;
         rest.erase(0, space + 1)) {
        const std::string number = std::to_string(id++);
        out += (number == "0" ? "" : ",") + std::string("{\"queue_id\":") + number +
               ",\"name\":\"" + rest.substr(0, space) + "\",\"set_id\":" + number + "}";
    }
    return out + "]}\n";
}

TEST(Snapshot, NamesAreFixedWords)
{
    EXPECT_EQ(counter_name(BT_C_gets_single), "gets_single");
    EXPECT_EQ(counter_scope(BT_C_gets_single), 'H');
    EXPECT_EQ(counter_scope(BT_C_budget_taken), 'Q');
    EXPECT_EQ(cause_name(BT_CAUSE_SCHED_DEPTH), "sched_depth");
    EXPECT_EQ(phase_name(Phase::completion), "completion");
    EXPECT_EQ(op_name(BT_OP_WRITE_ZEROES), "write_zeroes");
    EXPECT_EQ(op_name(static_cast<bt_op>(9)), "other");
    EXPECT_EQ(cause_name(static_cast<bt_cause>(7)), "unknown");
    EXPECT_EQ(hctx_flag_name(99), "unknown");
}

TEST(Snapshot, QueuesAreInNaturalOrder)
{
    const Snapshot s = snapshot_of(queue_json("nvme10n1 sdb nvme2n1 sda sdaa"));
    std::vector<std::string> names;
    for (const QueueStats &queue : s.queues)
        names.push_back(queue.name);
    EXPECT_EQ(names, (std::vector<std::string>{"nvme2n1", "nvme10n1", "sda", "sdaa", "sdb"}));
}

TEST(Snapshot, ImpairedByLossDamageCutAndImbalance)
{
    const std::string sound = "info start=0 end=1s\nbooks produced=3 recorded=3 complete=1\n";
    EXPECT_FALSE(snapshot_of(sound).impaired());
    EXPECT_TRUE(snapshot_of("info start=0\nbooks produced=3 recorded=3\n").impaired());
    EXPECT_TRUE(
        snapshot_of("info start=0 end=1s\nbooks produced=3 recorded=2 lost=1\n").impaired());
    EXPECT_TRUE(snapshot_of("info start=0 end=1s\nbooks produced=4 recorded=3\n").impaired());
    EXPECT_TRUE(snapshot_of(sound + "damage offset=5 what=x\n").impaired());
}

TEST(Snapshot, HostileNamesAreEscapedEverywhere)
{
    const Snapshot s = snapshot_of(
        "info host=\"h\\x1b]0;x\\x07\" command=\"c\\x0a\" kernel=\"k\\xff\"\n"
        "argv \"a\\x1b\"\n"
        "rung probe=\"p\\x1b\" rung=none why=\"\\x1b[2J\"\n"
        "topology {\"queues\":[{\"queue_id\":0,\"name\":\"n\\u001b\",\"slaves\":[\"s\\u0007\"]}]}\n"
        "task ts=1 tid=3 comm=\"t\\x1b\"\n"
        "io hctx=0 tid=3 get=1 issue=2 complete=3 put=4\n");
    EXPECT_EQ(s.recording.hostname, "h\\x1b]0;x\\x07");
    EXPECT_EQ(s.recording.command, "c\\x0a");
    EXPECT_EQ(s.recording.kernel_release, "k\\xff");
    EXPECT_EQ(s.recording.argv[0], "a\\x1b");
    EXPECT_EQ(s.recording.rungs[0].why, "\\x1b[2J");
    EXPECT_EQ(s.queues.back().name, "n\\x1b");
    EXPECT_EQ(s.queues.back().slaves[0], "s\\x07");
    EXPECT_EQ(s.top_holders[0].comm, "t\\x1b");
}

TEST(Snapshot, WhyBatchesWereNotUsed)
{
    const auto why = [](const std::string &queue_flags, const std::string &hctx_flags,
                        const std::string &counters) {
        const Snapshot s = snapshot_of("queue id=0 set=0 major=8" + queue_flags +
                                       "\nhctx id=0 queue=0 num=0 space=0" + hctx_flags +
                                       "\ncounters ts=1s hctx=0 issues=10 " + counters + "\n");
        return s.queues.at(0).batches_unused_why;
    };
    EXPECT_EQ(why("", "", ""), "the driver offers none");
    EXPECT_EQ(why(" flags=queue_rqs,elevator", "", ""), "scheduler set");
    EXPECT_EQ(why(" flags=queue_rqs", " flags=queue_shared", ""), "tag set shared");
    EXPECT_EQ(why(" flags=queue_rqs", "", "direct_issues=10"),
              "no plug: requests were issued one by one");
    EXPECT_EQ(why(" flags=queue_rqs", " flags=queue_shared", "batches=1"), "")
        << "newer kernels batch on shared sets";
}

TEST(Snapshot, OpenWaitsAreListedLongestFirstAndBelongToTheirQueue)
{
    const Snapshot s =
        snapshot_of(queue_json("sda") +
                    "hctx id=0 queue=0 num=0 space=0\n"
                    "task ts=1s tid=5 comm=stuck\n"
                    "wait hctx=0 tid=4 start=2s ts=3s flags=open\n"
                    "wait hctx=0 tid=5 start=1s ts=3s flags=open cause=stuck depth=4 held=1\n"
                    "dwait hctx=0 start=2.5s ts=3s flags=open\n");
    ASSERT_EQ(s.open_waits.size(), 3U);
    EXPECT_EQ(s.open_waits[0].comm, "stuck");
    EXPECT_EQ(s.open_waits[0].age_ns, 2'000'000'000U);
    EXPECT_EQ(s.open_waits[0].hctx, "sda/0");
    EXPECT_TRUE(s.open_waits[2].dispatch);
    EXPECT_EQ(s.queues[0].waits.open, 2U);
    EXPECT_EQ(s.waits.open_longest_ns, 2'000'000'000U);
    EXPECT_EQ(s.dispatch_waits.open, 1U);
    EXPECT_EQ(s.waits.time.count, 0U) << "an open wait has no length yet";
}

TEST(Snapshot, BudgetAndOtherWaitsStandByTheirQueue)
{
    const Snapshot s =
        snapshot_of(queue_json("sda sdb") +
                    "budget ts=1s queue=1 in_use=30 limit=32 blocked=1\n"
                    "budget ts=2s queue=1 in_use=32 limit=32\n"
                    "budget ts=3s queue=1 flags=returned\n"
                    "other ts=2s start=1s queue=0 tid=3 what=throttle\n"
                    "counters ts=3s queue=0 throttle_waits=1 throttle_wait_ns=1000000000\n"
                    "counters ts=3s queue=1 budget_taken=9 budget_refused=2 budget_returned=1\n");
    ASSERT_EQ(s.queues.size(), 2U);
    EXPECT_EQ(s.queues[1].totals.budget_refused, 2U);
    EXPECT_EQ(s.queues[1].budget.in_use_peak, 32U);
    EXPECT_EQ(s.queues[1].budget.blocked, 1U);
    EXPECT_EQ(s.queues[1].budget.returned_recorded, 1U);
    EXPECT_EQ(s.queues[0].other[BT_OTHER_THROTTLE].count, 1U);
    EXPECT_EQ(s.queues[0].other[BT_OTHER_THROTTLE].time.max_ns, 1'000'000'000U);
    EXPECT_EQ(s.waits.count, 0U) << "throttling is no tag wait";
    EXPECT_EQ(s.totals.budget_refused, 2U);
}

TEST(Snapshot, HostWideTagsAreOneSpaceOfAllHctxs)
{
    const Snapshot s = snapshot_of(
        "queue id=0 set=3 major=8\nspace id=7 set=3 depth=32 reserved=1 flags=hctx_shared\n"
        "hctx id=0 queue=0 num=0 space=7\nhctx id=1 queue=0 num=1 space=7\n"
        "gauge ts=1s space=7 depth=32 held=32\n");
    ASSERT_EQ(s.sets.size(), 1U);
    EXPECT_TRUE(s.sets[0].hctx_shared);
    ASSERT_EQ(s.sets[0].spaces.size(), 1U);
    EXPECT_EQ(s.sets[0].spaces[0].hctxs, (std::vector<std::string>{"8:0/0", "8:0/1"}));
    EXPECT_EQ(s.queues[0].hctxs[1].depth, 32U);
    EXPECT_EQ(s.queues[0].hctxs[1].reserved_depth, 1U);
    EXPECT_EQ(s.sets[0].spaces[0].gauge->held_mean, 32.0) << "a single sample is its own mean";
}

} // namespace
