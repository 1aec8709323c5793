// SPDX-License-Identifier: GPL-2.0-or-later
// The terminal, by ncurses. Input: Frames to show; keys, the mouse, new sizes. Output: what was
// pressed. The terminal is as it was before once this is gone, whichever way.
#pragma once

#include "view/frame.hpp"
#include "view/state.hpp"

#include <expected>
#include <memory>
#include <optional>

namespace blktag::term {

struct Options {
    bool colour = true;
    bool mouse = true;
};

inline constexpr unsigned nr_themes = 3; // dark, light, plain

struct Input {
    enum class Kind : uint8_t { key, click, wheel, closed } kind = Kind::key;
    uint32_t key = 0; // view::Key
    int x = 0, y = 0; // click
    int wheel = 0;    // -1 up, 1 down
};

// One at a time; used from one thread. The signals that concern it (WINCH, TSTP, CONT) are its
// user's: ncurses is never entered from a handler.
class Terminal {
  public:
    static std::expected<std::unique_ptr<Terminal>, Error> open(const Options &options);
    ~Terminal();
    Terminal(const Terminal &) = delete;
    Terminal &operator=(const Terminal &) = delete;

    [[nodiscard]] view::Size size() const;
    void draw(const view::Frame &frame, unsigned theme);
    // What was pressed since, nullopt if nothing; never waits.
    std::optional<Input> read();
    // Takes the new size from the terminal; the next draw paints everything.
    void resized();
    // Gives the terminal back for a while, and takes it again.
    void suspend();
    void resume();

  private:
    Terminal() = default;
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace blktag::term
