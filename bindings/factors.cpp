#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <tuple>

#include "graphs/active_set.hpp"
#include "graphs/logic_factors.hpp"
#include "graphs/structures.hpp"
#include "simd/semiring.hpp"
#include "support/arrays.hpp"

namespace trelliswork {

namespace {

using Weighting = std::optional<In<double, 1>>;

template <class Array>
std::vector<double> copy_or_empty(const std::optional<Array>& array) {
    return array ? copy_of(*array) : std::vector<double>();
}

// A logic factor of n literals.
FactorKind make_kind(int kind, std::size_t n, const Weighting& weights) {
    require(kind >= 0 && kind < static_cast<int>(FactorKind::structured), "kind: no such factor");
    const auto made = static_cast<FactorKind>(kind);
    require(made != FactorKind::knapsack || (weights && weights->size() == n),
            "weights: expected one a literal of a knapsack");
    for (std::size_t i = 0; weights && i < weights->size(); ++i) {
        require((*weights)(i) > 0.0 && std::isfinite((*weights)(i)),
                "weights: expected finite numbers above 0");
    }
    return made;
}

Room make_room(std::size_t n, const Weighting& weights, double limit) {
    const std::vector<double> ones(n, 1.0);
    return {limit,
            weight_slack(static_cast<std::int64_t>(n), weights ? weights->data() : ones.data())};
}

void check_links(const Structure& structure, std::size_t n) {
    require(n == static_cast<std::size_t>(structure.size()),
            "expected one entry a link of the structure");
}

}  // namespace

void bind_factors(nb::module_& m) {
    nb::class_<Structure>(m, "Structure")
        .def_prop_ro("size", &Structure::size)
        .def_prop_ro("lowest", &Structure::lowest)
        .def_prop_ro("scale", &Structure::scale)
        .def(
            "maximize",
            [](const Structure& self, const In<double, 1>& scores,
               const In<std::int8_t, 1>& fixed) {
                check_links(self, scores.size());
                check_links(self, fixed.size());
                std::vector<std::uint8_t> on(scores.size());
                const double best = self.maximize(scores.data(), fixed.data(), on.data());
                return std::make_tuple(best, to_numpy(std::move(on)));
            },
            nb::arg("scores"), nb::arg("fixed"))
        .def(
            "value",
            [](const Structure& self, const In<std::uint8_t, 1>& on) {
                check_links(self, on.size());
                return self.value(on.data());
            },
            nb::arg("on"));

    m.def(
        "pair_structure",
        [](const In<double, 2>& table) -> std::shared_ptr<Structure> {
            return std::make_shared<PairStructure>(static_cast<std::int64_t>(table.shape(0)),
                                                   static_cast<std::int64_t>(table.shape(1)),
                                                   copy_of(table));
        },
        nb::arg("table"));
    m.def(
        "chain_structure",
        [](std::shared_ptr<Automaton> automaton, const In<double, 1>& patterns,
           const Weighting& start, const Weighting& end,
           std::int64_t n_tokens) -> std::shared_ptr<Structure> {
            return std::make_shared<ChainStructure>(std::move(automaton), copy_of(patterns),
                                                    copy_or_empty(start), copy_or_empty(end),
                                                    n_tokens);
        },
        nb::arg("automaton"), nb::arg("patterns"), nb::arg("start").none(), nb::arg("end").none(),
        nb::arg("n_tokens"));
    m.def(
        "span_structure",
        [](std::int64_t n_tokens, const In<std::int32_t, 1>& starts,
           const In<std::int32_t, 1>& ends) -> std::shared_ptr<Structure> {
            return std::make_shared<SpanChainStructure>(n_tokens, copy_of(starts), copy_of(ends));
        },
        nb::arg("n_tokens"), nb::arg("starts"), nb::arg("ends"));

    nb::class_<ActiveSet>(m, "ActiveSet")
        .def(nb::init<std::int64_t>(), nb::arg("max_steps") = 1000)
        .def(
            "solve",
            [](ActiveSet& self, const Structure& structure, const In<std::int8_t, 1>& fixed,
               const In<double, 1>& point, double eta) -> nb::object {
                check_links(structure, fixed.size());
                check_links(structure, point.size());
                require(eta > 0.0, "eta: expected a number above 0");
                std::vector<double> out(point.size());
                if (!self.solve(structure, fixed.data(), point.data(), eta, out.data())) {
                    return nb::none();
                }
                return nb::cast(to_numpy(std::move(out)));
            },
            nb::arg("structure"), nb::arg("fixed"), nb::arg("point"), nb::arg("eta"))
        .def_prop_ro("expected_value", &ActiveSet::expected_value)
        .def_prop_ro("n_active", &ActiveSet::n_active)
        .def_prop_ro("n_oracle_calls", &ActiveSet::n_oracle_calls);

    m.def(
        "accepts_logic",
        [](int kind, const In<std::uint8_t, 1>& on, const Weighting& weights, double limit) {
            return accepts_logic(make_kind(kind, on.size(), weights),
                                 static_cast<std::int64_t>(on.size()), on.data(),
                                 data_or_null(weights), make_room(on.size(), weights, limit));
        },
        nb::arg("kind"), nb::arg("on"), nb::arg("weights").none(), nb::arg("limit"));
    m.def(
        "maximize_logic",
        [](int kind, const In<double, 1>& scores, const Weighting& weights, double limit) {
            std::vector<std::uint8_t> on(scores.size());
            LogicWorkspace workspace;
            const double best = maximize_logic(
                make_kind(kind, on.size(), weights), static_cast<std::int64_t>(on.size()),
                scores.data(), data_or_null(weights), make_room(on.size(), weights, limit),
                on.data(), workspace);
            return std::make_tuple(best, to_numpy(std::move(on)));
        },
        nb::arg("kind"), nb::arg("scores"), nb::arg("weights").none(), nb::arg("limit"));
    m.def(
        "project_logic",
        [](int kind, const In<double, 1>& point, const Weighting& weights, double limit) {
            const auto n = static_cast<std::int64_t>(point.size());
            const auto made = make_kind(kind, point.size(), weights);
            const Room room = make_room(point.size(), weights, limit);
            LogicWorkspace workspace;
            auto out = copy_of(point);
            std::vector<std::uint8_t> on(point.size());
            require(maximize_logic(made, n, std::vector<double>(point.size()).data(),
                                   data_or_null(weights), room, on.data(),
                                   workspace) > kNegativeInfinity,
                    "project_logic: the factor has no configuration");
            project_logic(made, n, out.data(), data_or_null(weights), room, workspace);
            return to_numpy(std::move(out));
        },
        nb::arg("kind"), nb::arg("point"), nb::arg("weights").none(), nb::arg("limit"));
}

}  // namespace trelliswork
