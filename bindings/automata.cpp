#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <tuple>
#include <utility>

#include "automata/algebra.hpp"
#include "automata/automaton.hpp"
#include "automata/product.hpp"
#include "support/arrays.hpp"

namespace trelliswork {

namespace {

// source, label, target (A,), initial, final (S,)
auto arrays_of(const Language& a) {
    const auto column = [&](auto member) {
        std::vector<std::int32_t> ids;
        ids.reserve(a.arcs.size());
        for (const auto& arc : a.arcs) ids.push_back(arc.*member);
        return to_numpy(std::move(ids));
    };
    return std::make_tuple(column(&Language::Arc::source), column(&Language::Arc::label),
                           column(&Language::Arc::target), to_numpy(std::vector(a.initial)),
                           to_numpy(std::vector(a.final)));
}

void check_batch(const Language& a, const In<std::int64_t, 1>& labels,
                 const In<std::int64_t, 1>& offsets, const Out<std::uint8_t, 1>& accepted) {
    require(offsets.size() == accepted.size() + 1 && offsets.data()[0] == 0 &&
                offsets.data()[accepted.size()] == static_cast<std::int64_t>(labels.size()),
            "offsets must run from 0 to the number of labels");
    for (std::size_t b = 0; b < accepted.size(); ++b) {
        require(offsets.data()[b] <= offsets.data()[b + 1], "offsets must not decrease");
    }
    for (std::size_t t = 0; t < labels.size(); ++t) {
        const auto y = labels.data()[t];
        if (y < 0 || y >= a.n_labels) {
            throw std::invalid_argument("position " + std::to_string(t) + ": label id " +
                                        std::to_string(y) + " is not in 0 … " +
                                        std::to_string(a.n_labels - 1));
        }
    }
}

void bind_algebra(nb::module_& m) {
    m.def("most_arcs", &most_arcs, nb::arg("max_states"));
    const auto free = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<Language>(m, "Language")
        .def("__init__",
             [](Language* self, int n_states, int n_labels, const In<std::int32_t, 1>& source,
                const In<std::int32_t, 1>& label, const In<std::int32_t, 1>& target,
                const In<std::uint8_t, 1>& initial, const In<std::uint8_t, 1>& final) {
                 require(label.size() == source.size() && target.size() == source.size(),
                         "source, label and target must have one entry an arc");
                 Language built;
                 built.n_states = n_states;
                 built.n_labels = n_labels;
                 for (std::size_t i = 0; i < source.size(); ++i) {
                     built.arcs.push_back({source.data()[i], label.data()[i], target.data()[i]});
                 }
                 built.initial = copy_of(initial);
                 built.final = copy_of(final);
                 built.finish();
                 new (self) Language(std::move(built));
             })
        .def_ro("n_states", &Language::n_states)
        .def_ro("n_labels", &Language::n_labels)
        .def_prop_ro("n_arcs", [](const Language& a) { return a.arcs.size(); })
        .def_prop_ro("is_deterministic", &Language::is_deterministic)
        .def_prop_ro("is_empty", &Language::is_empty)
        .def_prop_ro("has_empty_string", &Language::has_empty_string)
        .def("arrays", &arrays_of)
        .def("trim", &trim, free)
        .def("reverse", &reverse, free)
        .def(
            "renumber", [](const Language& a) { return renumber(trim(a)); }, free)
        .def("unite", &unite, free)
        .def("concatenate", &concatenate, free)
        .def("star", &star, free)
        .def("complete", &complete, free)
        .def("intersect", &intersect, nb::arg("other"), nb::arg("max_states"), free)
        .def("determinise", &determinise, nb::arg("max_states"), nb::arg("max_steps") = any_number,
             free)
        .def("minimise", &minimise, nb::arg("max_states"), nb::arg("max_steps") = any_number, free)
        .def("complement", &complement, nb::arg("max_states"), free)
        .def("is_ambiguous", &is_ambiguous, nb::arg("max_pairs"), free)
        .def("accepts",
             [](const Language& a, const In<std::int64_t, 1>& labels,
                const In<std::int64_t, 1>& offsets, const Out<std::uint8_t, 1>& accepted) {
                 check_batch(a, labels, offsets, accepted);
                 nb::gil_scoped_release unlocked;
                 accepts(a, {labels.data(), labels.size()}, {offsets.data(), offsets.size()},
                         {accepted.data(), accepted.size()});
             });
}

using Arcs = std::tuple<In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>>;
using Fired = std::tuple<In<std::int64_t, 1>, In<std::int32_t, 1>>;

void bind_automaton(nb::module_& m) {
    // arcs: source, label, target (A,); patterns: the ids of those that fire on arc a are
    // ids[offsets[a] … offsets[a + 1]].
    nb::class_<Automaton>(m, "Automaton")
        .def(
            "__init__",
            [](Automaton* self, int n_states, int n_labels, int n_patterns, const Arcs& arcs,
               const Fired& patterns, const In<double, 1>& initial, const In<double, 1>& final,
               const std::optional<In<std::uint64_t, 1>>& guards, int n_classes,
               const std::optional<In<std::int32_t, 1>>& contexts,
               const std::optional<In<std::int32_t, 1>>& parents) {
                auto built = std::make_unique<Automaton>();
                built->n_states = n_states;
                built->n_labels = n_labels;
                built->n_patterns = n_patterns;
                built->source = copy_of(std::get<0>(arcs));
                built->label = copy_of(std::get<1>(arcs));
                built->target = copy_of(std::get<2>(arcs));
                built->pattern_offsets = copy_of(std::get<0>(patterns));
                built->pattern_ids = copy_of(std::get<1>(patterns));
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
            nb::arg("n_states"), nb::arg("n_labels"), nb::arg("n_patterns"), nb::arg("arcs"),
            nb::arg("patterns"), nb::arg("initial"), nb::arg("final"), nb::arg("guards").none(),
            nb::arg("n_classes"), nb::arg("contexts").none(), nb::arg("parents").none())
        .def_ro("is_chain", &Automaton::is_chain)
        .def_prop_ro("n_steps", &Automaton::n_steps);
}

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

}  // namespace

void bind_automata(nb::module_& m) {
    bind_automaton(m);
    bind_algebra(m);
    bind_product(m);
}

}  // namespace trelliswork
