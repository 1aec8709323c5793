// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the file that a recording goes to. Input: a path. Output: a descriptor, or a cause and a
// remedy.
#pragma once

#include "base/fd.hpp"

#include <expected>
#include <string>

namespace blktag::store {

// Without `force`, an existing file is left alone and no symbolic link is followed at the last
// component: a recorder runs as root, often in directories that others may write. With it, a
// regular file is replaced and links are followed.
std::expected<base::Fd, Error> create_output(const std::string &path, bool force);

} // namespace blktag::store
