// SPDX-License-Identifier: GPL-2.0-or-later
// Signals as events, and the command that runs while it is recorded. Input: signals, argv. Output:
// what has happened, when asked; nothing runs in a signal handler.
#pragma once

#include "base/fd.hpp"

#include "blktag/records.hpp"

#include <csignal>
#include <expected>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tagtrace {

// Blocks INT, TERM, HUP, QUIT and CHLD and takes them from one descriptor. SIGPIPE and SIGXFSZ
// become errnos. Make it before any thread.
class Signals {
  public:
    Signals();
    struct Received {
        int signal = 0;
        bool from_terminal =
            false; // the kernel sent it to the whole group: the command has it already
    };
    // One signal that asks to stop, waiting at most so long; SIGCHLD only ends the wait.
    std::optional<Received> wait(int timeout_ms);
    // What a child must undo before exec.
    void restore() const;

  private:
    blktag::base::Fd fd_;
    sigset_t before_{};
};

class Child {
  public:
    // Starts the command; an error where it cannot be run.
    static std::expected<Child, blktag::Error> start(const std::vector<std::string> &command,
                                                     const Signals &signals);
    // Whether it has ended; takes its status.
    bool ended();
    void send(int signal) const;
    // As a shell says it: its exit status, or 128 + the signal that ended it.
    [[nodiscard]] int status() const { return status_.value_or(0); }

  private:
    explicit Child(pid_t pid) : pid_(pid) {}
    pid_t pid_;
    std::optional<int> status_;
};

} // namespace tagtrace
