// Arrays of the feature bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/arrays.hpp"
#include "support/read_features.hpp"
#include "text/features.hpp"

namespace trelliswork::python {

template <class Item>
using Input = In<Item, 1>;
template <class Item>
using Output = nanobind::ndarray<nanobind::numpy, Item, nanobind::ndim<1>, nanobind::c_contig>;

template <class Item>
std::span<const Item> view(const In<Item, 1>& array) {
    return {array.data(), array.size()};
}

// A NumPy array that owns `items`, anything with data() and size().
template <class Item, class Holder>
Output<Item> hand_over(Holder items) {
    auto* const owned = new Holder(std::move(items));
    const nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<Holder*>(p); });
    return Output<Item>(owned->data(), {owned->size()}, owner);
}

// (indptr int64 (N + 1,), indices int32 (nnz,))
inline nanobind::tuple row_arrays(FeatureRows rows) {
    std::vector<std::int64_t> indptr(rows.ends.size() + 1, 0);
    std::copy_n(rows.ends.data(), rows.ends.size(), indptr.begin() + 1);
    rows.indices.shrink();
    return nanobind::make_tuple(hand_over<std::int64_t>(std::move(indptr)),
                                hand_over<std::int32_t>(std::move(rows.indices)));
}

// The texts between `ends`, as a list of str.
inline nanobind::list name_list(std::string_view bytes, std::span<const std::int64_t> ends) {
    nanobind::list out;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
        out.append(python_str(
            bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))));
        begin = end;
    }
    return out;
}

}  // namespace trelliswork::python
