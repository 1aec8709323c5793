// SPDX-License-Identifier: GPL-2.0-or-later
// Layout, widths and forms of the reports. Input: tables and traces made here. Output: test
// results.
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/json_text.hpp"
#include "report/layout.hpp"
#include "report/text.hpp"
#include "support/trace_text.hpp"

#include <clocale>
#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>
#include <sstream>

namespace {

using namespace blktag;
using nlohmann::json;

using test::snapshot_of;

size_t widest(const std::string &text)
{
    size_t columns = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        columns = std::max(columns, base::display_width(line));
    return columns;
}

// Names as long as they come and numbers as large as they come.
std::string monstrous()
{
    const std::string name(200, 'n');
    const std::string big = "18446744073709551615";
    std::string text =
        "info kernel=" + name + " host=" + name + " command=\"" + name +
        " x\" start=0 end=1s\n"
        "argv " +
        name + " " + name + "\nfilter " + name +
        "\n"
        "rung probe=" +
        name + " rung=kprobe why=" + name +
        "\n"
        "books produced=" +
        big + " recorded=" + big + " lost=" + big +
        "\n"
        "damage offset=" +
        big + " length=" + big + " what=" + name +
        "\n"
        "topology {\"queues\":[{\"queue_id\":0,\"name\":\"" +
        name + "\",\"driver\":\"" + name + "\",\"scheduler\":\"" + name + "\",\"slaves\":[\"" +
        name +
        "\"],\"set_id\":1}]}\n"
        "space id=0 set=1 depth=65535 reserved=65535\nhctx id=0 queue=0 num=0 space=0\n"
        "gauge ts=1s space=0 depth=65535 held=65535 in_flight=65535 oldest_get=1ns\n"
        "task ts=1 tid=4294967295 comm=\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\n"
        "io hctx=0 tid=4294967295 get=1 issue=2s complete=90000s put=99999s bytes=4294967295\n"
        "wait hctx=0 tid=4294967295 start=1 ts=99999s depth=4294967295 held=4294967295 "
        "cause=fair_share\n"
        "wait hctx=9 tid=4294967295 start=1 ts=99999s flags=open depth=4294967295 held=4294967295\n"
        "counters ts=1s hctx=0";
    for (unsigned i = 0; i < BT_NR_COUNTERS; ++i)
        text += " " + std::string(counter_name(static_cast<bt_counter>(i))) + "=" + big;
    return text + "\n";
}

TEST(Text, NeverWiderThan80Columns)
{
    EXPECT_LE(widest(report::text_report(snapshot_of(monstrous()))), 80U);
}

TEST(Text, SameBytesInAnyLocaleAndTimeZone)
{
    const Snapshot s = snapshot_of(monstrous());
    const std::string text = report::text_report(s);
    const std::string json_text = report::json_report(s);
    ::setenv("TZ", "Asia/Kathmandu", 1);
    for (const char *locale : {"de_DE.UTF-8", "C.UTF-8", "tr_TR.UTF-8"}) {
        std::setlocale(LC_ALL, locale);
        EXPECT_EQ(report::text_report(s), text);
        EXPECT_EQ(report::json_report(s), json_text);
    }
    std::setlocale(LC_ALL, "C");
}

TEST(Text, ManyHctxsAreCutWithACount)
{
    std::string text;
    for (int i = 0; i < 50; ++i)
        text += "hctx id=" + std::to_string(i) + " queue=0 num=" + std::to_string(i) +
                " space=0\ncounters ts=1s hctx=" + std::to_string(i) + " gets_single=1\n";
    const std::string out =
        report::text_report(snapshot_of("queue id=0 set=0 major=8\n" + text), {.max_hctxs = 10});
    EXPECT_NE(out.find("and 40 more hctxs (--json has them all)"), std::string::npos) << out;
}

TEST(Text, WhatNothingMeasuredIsADashNotAZero)
{
    const std::string out =
        report::text_report(snapshot_of("queue id=0 set=0 major=8\nhctx id=0 queue=0 num=0\n"
                                        "io hctx=0 get=1 issue=2 complete=3 put=4\n"));
    EXPECT_NE(out.find("NOT MEASURED  (every counter)"), std::string::npos) << out;
    EXPECT_NE(out.find("  gets       -"), std::string::npos) << out;
    EXPECT_EQ(out.find("  zero "), std::string::npos) << out;
}

TEST(Table, DropsOptionalColumnsBeforeItCuts)
{
    report::Page page;
    report::Table table(2, {{"name", false, true},
                            {"keep"},
                            {"first to go", true, false, 2},
                            {"next", true, false, 1}});
    table.row({std::string(50, 'a'), std::string(30, 'b'), std::string(30, 'c'), "d"});
    table.print(page);
    const std::string out = page.take();
    EXPECT_LE(widest(out), 80U);
    EXPECT_EQ(out.find('c'), std::string::npos) << out;
    EXPECT_NE(out.find(std::string(30, 'b') + " "), std::string::npos) << out;
    EXPECT_NE(out.find('~'), std::string::npos);
}

TEST(Page, ItemsContinueBelowThemselves)
{
    report::Page page;
    page.gap();
    page.item("label", "one two", 0, 8);
    page.gap();
    page.gap();
    page.item("long", std::string(40, 'x') + " " + std::string(40, 'y'), 2, 8);
    EXPECT_EQ(page.take(), "label   one two\n\n  long    " + std::string(40, 'x') + "\n          " +
                               std::string(40, 'y') + "\n");
}

TEST(Page, ANumberKeepsItsUnit)
{
    report::Page page;
    page.item("", std::string(70, 'x') + " max 10 ms, then", 2, 0);
    EXPECT_EQ(page.take(), "  " + std::string(70, 'x') + " max\n  10 ms, then\n");
}

RC_GTEST_PROP(Page, NoLineIsWiderThanThePage, (const std::string &label, const std::string &text))
{
    report::Page page;
    page.item(base::escape_terminal(label), base::escape_terminal(text), 2, 14);
    page.line(base::escape_terminal(text));
    RC_ASSERT(widest(page.take()) <= report::page_columns);
}

TEST(Units, Texts)
{
    EXPECT_EQ(report::count_text(std::nullopt), "-");
    EXPECT_EQ(report::percent_text(0, 0), "-");
    EXPECT_EQ(report::percent_text(1, 100000), "<0.1 %");
    EXPECT_EQ(report::percent_text(0, 100000), "0.0 %");
    EXPECT_EQ(report::percent_text(1, 8), "12.5 %");
    EXPECT_EQ(report::mean_text(0), "0.0");
    EXPECT_EQ(report::mean_text(0.0123), "0.012");
    EXPECT_EQ(report::mean_text(12345.6), "12346");
    EXPECT_EQ(report::rate_text(48.25e6), "48.2 MB/s");
}

TEST(Json, TextIsTheSameValueAndReadable)
{
    const auto value = nlohmann::ordered_json::parse(
        R"({"b":[1,2,[3,4]],"a":{"x":null,"y":[]},"c":[{"k":1.5}],"s":"\u001b\u00e9\"","e":{}})");
    std::string out;
    report::append_json(out, value);
    EXPECT_EQ(nlohmann::ordered_json::parse(out), value);
    EXPECT_NE(out.find("\"b\": [1,2,[3,4]]"), std::string::npos) << out;
    EXPECT_EQ(out.find('\x1b'), std::string::npos);
}

