// SPDX-License-Identifier: GPL-2.0-or-later
// Signals as events, and the command that runs while it is recorded: signalfd, fork and wait.
#include "child.hpp"

#include "base/text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tagtrace {

using namespace blktag;

Signals::Signals()
{
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
        sigaddset(&wanted, signal);
    ::sigprocmask(SIG_BLOCK, &wanted, &before_);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
    fd_ = base::Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<Signals::Received> Signals::wait(int timeout_ms)
{
    pollfd ready{fd_.get(), POLLIN, 0};
    if (timeout_ms > 0)
        ::poll(&ready, 1, timeout_ms);
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
        if (info.ssi_signo != SIGCHLD)
            return Received{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
    }
    return std::nullopt;
}

void Signals::restore() const
{
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGXFSZ, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::expected<Child, Error> Child::start(const std::vector<std::string> &command,
                                         const Signals &signals)
{
    // The pipe closes by itself when exec succeeds; else it carries the errno.
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return std::unexpected(base::errno_error("cannot make a pipe", errno));
    base::Fd from_child(ends[0]), to_parent(ends[1]);
    std::vector<char *> argv;
    for (const std::string &word : command)
        argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid < 0)
        return std::unexpected(base::errno_error("cannot start a process", errno));
    if (pid == 0) {
        signals.restore();
        ::execvp(argv[0], argv.data());
        const int errnum = errno;
        (void)!::write(to_parent.get(), &errnum, sizeof(errnum));
        ::_exit(127);
    }
    to_parent.close_now();
    int errnum = 0;
    const auto got =
        base::read_full(from_child.get(), std::as_writable_bytes(std::span(&errnum, 1)));
    Child child(pid);
    if (!got || *got == 0)
        return child;
    ::waitpid(pid, nullptr, 0);
    return std::unexpected(base::errno_error("cannot run " + base::escape_terminal(command[0]),
                                             errnum, "what follows -- is the command to run"));
}

bool Child::ended()
{
    if (status_)
        return true;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_)
        return false;
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

void Child::send(int signal) const
{
    if (!status_)
        ::kill(pid_, signal);
}

} // namespace tagtrace
