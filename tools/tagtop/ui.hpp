// SPDX-License-Identifier: GPL-2.0-or-later
// The two ways to show Screens: on a terminal, and as text. Input: Options, a Player. Output: the
// exit status.
#pragma once

#include "player.hpp"

namespace tagtop {

// Blocks the signals that both ways take from a descriptor. Before any thread.
blktag::base::Fd block_signals();

int run_terminal(const Options &options, Player &player, int signals);
int run_batch(const Options &options, Player &player, int signals);

// A cause and, if there is one, a remedy, on stderr.
void complain(const blktag::Error &error);

} // namespace tagtop
