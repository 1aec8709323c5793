// SPDX-License-Identifier: GPL-2.0-or-later
// Owning file descriptors, whole reads and writes: the system calls behind fd.hpp.
#include "base/fd.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blktag::base {

Fd &Fd::operator=(Fd &&other) noexcept
{
    if (this != &other) {
        close_now();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

Fd::~Fd()
{
    close_now();
}

int Fd::close_now()
{
    const int fd = std::exchange(fd_, -1);
    if (fd < 0)
        return 0;
    // After EINTR Linux has closed the descriptor: trying again could close somebody else's.
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
}

std::string errno_text(int errnum)
{
    const char *text = strerrordesc_np(errnum);
    return text ? text : fmt::format("error {}", errnum);
}

Error errno_error(const std::string &what, int errnum, std::string remedy)
{
    return {fmt::format("{}: {}", what, errno_text(errnum)), std::move(remedy)};
}

int write_all(int fd, std::span<const std::byte> bytes, size_t &written)
{
    written = 0;
    while (written < bytes.size()) {
        const ssize_t n = ::write(fd, bytes.data() + written, bytes.size() - written);
        if (n > 0) {
            written += static_cast<size_t>(n);
        } else if (n == 0) {
            return EIO; // a zero write of a non-zero length: nothing would ever come of it
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            pollfd wait{fd, POLLOUT, 0};
            ::poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

std::expected<size_t, int> read_some(int fd, std::span<std::byte> bytes)
{
    for (;;) {
        const ssize_t n = ::read(fd, bytes.data(), bytes.size());
        if (n >= 0)
            return static_cast<size_t>(n);
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            pollfd wait{fd, POLLIN, 0};
            ::poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return std::unexpected(errno);
        }
    }
}

std::expected<size_t, int> read_full(int fd, std::span<std::byte> bytes)
{
    size_t done = 0;
    while (done < bytes.size()) {
        const auto n = read_some(fd, bytes.subspan(done));
        if (!n)
            return n;
        if (*n == 0)
            break;
        done += *n;
    }
    return done;
}

std::expected<size_t, int> pread_full(int fd, std::span<std::byte> bytes, uint64_t offset_bytes)
{
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(offset_bytes + done));
        if (n == 0)
            break;
        if (n > 0)
            done += static_cast<size_t>(n);
        else if (errno != EINTR)
            return std::unexpected(errno);
    }
    return done;
}

bool seekable(int fd)
{
    return ::lseek(fd, 0, SEEK_CUR) >= 0;
}

} // namespace blktag::base
