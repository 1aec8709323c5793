// SPDX-License-Identifier: GPL-2.0-or-later
// Comparisons. Input: hand-made recordings. Output: test results.
#include "base/text.hpp"
#include "compare/compare.hpp"
#include "report/compare.hpp"
#include "report/expect.hpp"
#include "report/html.hpp"
#include "support/trace_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>

namespace {

using namespace blktag;

struct Load {
    unsigned depth = 8;
    unsigned requests = 1000;
    unsigned device_us = 500;
    unsigned wait_us = 0;
    unsigned bytes = 4096;
    const char *op = "read";
    const char *scheduler = "none";
};

// One stream of requests over two seconds, each step a little jittered by its number.
Snapshot record(const Load &l)
{
    std::string text =
        "info kernel=6.12.0 machine=x86_64 cpus=2 start=1s end=3s\nbooks complete=1\n"
        "topology {\"queues\":[{\"queue_id\":0,\"name\":\"disk0\",\"driver\":\"null_blk\","
        "\"scheduler\":\"" +
        std::string(l.scheduler) + "\",\"set_id\":0,\"hctxs\":[{\"hctx_id\":0,\"hctx_num\":0}]}]}\n";
    text += fmt::format("space id=0 set=0 depth={}\nqueue id=0 set=0 major=252\n"
                        "hctx id=0 queue=0 num=0 space=0\n",
                        l.depth);
    const unsigned step_us = 1'990'000 / l.requests;
    for (unsigned i = 0; i < l.requests; ++i) {
        const unsigned start = 1'000'000 + i * step_us;
        const unsigned get = start + l.wait_us;
        const unsigned done = get + l.device_us + i % 7;
        text += fmt::format("io hctx=0 tid=1 op={} bytes={} start={}us get={}us issue={}us "
                            "complete={}us put={}us\n",
                            l.op, l.bytes, start, get, get, done, done);
        if (l.wait_us != 0)
            text += fmt::format("wait hctx=0 space=0 tid=1 cause=exhausted start={}us ts={}us "
                                "depth={} held={} limit={}\n",
                                start, get, l.depth, l.depth, l.depth);
    }
    text += fmt::format("counters ts=2.999s hctx=0 gets_single={0} issues={0} completes={0} "
                        "complete_bytes={1} submit_waits={2} waits_exhausted={2} "
                        "submit_wait_ns={3}\n",
                        l.requests, l.requests * l.bytes, l.wait_us ? l.requests : 0,
                        uint64_t{l.requests} * l.wait_us * 1000);
    return test::snapshot_of(text);
}

compare::Comparison of(const Snapshot &a, const Snapshot &b)
{
    const auto c = compare::compare({{"a", {&a}}, {"b", {&b}}});
    if (!c)
        throw std::runtime_error(c.error().what);
    return *c;
}

TEST(Compare, the_same_load_is_the_same)
{
    const Snapshot a = record({});
    const Snapshot b = record({});
    const compare::Comparison c = of(a, b);
    EXPECT_TRUE(c.config.empty());
    EXPECT_TRUE(c.findings.empty());
    for (const compare::Metric &metric : c.metrics)
        EXPECT_TRUE(metric.sides[1].change == compare::Change::none ||
                    metric.sides[1].change == compare::Change::untested)
            << metric.id;
    EXPECT_NE(c.explanation.find("no difference beyond noise"), std::string::npos) << c.explanation;
}

TEST(Compare, more_depth_takes_the_waits_away)
{
    const Snapshot a = record({.depth = 4, .requests = 900, .wait_us = 2000});
    const Snapshot b = record({.depth = 32, .requests = 1800});
    const compare::Comparison c = of(a, b);
    ASSERT_EQ(c.config.size(), 1U);
    EXPECT_EQ(c.config[0].what, "driver depth");
    EXPECT_EQ(c.config[0].values, (std::vector<std::string>{"4 x 1", "32 x 1"}));
    const compare::Cell &iops = c.metric("iops")->sides[1];
    EXPECT_NEAR(*iops.ratio, 2, 0.01);
    EXPECT_EQ(iops.change, compare::Change::more);
    EXPECT_LE(*iops.ratio_low, 2.02);
    EXPECT_GE(*iops.ratio_high, 1.98);
    EXPECT_EQ(c.metric("device_mean")->sides[1].change, compare::Change::none);
    EXPECT_EQ(c.metric("wait_share")->sides[1].change, compare::Change::less);
    EXPECT_NE(c.explanation.find("driver depth 4 x 1 -> 32 x 1"), std::string::npos);
    EXPECT_NE(c.explanation.find("waiting for a tag (no free tag)"), std::string::npos)
        << c.explanation;
    EXPECT_NE(c.explanation.find("lost depth_too_small"), std::string::npos) << c.explanation;
}

TEST(Compare, fewer_larger_requests_are_no_slowdown)
{
    const Snapshot a = record({.requests = 1800, .bytes = 131072});
    const Snapshot b = record({.requests = 900, .bytes = 262144});
    EXPECT_NE(of(a, b).explanation.find("not a slowdown"), std::string::npos)
        << of(a, b).explanation;
}

TEST(Compare, refuses_what_has_nothing_in_common)
{
    const Snapshot reads = record({});
    const Snapshot writes = record({.op = "write"});
    const auto c = compare::compare({{"a", {&reads}}, {"b", {&writes}}});
    ASSERT_FALSE(c);
    EXPECT_NE(c.error().what.find("not the same load"), std::string::npos);
    EXPECT_FALSE(compare::compare({{"a", {&reads}}}));
    const Snapshot empty;
    EXPECT_FALSE(compare::compare({{"a", {&reads}}, {"b", {&empty}}}));
}

TEST(Compare, repeated_runs_give_the_spread)
{
    const Snapshot a = record({});
    const Snapshot b = record({.requests = 1100});
    const auto c = compare::compare({{"a", {&a, &a, &a}}, {"b", {&a, &b, &a}}});
    ASSERT_TRUE(c);
    EXPECT_EQ(c->samples, "runs");
    EXPECT_EQ(c->metric("iops")->sides[0].samples, 3U);
    EXPECT_GT(*c->metric("iops")->sides[1].spread, 0.01);
    EXPECT_EQ(c->metric("iops")->sides[1].change, compare::Change::none); // 1 run of 3 is no proof
}

TEST(Compare, text_fits_and_is_the_same_each_time)
{
    const Snapshot a = record({.depth = 4, .wait_us = 2000});
    const Snapshot b = record({.scheduler = "mq-deadline"});
    const std::string text = report::text_comparison(of(a, b));
    EXPECT_EQ(text, report::text_comparison(of(a, b)));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(base::display_width(line), 80U) << line;
}

TEST(Expect, names_each_breach)
{
    const Snapshot s = record({.requests = 1000});
    const auto none = report::breaches(
        s, R"([{"metric": "totals.completed", "op": ">=", "value": 1000},
               {"metric": "queues.disk0.hctxs.0.totals.gets", "op": "==", "value": 1000}])");
    ASSERT_TRUE(none) << none.error().what;
    EXPECT_TRUE(none->empty());
    const auto some = report::breaches(
        s, R"([{"metric": "totals.completed", "op": "<", "value": 1000},
               {"metric": "queues.sda.totals.gets", "op": ">", "value": 0},
               {"metric": "queues.disk0.lun_depth", "op": ">", "value": 0}])");
    ASSERT_TRUE(some);
    ASSERT_EQ(some->size(), 3U);
    EXPECT_EQ((*some)[0], "totals.completed < 1000: it is 1000");
    EXPECT_NE((*some)[2].find("not measured"), std::string::npos) << (*some)[2];
    EXPECT_FALSE(report::breaches(s, "{}"));
    EXPECT_FALSE(report::breaches(s, R"([{"metric": "totals.gets", "op": "~", "value": 1}])"));
}

TEST(Html, is_one_page_that_names_nothing_outside)
{
    Snapshot s = record({.depth = 4, .wait_us = 2000});
    s.queues[0].name = "</script><script>alert(1)</script>";
    const std::string page = report::html_report(s);
    EXPECT_LT(page.size(), 2U << 20);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
    for (const char *outside : {" src=", "<link", "<img", "@import", "url("})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    const Snapshot t = record({});
    EXPECT_NE(report::html_comparison(of(s, t)).find("Explained by"), std::string::npos);
}

} // namespace
