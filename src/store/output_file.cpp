// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the file that a recording goes to, without stepping on anything.
#include "store/output_file.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <fcntl.h>

namespace blktag::store {

std::expected<base::Fd, Error> create_output(const std::string &path, bool force)
{
    const int how = force ? O_TRUNC : O_EXCL | O_NOFOLLOW;
    // Names of tasks and devices are in it: not for everybody to read.
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600));
    if (fd.valid())
        return fd;
    const int errnum = errno;
    const char *remedy = errnum == EEXIST ? "give another name, or --force to replace it" : "";
    return std::unexpected(
        base::errno_error("cannot create " + base::escape_terminal(path), errnum, remedy));
}

} // namespace blktag::store
