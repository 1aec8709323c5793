// SPDX-License-Identifier: GPL-2.0-or-later
// The loop around a live session, for recording and for printing: signals, the command, the time
// limit. Input: options, what to do with a batch. Output: why it ended.
#pragma once

#include "child.hpp"
#include "options.hpp"

#include "capture/capture.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace tagtrace {

struct Ended {
    bool failed = false; // capture or the batch's taker failed; it has been said
    bool interrupted = false;
    std::optional<int> command_status;
};

// One call's answer: go on, or the taker wants no more.
enum class Go { on, stop };

class Live {
  public:
    Live(const Options &options, Signals &signals, blktag::capture::Session &session)
        : options_(options), signals_(signals), session_(session)
    {}
    // Starts the command, then gives each batch (empty ones too) to `take` until something ends it.
    // `take` is called on with what is left after the end was asked for.
    Ended run(const std::function<Go(const blktag::Batch &)> &take);
    // After run(): waits for the command, which may outlive the recording. Its status, as a shell
    // says it.
    std::optional<int> wait_for_command();
    [[nodiscard]] uint64_t started_ns() const { return started_ns_; }

  private:
    [[nodiscard]] bool end_is_due(uint64_t now_ns);
    bool take_signals();

    const Options &options_;
    Signals &signals_;
    blktag::capture::Session &session_;
    std::optional<Child> child_;
    uint64_t started_ns_ = 0;
    bool interrupted_ = false;
    bool forced_ = false;
};

// The recording's description with what only the command line knows.
blktag::TraceInfo describe(const blktag::TraceInfo &info, const Options &options);
// On stderr, for -v: probes, ring size.
void tell_session(const blktag::TraceInfo &info);
// The closing line: "10.0 s, 123 events recorded, 0 lost ...".
void tell_books(const blktag::Books &books, uint64_t elapsed_ns, const std::string &where);

int run_live(const Options &options);
int run_record(const Options &options);

} // namespace tagtrace
