// SPDX-License-Identifier: GPL-2.0-or-later
// Golden diagnosis. Input: findings/*.case (a readable trace, and the findings it must give), and
// healthy recordings made here. Output: test results.
//
// An expected line is "id severity place | summary"; all findings must be there, in order, and no
// other. Healthy recordings give none of any severity.
#include "base/text.hpp"
#include "diagnose/diagnose.hpp"
#include "report/text.hpp"
#include "support/trace_text.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace {

using namespace blktag;

using test::snapshot_of;

std::string lines_of(const std::vector<diagnose::Finding> &findings)
{
    std::string out;
    for (const diagnose::Finding &f : findings)
        out += fmt::format("{} {} {} | {}\n", f.id, diagnose::severity_name(f.severity),
                           f.where.hctx.empty() ? fmt::format("{}", fmt::join(f.where.queues, ","))
                                                : f.where.hctx,
                           f.summary);
    return out;
}

void expect_sound(const std::vector<diagnose::Finding> &findings)
{
    std::set<std::string_view> known;
    for (const diagnose::Kind &kind : diagnose::kinds())
        known.insert(kind.id);
    for (const diagnose::Finding &f : findings) {
        EXPECT_TRUE(known.contains(f.id)) << f.id;
        EXPECT_FALSE(f.evidence.empty()) << f.id;
        EXPECT_FALSE(f.remedies.empty()) << f.id;
        EXPECT_FALSE(f.confirm.empty()) << f.id;
        EXPECT_GT(f.confidence, 0) << f.id;
        EXPECT_LE(f.confidence, 1) << f.id;
    }
}

class Findings : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Findings, match)
{
    std::ifstream file(GetParam());
    std::string trace;
    std::string expected;
    std::string *into = nullptr;
    for (std::string line; std::getline(file, line);) {
        if (line == "=== trace")
            into = &trace;
        else if (line == "=== findings")
            into = &expected;
        else if (into)
            *into += line + "\n";
    }
    const Snapshot snapshot = snapshot_of(trace);
    const auto findings = diagnose::diagnose(snapshot);
    EXPECT_EQ(lines_of(findings), expected);
    expect_sound(findings);
    std::istringstream lines(report::text_report(snapshot));
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(base::display_width(line), 80U) << line;
}

