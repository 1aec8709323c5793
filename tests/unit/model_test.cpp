// SPDX-License-Identifier: GPL-2.0-or-later
// Topology, tasks and lifecycles. Input: records made here. Output: test results.
#include "model/lifecycle.hpp"
#include "model/tasks.hpp"
#include "model/topology.hpp"
#include "support/trace_text.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck/gtest.h>

namespace {

using namespace blktag;
using model::LifeKind;

model::Topology topology_of(const std::string &text)
{
    const test::TraceText trace = test::parse_trace(text);
    model::Topology topology;
    if (!trace.info.topology_json.empty()) {
        EXPECT_TRUE(topology.apply_json(trace.info.topology_json));
    }
    for (const bt_ident_rec &ident : trace.batch.idents)
        topology.apply(ident);
    topology.settle();
    return topology;
}

TEST(Topology, JsonWithoutIdsIsMatchedByDeviceAndNumber)
{
    const model::Topology t =
        topology_of("topology "
                    "{\"queues\":[{\"queue_id\":null,\"name\":\"sda\",\"dev\":\"8:0\",\"driver\":"
                    "\"sd\",\"queue_depth\":32,"
                    "\"hctxs\":[{\"hctx_id\":null,\"hctx_num\":1,\"cpus\":[2,3],\"nr_tags\":34,"
                    "\"nr_reserved_tags\":2}]}]}\n"
                    "queue id=4 set=1 major=8 minor=0 nr_requests=64 nr_hw_queues=2\n"
                    "hctx id=9 queue=4 num=1 space=0 type=poll\n");
    ASSERT_NE(t.queue(4), nullptr);
    EXPECT_EQ(t.queue(4)->name, "sda");
    EXPECT_EQ(t.queue(4)->lun_depth, 32U);
    EXPECT_EQ(t.queue(4)->nr_requests, 64U);
    ASSERT_NE(t.hctx(9), nullptr);
    EXPECT_EQ(t.hctx(9)->cpus, (std::vector<uint32_t>{2, 3}));
    EXPECT_EQ(t.hctx(9)->type, "poll");
    EXPECT_EQ(t.hctx_label(9), "sda/1");
}

TEST(Topology, UnknownIdsHaveLabels)
{
    const model::Topology t = topology_of("queue id=1 set=0 major=259 minor=7\n");
    EXPECT_EQ(t.hctx_label(12), "hctx#12 (unknown)");
    EXPECT_EQ(t.queue_label(3), "queue#3 (unknown)");
    EXPECT_EQ(t.queue_label(1), "259:7");
    EXPECT_EQ(t.hctx(60000), nullptr);
}

TEST(Topology, AReturnedDeviceIsANewGeneration)
{
    model::Topology t =
        topology_of("topology {\"queues\":[{\"queue_id\":0,\"name\":\"sdb\",\"dev\":\"8:16\"}]}\n"
                    "queue id=0 set=0 major=8 minor=16\nqueue id=0 flags=gone\n");
    EXPECT_TRUE(t.apply_json("{\"queues\":[{\"queue_id\":2,\"name\":\"sdb\",\"dev\":\"8:16\"}]}"));
    EXPECT_EQ(t.queue_label(0), "sdb");
    EXPECT_EQ(t.queue_label(2), "sdb#2");
    EXPECT_TRUE(t.queue(0)->gone);
    EXPECT_EQ(t.queue(0)->dev, 8U << 20 | 16U) << "what went away stays known";
}

TEST(Topology, RenameKeepsTheId)
{
    model::Topology t = topology_of("topology {\"queues\":[{\"queue_id\":0,\"name\":\"dm-0\"}]}\n");
    EXPECT_TRUE(t.apply_json("{\"queues\":[{\"queue_id\":0,\"name\":\"dm-7\"}]}"));
    EXPECT_EQ(t.queue_label(0), "dm-7");
}

TEST(Topology, WrongJsonIsRefusedOrUsedAsFarAsItGoes)
{
    model::Topology t;
    EXPECT_FALSE(t.apply_json(""));
    EXPECT_FALSE(t.apply_json("{\"queues\":3}"));
    EXPECT_FALSE(t.apply_json("{\"queues\":[4]}"));
    EXPECT_TRUE(t.apply_json("{\"queues\":[{\"queue_id\":1,\"name\":7,\"nr_requests\":-3,\"dev\":"
                             "\"x\",\"hctxs\":[null]}]}"));
    ASSERT_NE(t.queue(1), nullptr);
    EXPECT_EQ(t.queue(1)->nr_requests, std::nullopt);
    EXPECT_TRUE(t.apply_json("{\"queues\":[{\"queue_id\":99999,\"name\":\"a\"}]}"));
}

RC_GTEST_PROP(Topology, AnyTextIsSafe, (const std::string &text))
{
    model::Topology t;
    t.apply_json(text);
    t.apply_json("{\"queues\":" + text + "}");
}

bt_task task_of(uint32_t tid, uint64_t start_ns, uint64_t ts_ns)
{
    bt_task task{};
    task.tid = tid;
    task.start_ns = start_ns;
    task.h.ts_ns = ts_ns;
    return task;
}

TEST(TaskTable, AReusedTidIsANewTask)
{
    constexpr uint64_t s = 1'000'000'000;
    model::TaskTable tasks;
    const uint32_t old = tasks.apply(task_of(7, 1, 1 * s));
    EXPECT_EQ(tasks.apply(task_of(7, 1, 2 * s)), old) << "a rename is no new task";
    const uint32_t fresh = tasks.apply(task_of(7, 2, 10 * s));
    EXPECT_NE(fresh, old);
    EXPECT_EQ(tasks.find(7, 5 * s), old) << "began before the new task was seen";
    EXPECT_EQ(tasks.find(7, 10 * s - 100), fresh)
        << "the record comes a moment after the request began";
    EXPECT_EQ(tasks.find(7, 11 * s), fresh);
}

TEST(TaskTable, UnseenTidsGetAPlaceAndLaterAName)
{
    model::TaskTable tasks;
    const uint32_t index = tasks.find(9, 100);
    EXPECT_NE(index, 0U);
    EXPECT_EQ(tasks.apply(task_of(9, 5, 200)), index);
    EXPECT_EQ(tasks.tasks()[index].start_ns, 5U);
}

TEST(TaskTable, FullTableGivesNothingUntilSomeAreDropped)
{
    model::TaskTable tasks;
    uint32_t tid = 1;
    while (!tasks.full())
        tasks.find(tid++, 1);
    EXPECT_EQ(tasks.find(tid, 1), 0U);
    std::vector<bool> keep(tasks.tasks().size(), false);
    keep[5] = true;
    const std::vector<uint32_t> moved = tasks.keep_only(keep);
    EXPECT_EQ(moved[5], 1U);
    EXPECT_EQ(moved[6], 0U);
    EXPECT_EQ(tasks.find(5, 1), 1U);
    EXPECT_NE(tasks.find(tid, 1), 0U);
}

RC_GTEST_PROP(Lifecycle, PartsSumToTheWholeWhateverTheStamps,
              (uint64_t start, uint64_t get, uint64_t refused, uint64_t issue, uint64_t complete,
               uint64_t put, uint16_t flags))
{
    bt_io_long io{};
    io.start_ns = start;
    io.get_ns = get;
    io.refused_ns = refused;
    io.issue_ns = issue;
    io.complete_ns = complete;
    io.h.ts_ns = put;
    io.flags = flags;
    const model::Life life = model::split(io);
    const uint64_t sum = std::accumulate(life.phase_ns.begin(), life.phase_ns.end(), uint64_t{0});
    if (life.kind == LifeKind::complete) {
        RC_ASSERT(sum == life.whole_ns);
        RC_ASSERT(life.whole_ns <= model::max_duration_ns);
        RC_ASSERT(life.held_ns <= life.whole_ns);
    } else {
        RC_ASSERT(sum == 0U);
    }
}

TEST(Lifecycle, PhasesOfAScheduledRequest)
{
    bt_io_long io{};
    io.start_ns = 100;
    io.get_ns = 150;
    io.insert_ns = 160;
    io.refused_ns = 200;
    io.issue_ns = 500;
    io.complete_ns = 900;
    io.h.ts_ns = 910;
    const model::Life life = model::split(io);
    EXPECT_EQ(life.kind, LifeKind::complete);
    EXPECT_FALSE(life.backwards);
    EXPECT_EQ(life.phase_ns, (std::array<uint64_t, nr_phases>{50, 50, 300, 400, 10}));
    EXPECT_EQ(life.held_ns, 760U);
}

TEST(Lifecycle, BackwardsStampsAreToldAndNeverNegative)
{
    bt_io_long io{};
    io.start_ns = io.get_ns = 1000;
    io.issue_ns = 900;
    io.complete_ns = 2000;
    io.h.ts_ns = 1500;
    const model::Life life = model::split(io);
    EXPECT_TRUE(life.backwards);
    EXPECT_EQ(life.whole_ns, 1000U);
    EXPECT_EQ(life.phase_ns, (std::array<uint64_t, nr_phases>{0, 0, 0, 1000, 0}));
}

TEST(Lifecycle, KindsOfEnds)
{
    bt_io_long io{};
    io.start_ns = io.get_ns = 10;
    io.h.ts_ns = 30;
    EXPECT_EQ(model::split(io).kind, LifeKind::unused);
    EXPECT_EQ(model::split(io).held_ns, 20U);
    io.issue_ns = 15;
    EXPECT_EQ(model::split(io).kind, LifeKind::incomplete) << "no completion seen";
    io.complete_ns = 20;
    EXPECT_EQ(model::split(io).kind, LifeKind::complete);
    io.flags = BT_IO_ORPHAN;
    EXPECT_EQ(model::split(io).kind, LifeKind::incomplete);
    io.flags = 0;
    io.h.ts_ns = UINT64_MAX;
    EXPECT_EQ(model::split(io).kind, LifeKind::absurd);
    io.get_ns = 0;
    EXPECT_EQ(model::split(io).kind, LifeKind::incomplete) << "the get was not seen";
}

} // namespace
