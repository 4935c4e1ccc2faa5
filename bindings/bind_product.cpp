#include <nanobind/stl/tuple.h>

#include <memory>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "product.hpp"

namespace trelliswork {

namespace {

// Hands a vector to numpy without a copy.
template <class T>
auto to_numpy(std::vector<T>&& values) {
    auto held = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    auto* raw = held.release();
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(raw->data(), {raw->size()}, owner);
}

}  // namespace

void bind_product(nb::module_& m) {
    // State pairs, arcs, the arc map and guards; OverflowError when there are too many arcs.
    m.def(
        "product",
        [](const Automaton& model, int n_states, const In<std::int32_t, 1>& source,
           const In<std::int32_t, 1>& letter, const In<std::int32_t, 1>& target,
           const In<std::uint8_t, 1>& initial, const In<std::uint8_t, 1>& final, int n_classes,
           std::int64_t max_arcs) {
            const Language language{n_states,        n_classes,       copy_of(source),
                                    copy_of(letter), copy_of(target), copy_of(initial),
                                    copy_of(final)};
            Product found;
            try {
                nb::gil_scoped_release release;
                found = product(model, language, max_arcs);
            } catch (const ProductTooLarge& fault) {
                PyErr_SetString(PyExc_OverflowError, fault.what());
                throw nb::python_error();
            }
            return std::make_tuple(
                to_numpy(std::move(found.model_state)), to_numpy(std::move(found.language_state)),
                to_numpy(std::move(found.source)), to_numpy(std::move(found.label)),
                to_numpy(std::move(found.target)), to_numpy(std::move(found.model_arc)),
                to_numpy(std::move(found.guard)));
        },
        nb::arg("model"), nb::arg("n_states"), nb::arg("source"), nb::arg("letter"),
        nb::arg("target"), nb::arg("initial"), nb::arg("final"), nb::arg("n_classes"),
        nb::arg("max_arcs"));
}

}  // namespace trelliswork
