// SPDX-License-Identifier: GPL-2.0-or-later
// Events as lines. Input: records. Output: verdicts on the exact text, and that JSON is JSON and
// nothing hostile passes.
#include "report/print.hpp"
#include "support/random_batch.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>
#include <sstream>

namespace blktag::report {
namespace {

TraceInfo sample_info()
{
    TraceInfo info;
    info.start_mono_ns = 1'000'000'000;
    info.topology_json = R"({"queues":[{"queue_id":0,"name":"nullb0","dev":"252:0","hctxs":[)"
                         R"({"hctx_id":0,"hctx_num":0},{"hctx_id":1,"hctx_num":1}]}]})";
    return info;
}

Batch sample_batch()
{
    Batch batch;
    bt_task task{};
    task.h = {sizeof(task), BT_K_TASK, 0, 1, 1'000'000'500};
    task.tid = task.tgid = 42;
    std::copy_n("fi\x1bo", 4, task.comm);
    batch.tasks.push_back(task);
    bt_io_long io{};
    io.h = {sizeof(io), BT_K_IO_LONG, 0, 3, 1'002'000'000};
    io.sector = 8;
    io.bytes = 4096;
    io.tid = 42;
    io.start_ns = 1'001'000'000;
    io.get_ns = 1'001'012'340;
    io.issue_ns = 1'001'013'340;
    io.complete_ns = 1'001'093'340;
    io.hctx_id = 1;
    io.tag = 7;
    io.sched_tag = BT_NO_TAG;
    io.flags = BT_IO_WAITED | BT_IO_SYNC;
    io.submit_cpu = 2;
    io.complete_cpu = 3;
    batch.io.push_back(io);
    bt_wait wait{};
    wait.h = {sizeof(wait), BT_K_WAIT, 0, 2, 1'001'012'340};
    wait.start_ns = 1'001'000'000;
    wait.runnable_ns = 340;
    wait.tid = 42;
    wait.attempts = wait.sleeps = 1;
    wait.hctx_id = wait.end_hctx_id = 1;
    wait.tag = 7;
    wait.depth = wait.held = wait.limit = 4;
    batch.waits.push_back(wait);
    return batch;
}

std::string printed(bool json, const Batch &batch)
{
    EventPrinter printer(json, sample_info());
    std::string out;
    printer.print(batch, out);
    return out;
}

TEST(Print, text_lines_in_time_order)
{
    EXPECT_EQ(
        printed(false, sample_batch()),
        "    0.000000 [001] task       tid=42 tgid=42 cgroup_id=0 comm=fi\\x1bo\n"
        "    0.001012 [002] wait       nullb0/1       cause=exhausted wait=12.3us runnable=340ns "
        "tid=42 comm=fi\\x1bo op=read tag=7 depth=4 held=4 active=0 limit=4 users=0 attempts=1 "
        "sleeps=1\n"
        "    0.002000 [003] io         nullb0/1       op=read sector=8 bytes=4096 tag=7 "
        "wait=12.3us "
        "queued=1.00us device=80.0us done=907us tid=42 comm=fi\\x1bo submit_cpu=2 complete_cpu=3 "
        "flags=sync,waited\n");
}

TEST(Print, json_has_every_field_by_name)
{
    std::istringstream lines(printed(true, sample_batch()));
    std::string line;
    std::vector<nlohmann::json> objects;
    while (std::getline(lines, line))
        objects.push_back(nlohmann::json::parse(line));
    ASSERT_EQ(objects.size(), 3U);
    EXPECT_EQ(objects[0]["comm"], "fi\x1bo");
    EXPECT_EQ(objects[1]["kind"], "wait");
    EXPECT_EQ(objects[1]["wait_ns"], 12340);
    EXPECT_EQ(objects[1]["hctx"], "nullb0/1");
    EXPECT_EQ(objects[2]["kind"], "io");
    EXPECT_EQ(objects[2]["ts_ns"], 1'002'000'000);
    EXPECT_EQ(objects[2]["hctx_id"], 1);
    EXPECT_EQ(objects[2]["get_ns"], 1'001'012'340);
    EXPECT_EQ(objects[2]["sched_tag"], nullptr) << "none is not a number";
    EXPECT_EQ(objects[2]["status"], "ok");
    EXPECT_EQ(objects[2]["flags"], (std::vector<std::string>{"sync", "waited"}));
}

TEST(Print, unknown_ids_and_no_ids_have_words)
{
    Batch batch;
    bt_restart restart{};
    restart.h = {sizeof(restart), BT_K_RESTART, 0, 0, 2'000'000'000};
    restart.hctx_id = 9;
    batch.restarts.push_back(restart);
    restart.hctx_id = BT_NO_ID;
    batch.restarts.push_back(restart);
    EXPECT_EQ(printed(false, batch), "    1.000000 [000] restart    hctx#9 (unknown)\n"
                                     "    1.000000 [000] restart    -             \n");
}

RC_GTEST_PROP(Print, any_record_makes_one_good_line, (uint64_t seed))
{
    test::RandomBatch random(seed);
    const Batch batch = random.make(4, 3);
    const size_t records = batch.size() - batch.topology_json.size();
    const std::string text = printed(false, batch), json = printed(true, batch);
    RC_ASSERT(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) == records);
    for (const char c : text)
        RC_ASSERT(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    RC_ASSERT(static_cast<size_t>(std::count(json.begin(), json.end(), '\n')) == batch.size());
    std::istringstream lines(json);
    for (std::string line; std::getline(lines, line);)
        RC_ASSERT(nlohmann::json::accept(line));
}

} // namespace
} // namespace blktag::report
