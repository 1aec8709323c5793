// SPDX-License-Identifier: GPL-2.0-or-later
// ncursesw. Input: Frame. Output: the screen; keys as view::Key.
#include "term/terminal.hpp"

#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include <array>
#include <cerrno>
#include <cwchar>
#include <sys/ioctl.h>
#include <unistd.h>

namespace blktag::term {

using namespace view;

namespace {

struct Colours {
    short fore, bright; // bright: where there are 16 colours or more
};

// By Role: normal dim title header good warn bad key mark; -1 = the terminal's own.
constexpr std::array<std::array<Colours, 9>, 2> themes{{
    {{{-1, -1},
      {COLOR_WHITE, 8},
      {COLOR_CYAN, 14},
      {COLOR_BLUE, 12},
      {COLOR_GREEN, 10},
      {COLOR_YELLOW, 11},
      {COLOR_RED, 9},
      {COLOR_CYAN, 6},
      {COLOR_MAGENTA, 13}}},
    {{{-1, -1},
      {COLOR_BLACK, 8},
      {COLOR_BLUE, 4},
      {COLOR_BLUE, 4},
      {COLOR_GREEN, 2},
      {COLOR_MAGENTA, 5},
      {COLOR_RED, 1},
      {COLOR_BLUE, 4},
      {COLOR_MAGENTA, 5}}},
}};

uint32_t key_of(wint_t code)
{
    switch (code) {
    case KEY_UP:
        return key_up;
    case KEY_DOWN:
        return key_down;
    case KEY_LEFT:
        return key_left;
    case KEY_RIGHT:
        return key_right;
    case KEY_PPAGE:
        return key_page_up;
    case KEY_NPAGE:
        return key_page_down;
    case KEY_HOME:
        return key_home;
    case KEY_END:
        return key_end;
    case KEY_ENTER:
        return key_enter;
    case KEY_BTAB:
        return key_back_tab;
    case KEY_BACKSPACE:
        return key_backspace;
    case KEY_DC:
        return key_delete;
    default:
        return code >= KEY_F(1) && code <= KEY_F(12) ? key_f1 + (code - KEY_F(1)) : key_none;
    }
}

uint32_t key_of_character(wint_t code)
{
    switch (code) {
    case '\t':
        return key_tab;
    case '\r':
    case '\n':
        return key_enter;
    case 27:
        return key_escape;
    case 127:
    case 8:
        return key_backspace;
    default:
        return code;
    }
}

} // namespace

struct Terminal::State {
    SCREEN *screen = nullptr;
    bool colour = false;
    unsigned theme = ~0U;
    int ended_reads = 0;
};

std::expected<std::unique_ptr<Terminal>, Error> Terminal::open(const Options &options)
{
    std::unique_ptr<Terminal> out(new Terminal);
    out->state_ = std::make_unique<State>();
    State &s = *out->state_;
    s.screen = newterm(nullptr, stdout, stdin);
    if (!s.screen)
        return std::unexpected(Error{"this terminal cannot show a screen: TERM is unknown",
                                     "set TERM (xterm, linux), or use --batch"});
    set_term(s.screen);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    if (options.colour && has_colors()) {
        start_color();
        use_default_colors();
        s.colour = true;
    }
    if (options.mouse) {
        mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
        mouseinterval(0);
    }
    return out;
}

Terminal::~Terminal()
{
    if (!state_ || !state_->screen)
        return;
    endwin();
    delscreen(state_->screen);
}

Size Terminal::size() const
{
    return {COLS, LINES};
}

void Terminal::draw(const Frame &frame, unsigned theme)
{
    State &s = *state_;
    theme %= nr_themes;
    if (s.colour && theme != s.theme && theme < themes.size())
        for (size_t i = 0; i < themes[theme].size(); ++i)
            init_pair(static_cast<short>(i + 1),
                      COLORS >= 16 ? themes[theme][i].bright : themes[theme][i].fore, -1);
    s.theme = theme;
    const bool colour = s.colour && theme < themes.size();
    for (int y = 0; y < frame.height(); ++y)
        for (int x = 0; x < frame.width(); ++x) {
            const Cell &cell = frame.at(x, y);
            if (cell.ch == 0)
                continue;
            const attr_t attributes = (cell.style.bold ? A_BOLD : A_NORMAL) |
                                      (cell.style.reverse ? A_REVERSE : A_NORMAL) |
                                      (!colour && cell.style.role == Role::dim ? A_DIM : A_NORMAL);
            const wchar_t text[2] = {static_cast<wchar_t>(cell.ch), 0};
            const auto pair = static_cast<short>(colour && cell.style.role != Role::normal
                                                     ? static_cast<int>(cell.style.role) + 1
                                                     : 0);
            cchar_t c;
            setcchar(&c, text, attributes, pair, nullptr);
            mvadd_wch(y, x, &c);
        }
    refresh();
}

std::optional<Input> Terminal::read()
{
    wint_t code = 0;
    errno = 0;
    const int kind = get_wch(&code);
    if (kind == ERR) {
        // Nothing there, or nobody any more: a terminal that went away is always ready and empty.
        char byte = 0;
        const bool gone = errno == EIO || (errno == 0 && ::isatty(STDIN_FILENO) == 0) ||
                          (::isatty(STDIN_FILENO) == 0 && ::read(STDIN_FILENO, &byte, 0) != 0);
        if (gone)
            return Input{.kind = Input::Kind::closed};
        return std::nullopt;
    }
    if (kind != KEY_CODE_YES)
        return Input{.kind = Input::Kind::key, .key = key_of_character(code)};
    if (code == KEY_RESIZE)
        return Input{.kind = Input::Kind::key, .key = key_none};
    if (code != KEY_MOUSE)
        return Input{.kind = Input::Kind::key, .key = key_of(code)};
    MEVENT event{};
    if (getmouse(&event) != OK)
        return Input{.kind = Input::Kind::key, .key = key_none};
    if (event.bstate & BUTTON4_PRESSED)
        return Input{.kind = Input::Kind::wheel, .wheel = -1};
    if (event.bstate & BUTTON5_PRESSED)
        return Input{.kind = Input::Kind::wheel, .wheel = 1};
    return Input{.kind = Input::Kind::click, .x = event.x, .y = event.y};
}

void Terminal::resized()
{
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
    clear();
}

void Terminal::suspend()
{
    endwin();
}

void Terminal::resume()
{
    resized();
    clearok(stdscr, TRUE);
    refresh();
}

} // namespace blktag::term
