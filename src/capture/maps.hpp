// SPDX-License-Identifier: GPL-2.0-or-later
// A BPF array seen as memory. Input: map fd, number and size of elements. Output: pointers into the shared mapping.
#pragma once

#include "blktag/records.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <utility>

namespace blktag::capture {

// An element, or a part of one, that programs change meanwhile: whole, but moments apart from its neighbours.
template<class T> T load(const T &v)
{
    return std::atomic_ref(const_cast<T &>(v)).load(std::memory_order_relaxed);
}

// The same; what the program stored before it is seen, too.
template<class T> T load_acquire(const T &v)
{
    return std::atomic_ref(const_cast<T &>(v)).load(std::memory_order_acquire);
}

// Owns the mapping. Elements change under the reader: read what must be whole with std::atomic_ref.
template<class T> class MappedArray {
  public:
    MappedArray() = default;
    MappedArray(const MappedArray &) = delete;
    MappedArray &operator=(const MappedArray &) = delete;
    MappedArray(MappedArray &&other) noexcept { swap(other); }
    MappedArray &operator=(MappedArray &&other) noexcept
    {
        swap(other);
        return *this;
    }
    ~MappedArray()
    {
        if (memory_)
            munmap(memory_, bytes_);
    }

    static std::expected<MappedArray, Error> map(int fd, uint32_t count, size_t value_size_bytes)
    {
        MappedArray a;
        a.count_ = count;
        a.stride_ = (value_size_bytes + 7) / 8 * 8; // as the kernel lays array elements out
        a.bytes_ = a.stride_ * count;
        void *p = mmap(nullptr, a.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
            return std::unexpected(Error{std::string("cannot map a BPF array: ") + strerror(errno),
                                         "raise RLIMIT_MEMLOCK, or use a smaller --ring-size"});
        a.memory_ = static_cast<std::byte *>(p);
        return a;
    }

    [[nodiscard]] uint32_t size() const { return count_; }
    [[nodiscard]] T *at(uint32_t i) { return reinterpret_cast<T *>(memory_ + i * stride_); }
    [[nodiscard]] const T *at(uint32_t i) const { return reinterpret_cast<const T *>(memory_ + i * stride_); }

  private:
    void swap(MappedArray &o) noexcept
    {
        std::swap(memory_, o.memory_);
        std::swap(count_, o.count_);
        std::swap(stride_, o.stride_);
        std::swap(bytes_, o.bytes_);
    }
    std::byte *memory_ = nullptr;
    uint32_t count_ = 0;
    size_t stride_ = 0;
    size_t bytes_ = 0;
};

} // namespace blktag::capture
