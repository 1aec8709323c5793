// SPDX-License-Identifier: GPL-2.0-or-later
// tagtop: who waits for tags, on what, and who holds them. Input: argv. Output: a screen, or text;
// see tagtop(8).
#include "ui.hpp"

#include <clocale>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace tagtop {

using namespace blktag;

base::Fd block_signals()
{
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT})
        sigaddset(&wanted, signal);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGTTOU, SIG_IGN); // giving the terminal back from the background must not stop us
    return base::Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

void complain(const Error &error)
{
    fmt::print(stderr, "tagtop: {}\n", error.what);
    if (!error.remedy.empty())
        fmt::print(stderr, "tagtop:   {}\n", error.remedy);
}

namespace {

// What is missing, one line each, and what works without it.
void tell_what_is_missing(const Options &options)
{
    for (const capture::Requirement &need : capture::examine(options.capture).requirements)
        if (!need.ok)
            fmt::print(stderr, "tagtop:   {}: {}; {}\n", need.name, need.found, need.remedy);
    fmt::print(stderr, "tagtop:   a recording needs no privilege: tagtop --replay FILE "
                       "(made by tagtrace --record=FILE)\n");
}

int run(int argc, char **argv)
{
    std::setlocale(LC_ALL, "");
    auto options = parse_options(argc, argv);
    if (!options)
        return options.error();
    const base::Fd signals = block_signals();
    std::unique_ptr<Player> player;
    if (options->replay.empty()) {
        player = play_live(*options);
    } else {
        auto opened = play_recording(*options);
        if (!opened) {
            complain({options->replay + ": " + opened.error().what, opened.error().remedy});
            return exit_failed;
        }
        player = std::move(*opened);
    }
    const int status = options->batch ? run_batch(*options, *player, signals.get())
                                      : run_terminal(*options, *player, signals.get());
    if (options->replay.empty() && player->failure())
        tell_what_is_missing(*options);
    return status;
}

} // namespace

} // namespace tagtop

int main(int argc, char **argv)
{
    try {
        return tagtop::run(argc, argv);
    } catch (const std::exception &error) {
        fmt::print(stderr, "tagtop: {}\n", error.what());
        return tagtop::exit_failed;
    }
}
