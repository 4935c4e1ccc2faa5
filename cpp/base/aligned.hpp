// Vectors of doubles that begin on a cache line: an eight-lane load that straddles two lines costs
// two loads.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace trelliswork {

inline constexpr std::size_t kCacheLine = 64;

template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    explicit LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{kCacheLine}));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{kCacheLine}); }

    bool operator==(const LineAllocator&) const { return true; }
};

using AlignedDoubles = std::vector<double, LineAllocator<double>>;

}  // namespace trelliswork
