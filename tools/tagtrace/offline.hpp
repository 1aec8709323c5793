// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands that record nothing. Input: options. Output: text or JSON on stdout, notices on
// stderr, exit status.
#pragma once

#include "options.hpp"

namespace tagtrace {

int run_print(const Options &options);
int run_info(const Options &options);
int run_doctor(const Options &options);

} // namespace tagtrace
