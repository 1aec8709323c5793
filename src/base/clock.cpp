// SPDX-License-Identifier: GPL-2.0-or-later
// Clocks as text: UTC by chrono's calendar, so neither locale nor time zone data is touched.
#include "base/clock.hpp"

#include <chrono>
#include <ctime>
#include <fmt/format.h>

namespace blktag::base {
namespace {

constexpr uint64_t ns_per_s = 1'000'000'000;

struct Moment {
    int year = 0;
    unsigned month = 0, day = 0;
    unsigned hour = 0, minute = 0, second = 0, ns = 0;
};

Moment moment_of(uint64_t real_ns)
{
    using namespace std::chrono;
    const uint64_t total_s = real_ns / ns_per_s;
    const uint64_t in_day_s = total_s % 86400;
    const sys_days day{days{static_cast<int64_t>(total_s / 86400)}};
    const year_month_day date{day};
    return {static_cast<int>(date.year()),
            static_cast<unsigned>(date.month()),
            static_cast<unsigned>(date.day()),
            static_cast<unsigned>(in_day_s / 3600),
            static_cast<unsigned>(in_day_s / 60 % 60),
            static_cast<unsigned>(in_day_s % 60),
            static_cast<unsigned>(real_ns % ns_per_s)};
}

uint64_t now_ns(clockid_t clock)
{
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * ns_per_s + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace

std::string format_utc(uint64_t real_ns)
{
    const Moment m = moment_of(real_ns);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06} UTC", m.year, m.month, m.day,
                       m.hour, m.minute, m.second, m.ns / 1000);
}

std::string format_iso(uint64_t real_ns)
{
    const Moment m = moment_of(real_ns);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", m.year, m.month, m.day, m.hour,
                       m.minute, m.second, m.ns);
}

std::string format_file_stamp(uint64_t real_ns)
{
    const Moment m = moment_of(real_ns);
    return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", m.year, m.month, m.day, m.hour, m.minute,
                       m.second);
}

std::string format_seconds(int64_t ns)
{
    const uint64_t size_ns = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    return fmt::format("{}{}.{:06}", ns < 0 ? "-" : "", size_ns / ns_per_s,
                       size_ns % ns_per_s / 1000);
}

uint64_t now_mono_ns()
{
    return now_ns(CLOCK_MONOTONIC);
}

uint64_t now_real_ns()
{
    return now_ns(CLOCK_REALTIME);
}

} // namespace blktag::base
