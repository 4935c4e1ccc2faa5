#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "algebra.hpp"
#include "arrays.hpp"

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

}  // namespace

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

}  // namespace trelliswork
