#include <nanobind/stl/optional.h>

#include <memory>
#include <utility>

#include "arrays.hpp"
#include "automaton.hpp"

namespace trelliswork {

void bind_automaton(nb::module_& m) {
    nb::class_<Automaton>(m, "Automaton")
        .def(
            "__init__",
            [](Automaton* self, int n_states, int n_labels, int n_patterns,
               const In<std::int32_t, 1>& source, const In<std::int32_t, 1>& label,
               const In<std::int32_t, 1>& target, const In<std::int64_t, 1>& pattern_offsets,
               const In<std::int32_t, 1>& pattern_ids, const In<double, 1>& initial,
               const In<double, 1>& final, const std::optional<In<std::uint64_t, 1>>& guards,
               int n_classes, const std::optional<In<std::int32_t, 1>>& contexts,
               const std::optional<In<std::int32_t, 1>>& parents) {
                auto built = std::make_unique<Automaton>();
                built->n_states = n_states;
                built->n_labels = n_labels;
                built->n_patterns = n_patterns;
                built->source = copy_of(source);
                built->label = copy_of(label);
                built->target = copy_of(target);
                built->pattern_offsets = copy_of(pattern_offsets);
                built->pattern_ids = copy_of(pattern_ids);
                built->initial = copy_of(initial);
                built->final = copy_of(final);
                if (guards) built->guards = copy_of(*guards);
                built->n_classes = n_classes;
                if (contexts) built->contexts = copy_of(*contexts);
                if (parents) built->parents = copy_of(*parents);
                nb::gil_scoped_release release;
                built->finish();
                new (self) Automaton(std::move(*built));
            },
            nb::arg("n_states"), nb::arg("n_labels"), nb::arg("n_patterns"), nb::arg("source"),
            nb::arg("label"), nb::arg("target"), nb::arg("pattern_offsets"), nb::arg("pattern_ids"),
            nb::arg("initial"), nb::arg("final"), nb::arg("guards").none(), nb::arg("n_classes"),
            nb::arg("contexts").none(), nb::arg("parents").none())
        .def_ro("is_chain", &Automaton::is_chain)
        .def_prop_ro("n_steps", &Automaton::n_steps);
}

}  // namespace trelliswork
