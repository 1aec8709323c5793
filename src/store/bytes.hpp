// SPDX-License-Identifier: GPL-2.0-or-later
// A byte vector that does not clear what it is about to be filled with: clearing costs as much as
// the filling here. Input: none. Output: types. Use resize() only where everything is written
// afterwards, else resize(size, 0).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace blktag::store {

template<class T>
struct NoClear : std::allocator<T> {
    template<class U>
    struct rebind {
        using other = NoClear<U>;
    };
    using std::allocator<T>::allocator;
    template<class U>
    void construct(U *at) noexcept
    {
        ::new (static_cast<void *>(at)) U;
    }
    template<class U, class... Args>
    void construct(U *at, Args &&...args)
    {
        ::new (static_cast<void *>(at)) U(std::forward<Args>(args)...);
    }
};

template<class T>
using Raw = std::vector<T, NoClear<T>>;
using Bytes = Raw<uint8_t>;

} // namespace blktag::store