std::vector<std::filesystem::path> cases()
{
    std::vector<std::filesystem::path> out;
    for (const auto &entry :
         std::filesystem::directory_iterator(BLKTAG_SOURCE_DIR "/tests/golden/findings"))
        if (entry.path().extension() == ".case")
            out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

INSTANTIATE_TEST_SUITE_P(findings, Findings, testing::ValuesIn(cases()),
                         [](const auto &one) { return one.param.stem().string(); });

// A device and a load that suits it.
struct Healthy {
    const char *driver, *scheduler;
    unsigned hctxs, depth, jobs; // requests in flight at a time, below the depth
    unsigned device_us;
    unsigned reads_percent;
    bool shared;    // with a second, idle queue
    unsigned waits; // an accident now and then
};

// Each job has one request after the other for two seconds; long tests prove no more.
unsigned requests_of_job(const Healthy &h)
{
    return std::min(2'000'000 / (h.device_us + 20), 4000 / h.jobs);
}

std::string io_lines(const Healthy &h)
{
    std::string out;
    const bool sched = std::string(h.scheduler) != "none";
    // Each job issues one request after the other; a request takes as long as it takes.
    const unsigned step_us = h.device_us + 20;
    const unsigned per_job = requests_of_job(h);
    for (unsigned job = 0; job < h.jobs; ++job) {
        const unsigned start = 1'000'000 + job * 13;
        const bool read = job * 100 < h.jobs * h.reads_percent;
        out += fmt::format("io repeat={} step={}us hctx={} tid={} op={} bytes=4096 sector={} "
                           "get={}us {}issue={}us complete={}us put={}us{}\n",
                           per_job, step_us, job % h.hctxs, 100 + job, read ? "read" : "write",
                           1000 * job, start, sched ? fmt::format("insert={}us ", start + 2) : "",
                           start + 5, start + 5 + h.device_us, start + 8 + h.device_us,
                           sched ? " flags=sched" : "");
    }
    return out;
}

std::string healthy_trace(const Healthy &h)
{
    const bool sched = std::string(h.scheduler) != "none";
    const unsigned per_job = requests_of_job(h);
    std::string hctx_json;
    std::string out =
        "info tool=0.1.0 kernel=6.12.0 machine=x86_64 host=lab cpus=4 start=1s real=1700000000s "
        "end=3.1s end_real=1700000002s\nbooks produced=9 recorded=9 complete=1\n";
    for (unsigned i = 0; i < h.hctxs; ++i) {
        hctx_json +=
            fmt::format("{}{{\"hctx_id\":{},\"hctx_num\":{},\"type\":\"default\",\"cpus\":[{}]}}",
                        i ? "," : "", i, i, i);
        out += fmt::format("space id={} set=0 depth={}\nhctx id={} queue=0 num={} space={}{}{}\n",
                           2 * i, h.depth, i, i, 2 * i,
                           sched ? fmt::format(" sched_space={}", 2 * i + 1) : "",
                           h.shared ? " flags=queue_shared" : "");
        if (sched)
            out += fmt::format("space id={} set=0 depth={} flags=sched\n", 2 * i + 1, 2 * h.depth);
    }
    out += fmt::format("topology {{\"queues\":[{{\"queue_id\":0,\"name\":\"disk0\",\"dev\":\"8:0\","
                       "\"scheduler\":\"{}\",\"driver\":\"{}\",\"nr_hw_queues\":{},\"set_id\":0,"
                       "\"hctxs\":[{}]}}]}}\n",
                       h.scheduler, h.driver, h.hctxs, hctx_json);
    out += fmt::format("queue id=0 set=0 major=8 minor=0 nr_requests={} nr_hw_queues={}{}\n",
                       2 * h.depth, h.hctxs, sched ? " flags=elevator" : " flags=queue_rqs");
    if (h.shared)
        out += "queue id=1 set=0 major=8 minor=16 nr_requests=64 nr_hw_queues=1\n";
    out += io_lines(h);
    for (unsigned i = 0; i < h.hctxs; ++i) {
        const unsigned jobs = h.jobs / h.hctxs + (i < h.jobs % h.hctxs ? 1 : 0);
        const unsigned requests = per_job * jobs;
        const unsigned waits = i == 0 ? h.waits : 0;
        if (waits != 0)
            out += fmt::format("wait repeat={} step=1ms hctx=0 space={} tid=100 cause=exhausted "
                               "start=1.2s ts=1.2002s depth={} held={} limit={}\n",
                               waits, sched ? 1 : 0, h.depth, h.depth, h.depth);
        out += fmt::format("gauge repeat=20 step=100ms ts=1.05s space={} depth={} held={} "
                           "in_flight={} wake_batch=1\n",
                           2 * i, h.depth, std::min(jobs, h.depth), std::min(jobs, h.depth));
        out += fmt::format("hgauge repeat=20 step=100ms ts=1.05s hctx={} active=0\n", i);
        out += fmt::format(
            "counters ts=3.05s hctx={} gets_single={} issues={} completes={} complete_bytes={} "
            "submit_waits={} waits_exhausted={} submit_wait_ns={} submit_sleeps={} runs={} "
            "puts_single={} driver_gets={} inserts={} direct_issues={}\n",
            i, requests, requests, requests, requests * 4096, waits, waits, waits * 200000, waits,
            sched ? requests : 0, requests, sched ? requests : 0, sched ? requests : 0,
            sched ? 0 : requests);
    }
    return out + "counters ts=3.05s queue=0\n";
}

constexpr Healthy healthy[] = {
    {"null_blk", "none", 1, 64, 1, 100, 100, false, 0},
    {"null_blk", "none", 4, 64, 32, 100, 100, false, 0},
    {"null_blk", "mq-deadline", 1, 64, 16, 100, 50, false, 0},
    {"null_blk", "none", 2, 4, 8, 500, 100, false,
     3}, // full all the time, and nobody waits for long
    {"null_blk", "none", 1, 64, 60, 50, 100, true, 0},
    {"virtio_blk", "none", 4, 128, 64, 200, 70, false, 0},
    {"virtio_blk", "none", 1, 128, 100, 300, 0, false, 5},
    {"virtio_blk", "mq-deadline", 4, 128, 32, 250, 50, false, 0},
    {"virtio_blk", "kyber", 2, 128, 32, 250, 50, false, 0},
    {"virtio_blk", "bfq", 1, 128, 8, 1000, 30, false, 0},
    {"nvme", "none", 4, 1023, 128, 80, 100, false, 0},
    {"nvme", "none", 4, 1023, 256, 90, 0, false, 0},
    {"nvme", "none", 4, 64, 60, 80, 50, true, 0},
    {"nvme", "kyber", 4, 256, 64, 80, 50, false, 0},
    {"sd", "mq-deadline", 1, 32, 30, 5000, 50, false, 0},
    {"sd", "bfq", 1, 32, 4, 9000, 100, false, 0},
    {"sd", "none", 4, 64, 32, 400, 100, false, 0},
    {"sd", "mq-deadline", 1, 1, 1, 20000, 100, false, 0},
    {"loop", "none", 1, 128, 32, 300, 60, false, 2},
    {"mmcblk", "bfq", 1, 64, 2, 2000, 20, false, 0},
};

TEST(HealthyRecordings, give_no_finding)
{
    ASSERT_EQ(std::size(healthy), 20U);
    for (const Healthy &h : healthy) {
        const Snapshot snapshot = snapshot_of(healthy_trace(h));
        ASSERT_GT(snapshot.totals.completed.value_or(0), 0U);
        EXPECT_EQ(lines_of(diagnose::diagnose(snapshot)), "")
            << h.driver << " " << h.scheduler << " depth " << h.depth << " jobs " << h.jobs;
    }
}

TEST(Kinds, are_each_named_once_and_covered_by_a_case)
{
    std::set<std::string_view> seen;
    std::set<std::string> covered;
    for (const std::filesystem::path &path : cases()) {
        std::ifstream file(path);
        bool findings = false;
        for (std::string line; std::getline(file, line); findings |= line == "=== findings")
            if (findings)
                covered.insert(line.substr(0, line.find(' ')));
    }
    for (const diagnose::Kind &kind : diagnose::kinds()) {
        EXPECT_TRUE(seen.insert(kind.id).second) << kind.id;
        EXPECT_TRUE(covered.contains(std::string(kind.id))) << "no case for " << kind.id;
    }
}

} // namespace
