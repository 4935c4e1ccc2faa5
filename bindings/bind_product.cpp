#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "product.hpp"

namespace trelliswork {

void bind_product(nb::module_& m) {
    // State pairs, arcs, the arc map and guards; OverflowError when there are too many arcs.
    m.def(
        "product",
        [](const Automaton& model, const Language& language, int n_classes, std::int64_t max_arcs) {
            Product found;
            try {
                nb::gil_scoped_release release;
                found = product(model, language, n_classes, max_arcs);
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
        nb::arg("model"), nb::arg("language"), nb::arg("n_classes"), nb::arg("max_arcs"));
}

}  // namespace trelliswork
