// SPDX-License-Identifier: GPL-2.0-or-later
// The interactive loop: keys, signals and new screens, one draw for all that came together. Input:
// Player, terminal. Output: the screen, effects.
#include "recorder.hpp"
#include "ui.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"
#include "term/terminal.hpp"
#include "view/draw.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace tagtop {

using namespace blktag;

namespace {

constexpr uint64_t message_ns = 4'000'000'000;
constexpr int max_keys_a_turn = 200; // a flood of them must not keep the screen from being drawn

class Ui {
  public:
    Ui(const Options &options, Player &player, int signals, term::Terminal &terminal)
        : player_(player), signals_(signals), terminal_(terminal), state_(options.state),
          recorder_(options.capture), live_(options.replay.empty())
    {
        take_screen(base::now_mono_ns());
    }
    int run();
    [[nodiscard]] const view::UiState &state() const { return state_; }

  private:
    void take_screen(uint64_t now_ns);
    void draw();
    void wait(uint64_t now_ns);
    void take_signals();
    void take_input();
    void press(uint32_t key);
    void apply(const view::Effect &effect);
    void say(std::string text)
    {
        message_ = std::move(text);
        message_until_ns_ = base::now_mono_ns() + message_ns;
        dirty_ = true;
    }
    void save_text();
    void record();
    void show_stack(uint32_t tid);
    void suspend();

