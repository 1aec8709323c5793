// SPDX-License-Identifier: GPL-2.0-or-later
// Owning file descriptors and whole reads and writes. Input: descriptors. Output: bytes, or errno
// as a value.
#pragma once

#include "blktag/records.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <utility>

namespace blktag::base {

// Owns one descriptor. Not thread-safe.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd &operator=(Fd &&other) noexcept;
    Fd(const Fd &) = delete;
    Fd &operator=(const Fd &) = delete;
    ~Fd();

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool valid() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    // Closes now and tells what close() said: a full disk can show up only here. 0 or an errno.
    int close_now();

  private:
    int fd_ = -1;
};

// "<what>: <text of errno>" in the C locale's words.
Error errno_error(const std::string &what, int errnum, std::string remedy = {});

// Text of an errno, the same in every locale.
std::string errno_text(int errnum);

// Writes everything, over short writes and EINTR; waits where the descriptor is non-blocking.
// Returns 0 or the errno; `written` is what was taken in either case.
int write_all(int fd, std::span<const std::byte> bytes, size_t &written);

// Reads until `bytes` is full or the input ends. Returns the count, or the errno.
std::expected<size_t, int> read_full(int fd, std::span<std::byte> bytes);
// What is there now, at least one byte; 0 is the end of the input. Or the errno.
std::expected<size_t, int> read_some(int fd, std::span<std::byte> bytes);
std::expected<size_t, int> pread_full(int fd, std::span<std::byte> bytes, uint64_t offset_bytes);

// True where lseek works: a file, not a pipe or a terminal.
bool seekable(int fd);

} // namespace blktag::base
