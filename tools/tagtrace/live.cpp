// SPDX-License-Identifier: GPL-2.0-or-later
// The loop around a live session, and printing events as they come.
#include "live.hpp"
#include "console.hpp"

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/units.hpp"
#include "order/sorter.hpp"
#include "report/print.hpp"

#include <fmt/format.h>

namespace tagtrace {

using namespace blktag;

namespace {

constexpr uint64_t order_window_ns = 200'000'000; // several turns of the drain

std::string joined(const std::vector<std::string> &words, const char *between)
{
    std::string text;
    for (const std::string &word : words)
        text += (text.empty() ? "" : between) + word;
    return text;
}

} // namespace

// true where a second signal wants the end at once.
bool Live::take_signals()
{
    while (const auto received = signals_.wait(0)) {
        if (interrupted_)
            forced_ = true;
        interrupted_ = true;
        if (child_ && !received->from_terminal)
            child_->send(received->signal);
    }
    return forced_;
}

bool Live::end_is_due(uint64_t now_ns)
{
    const bool child_ended = child_ && child_->ended();
    const bool time_is_up = options_.duration_ns && now_ns - started_ns_ >= *options_.duration_ns;
    return interrupted_ || child_ended || time_is_up;
}

Ended Live::run(const std::function<Go(const Batch &)> &take)
{
    Ended ended;
    started_ns_ = base::now_mono_ns();
    if (!options_.command.empty()) {
        auto child = Child::start(options_.command, signals_);
        if (!child) {
            complain(child.error());
            ended.failed = true;
            return ended;
        }
        child_ = *child;
    }
    bool asked = false;
    for (Batch batch;;) {
        const auto more = session_.next(batch);
        if (!more) {
            complain(more.error());
            ended.failed = true;
            break;
        }
        const bool wants_no_more = take(batch) == Go::stop;
        if (!*more || take_signals())
            break;
        if (!asked && (wants_no_more || end_is_due(base::now_mono_ns()))) {
            session_.request_stop();
            asked = true;
        }
    }
    ended.interrupted = interrupted_;
    return ended;
}

std::optional<int> Live::wait_for_command()
{
    if (!child_)
        return std::nullopt;
    while (!child_->ended()) {
        if (const auto received = signals_.wait(200)) {
            if (!received->from_terminal)
                child_->send(received->signal);
            if (interrupted_)
                return 128 + received->signal; // asked twice: the command is left to itself
            interrupted_ = true;
        }
    }
    return child_->status();
}

TraceInfo describe(const TraceInfo &info, const Options &options)
{
    TraceInfo described = info;
    described.tool_version = BLKTAG_VERSION;
    described.argv = options.argv;
    described.command = joined(options.command, " ");
    if (described.filters.empty())
        described.filters = options.filters;
    return described;
}

void tell_session(const TraceInfo &info)
{
    notice(fmt::format("kernel {}, {} CPUs, ring {} per CPU", info.kernel_release, info.nr_cpus,
                       base::format_bytes(info.ring_size_bytes)));
    for (const ProbeRung &rung : info.rungs)
        notice(fmt::format("  {:<16} {:<10} {}", rung.probe, rung.rung,
                           rung.hook.empty() ? rung.why : rung.hook));
    if (!info.not_measured.empty())
        notice("not measured here: " + joined(info.not_measured, ", "));
}

void tell_books(const Books &books, uint64_t elapsed_ns, const std::string &where)
{
    std::string text =
        fmt::format("{}, {} events = {} recorded + {} lost", base::format_duration(elapsed_ns),
                    base::format_count(books.produced), base::format_count(books.recorded),
                    base::format_count(books.lost));
    if (books.missed)
        text += fmt::format(", {} probe runs missed", base::format_count(books.missed));
    notice(text + where);
    if (books.lost)
        notice("  counters stay exact; for whole records give a larger --ring-size, or fewer "
               "--only groups");
}

namespace {

// Prints events as they come, in time order.
class Printing {
  public:
    Printing(const Options &options, const capture::Session &session)
        : printer_(options.json, session.info()), sorter_(order_window_ns)
    {}
    Go take(const Batch &batch)
    {
        incoming_ = batch;
        sorter_.push(incoming_);
        sorter_.pop(base::now_mono_ns(), ready_);
        printer_.print(ready_, output_.text);
        return output_.flush() == Output::State::good ? Go::on : Go::stop;
    }
    Output::State finish()
    {
        sorter_.flush(ready_);
        printer_.print(ready_, output_.text);
        return output_.flush();
    }
    [[nodiscard]] int errnum() const { return output_.errnum(); }

  private:
    report::EventPrinter printer_;
    order::Sorter sorter_;
    Batch incoming_, ready_;
    Output output_;
};

} // namespace

int run_live(const Options &options)
{
    Signals signals;
    auto session = capture::Session::open(options.capture);
    if (!session) {
        complain(session.error());
        return exit_failed;
    }
    if (options.verbose)
        tell_session((*session)->info());
    Live live(options, signals, **session);
    Printing printing(options, **session);
    Ended ended = live.run([&](const Batch &batch) { return printing.take(batch); });
    const Output::State state = printing.finish();
    if (state == Output::State::failed) {
        complain(base::errno_error("cannot write to standard output", printing.errnum()));
        ended.failed = true;
    }
    if (state != Output::State::closed)
        tell_books((*session)->books(), base::now_mono_ns() - live.started_ns(), "");
    const auto command_status = live.wait_for_command();
    if (ended.failed)
        return exit_failed;
    if (command_status.value_or(0) != 0)
        return *command_status;
    return (*session)->books().lost ? exit_impaired : exit_ok;
}

} // namespace tagtrace