    Player &player_;
    int signals_;
    term::Terminal &terminal_;
    view::UiState state_;
    view::Screen screen_;
    Recorder recorder_;
    bool live_;
    bool dirty_ = true;
    bool quit_ = false;
    int signal_ = 0;
    std::string message_;
    uint64_t message_until_ns_ = 0;
};

void Ui::take_screen(uint64_t now_ns)
{
    view::Screen fresh = player_.screen(now_ns);
    if (state_.paused && live_ && screen_.total) { // frozen, but its status goes on
        fresh.total = screen_.total;
        fresh.interval = screen_.interval;
        fresh.history = screen_.history;
        fresh.status.now_real_ns = screen_.status.now_real_ns;
    }
    screen_ = std::move(fresh);
    std::string failure;
    screen_.status.recording_to = recorder_.running(failure);
    if (!failure.empty())
        say("recording ended: " + base::escape_terminal(failure));
    if (now_ns > message_until_ns_)
        message_.clear();
    screen_.status.message = message_;
    if (screen_.status.replay)
        state_.paused = !screen_.status.replay->playing;
}

void Ui::draw()
{
    terminal_.draw(view::draw(screen_, state_, terminal_.size()), state_.theme);
    dirty_ = false;
}

void Ui::wait(uint64_t now_ns)
{
    const uint64_t until_ns = player_.next_ns(now_ns);
    const uint64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const int timeout_ms =
        dirty_ ? 0 : static_cast<int>(std::min<uint64_t>(wait_ns / 1'000'000 + 1, 1000));
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}, {player_.fd(), POLLIN, 0}};
    ::poll(ready, 3, timeout_ms);
    if (ready[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        quit_ = true; // the terminal was closed
}

void Ui::suspend()
{
    terminal_.suspend();
    ::kill(::getpid(), SIGSTOP);
    terminal_.resume();
    dirty_ = true;
}

void Ui::take_signals()
{
    signalfd_siginfo info{};
    bool resized = false;
    while (::read(signals_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
        switch (info.ssi_signo) {
        case SIGWINCH:
            resized = true;
            break;
        case SIGCONT:
            resized = true; // stopped from outside, and the shell wrote over the screen
            break;
        case SIGTSTP:
            suspend();
            break;
        default:
            signal_ = static_cast<int>(info.ssi_signo);
            quit_ = true;
        }
    if (resized) {
        terminal_.resized();
        dirty_ = true;
    }
}

void Ui::press(uint32_t key)
{
    for (const view::Effect &effect : view::press(state_, key, screen_, terminal_.size()))
        apply(effect);
    dirty_ = true;
}

void Ui::take_input()
{
    for (int i = 0; i < max_keys_a_turn && !quit_; i++) {
        const auto input = terminal_.read();
        if (!input)
            return;
        switch (input->kind) {
        case term::Input::Kind::closed:
            quit_ = true;
            return;
        case term::Input::Kind::key:
            press(input->key);
            break;
        case term::Input::Kind::wheel:
            press(input->wheel < 0 ? view::key_up : view::key_down);
            break;
        case term::Input::Kind::click:
            view::click(state_, input->x, input->y, screen_, terminal_.size());
            dirty_ = true;
            break;
        }
    }
}

void Ui::save_text()
{
    const std::string name = "tagtop-" + base::format_file_stamp(base::now_real_ns()) + ".txt";
    std::ofstream file(name);
    file << view::draw(screen_, state_, terminal_.size()).text();
    file.close();
    say(file ? "screen written to " + name : "cannot write " + name);
}

void Ui::record()
{
    if (!live_)
        return say("this is a recording already");
    std::string failure;
    if (recorder_.running(failure).empty()) {
        recorder_.start(base::now_real_ns());
        return say("recording; a: stop");
    }
    say(base::escape_terminal(recorder_.stop()));
}

// The kernel's own symbols: /proc/TID/stack.
void Ui::show_stack(uint32_t tid)
{
    if (!live_)
        return say("a recording has no stacks");
    std::ifstream file(fmt::format("/proc/{}/stack", tid));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line) && lines.size() < 64;)
        lines.push_back(base::escape_terminal(line));
    if (lines.empty())
        lines.push_back("no stack: the task is gone, runs, or its stack is not ours to read");
    view::show_popup(state_, fmt::format("kernel stack of {}", tid), std::move(lines));
}

void Ui::apply(const view::Effect &effect)
{
    switch (effect.kind) {
    case view::Effect::Kind::quit:
        quit_ = true;
        break;
    case view::Effect::Kind::pause:
        player_.pause(effect.value != 0);
        break;
    case view::Effect::Kind::interval:
        player_.set_interval_ns(static_cast<uint64_t>(effect.value));
        say(fmt::format("interval {} ms", effect.value / 1'000'000));
        break;
    case view::Effect::Kind::reset:
        player_.reset();
        say("sums begin now");
        break;
    case view::Effect::Kind::record:
        record();
        break;
    case view::Effect::Kind::save_text:
        save_text();
        break;
    case view::Effect::Kind::step:
        player_.step(static_cast<int>(effect.value));
        break;
    case view::Effect::Kind::speed:
        player_.speed(static_cast<int>(effect.value));
        break;
    case view::Effect::Kind::seek:
        player_.seek(static_cast<uint64_t>(effect.value));
        break;
    case view::Effect::Kind::stack:
        show_stack(static_cast<uint32_t>(effect.value));
        break;
    }
}

int Ui::run()
{
    draw();
    while (!quit_) {
        wait(base::now_mono_ns());
        take_signals();
        take_input();
        const uint64_t now_ns = base::now_mono_ns();
        const bool fresh = player_.poll(now_ns);
        if (player_.failure())
            break;
        const bool was_stale = screen_.status.stale_ns != 0;
        const bool said = !screen_.status.message.empty();
        take_screen(now_ns);
        dirty_ |= fresh || was_stale || screen_.status.stale_ns != 0 ||
                  said != !screen_.status.message.empty();
        if (dirty_ && !quit_)
            draw();
    }
    recorder_.stop();
    return signal_ && signal_ != SIGHUP ? 128 + signal_ : exit_ok;
}

} // namespace

int run_terminal(const Options &options, Player &player, int signals)
{
    int status = exit_ok;
    view::UiState state;
    {
        auto terminal = term::Terminal::open({options.colour, options.mouse});
        if (!terminal) {
            complain(terminal.error());
            return exit_failed;
        }
        Ui ui(options, player, signals, **terminal);
        status = ui.run();
        state = ui.state();
    }
    if (const auto failure = player.failure()) {
        complain(*failure);
        return exit_failed;
    }
    save_settings(state, player.interval_ns());
    return status;
}

} // namespace tagtop
