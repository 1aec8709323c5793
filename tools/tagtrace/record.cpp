// SPDX-License-Identifier: GPL-2.0-or-later
// Recording to a file or stdout. Input: options, the live session. Output: a trace, notices on
// stderr, the exit status.
#include "console.hpp"
#include "live.hpp"
#include "progress.hpp"

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/units.hpp"
#include "store/output_file.hpp"
#include "store/writer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace tagtrace {

using namespace blktag;

namespace {

bool to_stdout(const Options &options)
{
    return options.file == "-";
}

std::expected<base::Fd, Error> open_output(const Options &options)
{
    if (!to_stdout(options))
        return store::create_output(options.file, options.force);
    if (::isatty(STDOUT_FILENO))
        return std::unexpected(
            Error{"a recording is not for a terminal",
                  "pipe it on, give --record=FILE, or leave --record out to see events"});
    base::Fd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd.valid())
        return std::unexpected(base::errno_error("cannot use standard output", errno));
    return fd;
}

class Recording {
  public:
    Recording(const Options &options, capture::Session &session, store::Writer &writer)
        : options_(options), session_(session), writer_(writer)
    {}

    Go take(const Batch &batch)
    {
        const uint64_t now_ns = base::now_mono_ns();
        started_ns_ = started_ns_ ? started_ns_ : now_ns;
        writer_.set_books(session_.books());
        if (!failed_) {
            auto written = writer_.put(batch);
            if (written)
                written = writer_.tick(now_ns);
            if (!written)
                fail(written.error());
        }
        progress_.show({now_ns - started_ns_, session_.books().recorded, session_.lost_so_far(),
                        writer_.bytes_written()},
                       now_ns);
        const bool full =
            options_.max_size_bytes && writer_.bytes_written() >= *options_.max_size_bytes;
        return failed_ || full ? Go::stop : Go::on;
    }

    void finish()
    {
        progress_.clear();
        if (failed_)
            return;
        const auto finished = writer_.finish(describe(session_.info(), options_), session_.books());
        if (!finished)
            fail(finished.error());
    }

    [[nodiscard]] bool failed() const { return failed_; }

  private:
    void fail(const Error &error)
    {
        failed_ = true;
        progress_.clear();
        if (writer_.failed_errno() == EPIPE)
            return notice("the reader of standard output went away; recording stopped");
        complain(error);
        const uint64_t until_ns = writer_.written_until_ns(),
                       from_ns = session_.info().start_mono_ns;
        if (until_ns > from_ns)
            notice(fmt::format("  {} is readable up to {} s ({} records)", options_.file,
                               base::format_seconds(static_cast<int64_t>(until_ns - from_ns)),
                               base::format_count(writer_.records_written())));
    }

    const Options &options_;
    capture::Session &session_;
    store::Writer &writer_;
    Progress progress_;
    uint64_t started_ns_ = 0;
    bool failed_ = false;
};

int exit_status(const Ended &ended, bool write_failed, const Books &books)
{
    if (ended.failed || write_failed)
        return exit_failed;
    if (ended.command_status.value_or(0) != 0)
        return *ended.command_status;
    return books.lost ? exit_impaired : exit_ok;
}

int record_session(const Options &options, Signals &signals, capture::Session &session, base::Fd fd)
{
    const std::string name = to_stdout(options) ? "standard output" : options.file;
    auto writer =
        store::Writer::open(std::move(fd), describe(session.info(), options), {.name = name});
    if (!writer) {
        complain(writer.error());
        return exit_failed;
    }
    Live live(options, signals, session);
    Recording recording(options, session, **writer);
    Ended ended = live.run([&](const Batch &batch) { return recording.take(batch); });
    recording.finish();
    if (!recording.failed())
        tell_books(session.books(), base::now_mono_ns() - live.started_ns(),
                   fmt::format("; {} in {}", base::format_bytes((*writer)->bytes_written()), name));
    ended.command_status = live.wait_for_command();
    return exit_status(ended, recording.failed(), session.books());
}

} // namespace

int run_record(const Options &options)
{
    Signals signals;
    // Before anything is attached: a place that cannot be written is found out at once.
    auto fd = open_output(options);
    if (!fd) {
        complain(fd.error());
        return exit_failed;
    }
    auto session = capture::Session::open(options.capture);
    if (!session) {
        complain(session.error());
        if (!to_stdout(options) && !options.force)
            ::unlink(options.file.c_str()); // made by us just now, and empty
        return exit_failed;
    }
    if (options.verbose)
        tell_session((*session)->info());
    return record_session(options, signals, **session, std::move(*fd));
}

} // namespace tagtrace