TEST(Json, HasTheFixedNames)
{
    const json report = json::parse(report::json_report(snapshot_of(monstrous())));
    for (const char *name : {"gets", "issued", "completed", "submit_waits", "dispatch_waits",
                             "restarts", "runs", "budget_refused", "batches"}) {
        EXPECT_TRUE(report["totals"].contains(name)) << name;
        EXPECT_TRUE(report["queues"][0]["totals"].contains(name)) << name;
        EXPECT_TRUE(report["queues"][0]["hctxs"][0]["totals"].contains(name)) << name;
    }
    for (const char *name : {"exhausted", "fair_share", "sched_depth", "reserved", "stuck"})
        EXPECT_TRUE(report["waits_by_cause"].contains(name)) << name;
    for (const char *name : {"produced", "recorded", "lost"})
        EXPECT_TRUE(report["books"].contains(name)) << name;
    EXPECT_EQ(report["schema"], std::string(report::json_schema_version));
    EXPECT_TRUE(report["not_measured"].is_array());
    EXPECT_TRUE(report["queues"][0]["hctxs"][0].contains("hctx_num"));
    EXPECT_TRUE(report["queues"][0]["hctxs"][0].contains("depth"));
}

TEST(Json, SeveralRecordingsAreAnArray)
{
    const json reports = json::parse(report::json_reports({snapshot_of(""), snapshot_of("")}));
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[1]["schema"], std::string(report::json_schema_version));
}

TEST(Json, SchemaIsEmbeddedWhole)
{
    const json schema = json::parse(report::json_schema());
    EXPECT_TRUE(schema["$defs"].contains("report"));
    for (const auto &name : schema["$defs"]["report"]["required"])
        EXPECT_TRUE(schema["$defs"]["report"]["properties"].contains(name.get<std::string>()))
            << name;
}

} // namespace
