// SPDX-License-Identifier: GPL-2.0-or-later
// Child processes. Input: command lines. Output: see process.hpp.
#include "process.hpp"

#include "base/fd.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

namespace taglab {

namespace {

using blktag::Error;

// Blocks the signals that ask for an end; they are taken by sigtimedwait while a child runs.
class AskedToStop {
  public:
    AskedToStop()
    {
        sigemptyset(&set_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
            sigaddset(&set_, signal);
        sigprocmask(SIG_BLOCK, &set_, &before_);
    }
    AskedToStop(const AskedToStop &) = delete;
    AskedToStop &operator=(const AskedToStop &) = delete;
    ~AskedToStop() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

    [[nodiscard]] const sigset_t &before() const { return before_; }
    // The signal that came within a tenth of a second, or 0.
    [[nodiscard]] int wait() const
    {
        const timespec tenth{0, 100'000'000};
        const int signal = sigtimedwait(&set_, nullptr, &tenth);
        return signal > 0 ? signal : 0;
    }

  private:
    sigset_t set_{};
    sigset_t before_{};
};

[[noreturn]] void become(const std::vector<std::string> &command, const std::string &folder,
                         const sigset_t &mask, int output)
{
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    dup2(output, STDOUT_FILENO);
    std::vector<char *> words;
    words.reserve(command.size() + 1);
    for (const std::string &word : command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    if (folder.empty() || chdir(folder.c_str()) == 0)
        execvp(words[0], words.data());
    _exit(127);
}

int exit_status(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

} // namespace

std::expected<Ended, Error> run_program(const std::vector<std::string> &command,
                                        const std::string &folder)
{
    const AskedToStop signals;
    const pid_t child = fork();
    if (child < 0)
        return std::unexpected(blktag::base::errno_error("cannot start " + command[0], errno));
    if (child == 0)
        become(command, folder, signals.before(), STDERR_FILENO);
    Ended out;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        const int signal = signals.wait();
        if (signal == 0 || signal == SIGCHLD)
            continue;
        out.interrupted = true;
        kill(child, SIGTERM);
    }
    out.status = exit_status(status);
    if (out.status == 127 && !out.interrupted)
        return std::unexpected(Error{"cannot run " + command[0], "is it there and executable?"});
    return out;
}

std::expected<std::string, Error> program_output(const std::vector<std::string> &command)
{
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        return std::unexpected(blktag::base::errno_error("cannot make a pipe", errno));
    const blktag::base::Fd from(ends[0]);
    blktag::base::Fd to(ends[1]);
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    const pid_t child = fork();
    if (child < 0)
        return std::unexpected(blktag::base::errno_error("cannot start " + command[0], errno));
    if (child == 0)
        become(command, "", mask, to.get());
    to.close_now();
    std::string text;
    std::array<char, 4096> bytes{};
    while (true) {
        const ssize_t got = read(from.get(), bytes.data(), bytes.size());
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        if (got > 0)
            text.append(bytes.data(), static_cast<size_t>(got));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (exit_status(status) != 0)
        return std::unexpected(Error{
            fmt::format("{} ended with {}", fmt::join(command, " "), exit_status(status)), ""});
    return text;
}

} // namespace taglab
