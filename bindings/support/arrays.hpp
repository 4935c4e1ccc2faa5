// Array types of the bindings, and the checks that all of them make.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/require.hpp"

namespace trelliswork {

namespace nb = nanobind;

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Out = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto* data_or_null(const std::optional<Array>& array) {
    return array ? array->data() : nullptr;
}

template <class Array>
auto copy_of(const Array& array) {
    using Value = std::remove_const_t<typename Array::Scalar>;
    return std::vector<Value>(array.data(), array.data() + array.size());
}

// Offsets into an array of `end` entries.
inline void check_offsets(const In<std::int64_t, 1>& offsets, std::size_t end,
                          const std::string& name) {
    require(offsets.size() > 0 && offsets(0) == 0 &&
                offsets(offsets.size() - 1) == static_cast<std::int64_t>(end),
            name + ": must run from 0 to the number of entries");
    for (std::size_t i = 1; i < offsets.size(); ++i) {
        require(offsets(i - 1) <= offsets(i), name + ": must not decrease");
    }
}

// Hands a vector to numpy without a copy.
template <class T>
auto to_numpy(std::vector<T>&& values) {
    auto held = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    auto* raw = held.release();
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(raw->data(), {raw->size()}, owner);
}

// A new array whose entries are yet to be written.
template <class T, std::size_t N>
auto new_array(const std::size_t (&shape)[N]) {
    const auto size = std::accumulate(shape, shape + N, std::size_t{1}, std::multiplies<>());
    auto held = std::make_unique_for_overwrite<T[]>(size);
    nb::capsule owner(held.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<N>>(held.release(), N, shape, owner);
}

}  // namespace trelliswork
