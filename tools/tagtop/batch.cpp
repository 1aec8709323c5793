// SPDX-License-Identifier: GPL-2.0-or-later
// Screens as plain text or JSON lines, for logs, pipes and screen readers. Input: Player. Output:
// standard output.
#include "ui.hpp"

#include "base/clock.hpp"
#include "report/json.hpp"
#include "view/draw.hpp"
#include "view/views.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <span>
#include <sys/signalfd.h>
#include <unistd.h>

namespace tagtop {

using namespace blktag;

namespace {

constexpr view::Size usual{132, 24};

// As high as the view needs: nothing scrolls on paper.
view::Size size_for(const Options &options, const view::Screen &screen)
{
    if (options.size)
        return *options.size;
    view::Size size = usual;
    const auto rows = view::table_of(options.state.view, view::Facts(screen), options.state).rows;
    size.height = std::clamp(static_cast<int>(rows.size()) + 6, usual.height, 10000);
    return size;
}

std::string text_of(const Options &options, const view::Screen &screen)
{
    if (options.json)
        return report::json_line(*screen.total);
    return view::draw(screen, options.state, size_for(options, screen)).text() + "\n";
}

// false: the reader went away, or the place is full.
bool print(const std::string &text, int &errnum)
{
    size_t written = 0;
    errnum = base::write_all(STDOUT_FILENO, std::as_bytes(std::span(text)), written);
    return errnum == 0;
}

bool signalled(int signals)
{
    signalfd_siginfo info{};
    while (::read(signals, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
        if (info.ssi_signo != SIGWINCH && info.ssi_signo != SIGCONT && info.ssi_signo != SIGTSTP)
            return true;
    return false;
}

void wait(Player &player, int signals, uint64_t now_ns)
{
    const uint64_t until_ns = player.next_ns(now_ns);
    const uint64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    pollfd ready[] = {{signals, POLLIN, 0}, {player.fd(), POLLIN, 0}};
    ::poll(ready, 2, static_cast<int>(std::min<uint64_t>(wait_ns / 1'000'000, 1000)));
}

} // namespace

int run_batch(const Options &options, Player &player, int signals)
{
    uint64_t printed = 0;
    bool impaired = false;
    const bool replay = !options.replay.empty();
    // A recording need not be waited for: each look at it comes at the time it is due.
    uint64_t replay_ns = base::now_mono_ns();
    while (!signalled(signals)) {
        if (!replay)
            wait(player, signals, base::now_mono_ns());
        else
            replay_ns = std::max(replay_ns, player.next_ns(replay_ns));
        const bool fresh = player.poll(replay ? replay_ns : base::now_mono_ns());
        if (const auto failure = player.failure()) {
            complain(*failure);
            return exit_failed;
        }
        const view::Screen screen = player.screen(base::now_mono_ns());
        if (fresh && screen.total && screen.interval) { // the first look has no interval yet
            impaired = screen.total->books.lost != 0 || !screen.total->damage.empty();
            int errnum = 0;
            if (!print(text_of(options, screen), errnum)) {
                if (errnum == EPIPE)
                    return exit_ok;
                complain(base::errno_error("cannot write to standard output", errnum));
                return exit_failed;
            }
            if (++printed == options.frames)
                break;
        }
        if (player.ended() && !fresh)
            break;
    }
    return impaired ? exit_impaired : exit_ok;
}

} // namespace tagtop
