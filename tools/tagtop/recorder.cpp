// SPDX-License-Identifier: GPL-2.0-or-later
// Recording from within tagtop. Input: a second session, with records. Output: a trace file.
#include "recorder.hpp"

#include "base/clock.hpp"
#include "base/units.hpp"
#include "store/output_file.hpp"
#include "store/writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace tagtop {

using namespace blktag;

Recorder::Recorder(capture::Options options) : options_(std::move(options))
{
    options_.records = true;
    options_.counter_interval_ms = 1000;
}

Recorder::~Recorder()
{
    stop();
}

void Recorder::start(uint64_t now_real_ns)
{
    stop();
    file_ = "tagtop-" + base::format_file_stamp(now_real_ns) + ".tag";
    stop_ = false;
    ended_ = false;
    result_.clear();
    thread_ = std::thread([this] { work(); });
}

std::string Recorder::stop()
{
    if (!thread_.joinable())
        return {};
    stop_ = true;
    thread_.join();
    return result_;
}

std::string Recorder::running(std::string &failure)
{
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable())
        return {};
    if (!ended_)
        return file_;
    failure = result_;
    result_.clear();
    return {};
}

void Recorder::work()
{
    std::string result = record();
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    ended_ = true;
}

std::string Recorder::record()
{
    auto fd = store::create_output(file_, false);
    if (!fd)
        return fd.error().what;
    auto session = capture::Session::open(options_);
    if (!session) {
        ::unlink(file_.c_str()); // made just now, and empty
        return session.error().what;
    }
    TraceInfo info = (*session)->info();
    info.argv = {"tagtop"};
    auto writer = store::Writer::open(std::move(*fd), info, {.name = file_});
    if (!writer)
        return writer.error().what;
    bool asked = false;
    for (Batch batch;;) {
        const auto more = (*session)->next(batch);
        if (!more)
            return more.error().what;
        (*writer)->set_books((*session)->books());
        auto written = (*writer)->put(batch);
        if (written)
            written = (*writer)->tick(base::now_mono_ns());
        if (!written)
            return written.error().what;
        if (!*more)
            break;
        if (stop_ && !std::exchange(asked, true))
            (*session)->request_stop();
    }
    info = (*session)->info();
    info.argv = {"tagtop"};
    if (auto finished = (*writer)->finish(info, (*session)->books()); !finished)
        return finished.error().what;
    return fmt::format("{}: {} records, {} lost", file_,
                       base::format_count((*session)->books().recorded),
                       base::format_count((*session)->books().lost));
}

} // namespace tagtop
