// Batches of factor graphs, as flat arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "graphs/solver.hpp"
#include "support/arrays.hpp"
#include "support/interrupt.hpp"

namespace trelliswork {

namespace {

struct GraphArrays {
    const In<std::int64_t, 1>&variable_offsets, &factor_offsets;
    const In<double, 1>& scores;
    const In<std::int8_t, 1>&fixed, &kinds;
    const In<std::int64_t, 1>& offsets;
    const In<std::int32_t, 1>& variables;
    const In<std::uint8_t, 1>& negated;
    const In<double, 1>&weights, &limits;
    const std::vector<std::shared_ptr<Structure>>& structures;
};

void check(const GraphArrays& arrays) {
    check_offsets(arrays.variable_offsets, arrays.scores.size(), "variable_offsets");
    check_offsets(arrays.factor_offsets, arrays.kinds.size(), "factor_offsets");
    check_offsets(arrays.offsets, arrays.variables.size(), "offsets");
    require(arrays.variable_offsets.size() == arrays.factor_offsets.size() &&
                arrays.fixed.size() == arrays.scores.size() &&
                arrays.offsets.size() == arrays.kinds.size() + 1 &&
                arrays.limits.size() == arrays.kinds.size() &&
                arrays.negated.size() == arrays.variables.size() &&
                arrays.weights.size() == arrays.variables.size(),
            "solve_graphs: wrong shape");
    for (std::size_t j = 0; j < arrays.scores.size(); ++j) {
        require(std::isfinite(arrays.scores(j)), "scores: expected finite numbers");
        require(arrays.fixed(j) >= -1 && arrays.fixed(j) <= 1, "fixed: expected -1, 0 or 1");
    }
}

template <class Array>
auto part_of(const Array& array, std::int64_t begin, std::int64_t end) {
    using Value = std::remove_const_t<typename Array::Scalar>;
    return std::vector<Value>(array.data() + begin, array.data() + end);
}

void add_factor(Graph& graph, const GraphArrays& arrays, std::size_t m, std::size_t& n_structures) {
    const auto n_links = arrays.offsets(m + 1) - arrays.offsets(m);
    require(arrays.kinds(m) >= 0 && arrays.kinds(m) <= 7, "kinds: no such factor");
    const auto kind = static_cast<FactorKind>(arrays.kinds(m));
    const bool has_output = kind == FactorKind::or_out || kind == FactorKind::xor_out;
    require(!has_output || n_links > 0, "offsets: a factor has no link for its output");
    require(!std::isnan(arrays.limits(m)), "limits: expected numbers");
    std::shared_ptr<const Structure> structure;
    if (kind == FactorKind::structured) {
        require(
            n_structures < arrays.structures.size() && arrays.structures[n_structures] != nullptr,
            "structures: expected one for every structured factor");
        structure = arrays.structures[n_structures++];
        require(structure->size() == n_links, "structures: wrong number of links");
    }
    graph.kinds.push_back(kind);
    graph.limits.push_back(arrays.limits(m));
    graph.structures.push_back(std::move(structure));
    for (auto k = arrays.offsets(m); k < arrays.offsets(m + 1); ++k) {
        const auto variable = arrays.variables(k);
        require(variable >= 0 && variable < static_cast<std::int64_t>(graph.scores.size()),
                "variables: out of range");
        require(arrays.negated(k) <= 1, "negated: expected 0 or 1");
        require(kind != FactorKind::knapsack ||
                    (arrays.weights(k) > 0.0 && std::isfinite(arrays.weights(k))),
                "weights: expected positive numbers");
        graph.weights.push_back(kind == FactorKind::knapsack ? arrays.weights(k) : 1.0);
    }
    graph.slacks.push_back(
        weight_slack(n_links, graph.weights.data() + graph.weights.size() - n_links));
}

std::vector<Graph> make_graphs(const GraphArrays& arrays) {
    check(arrays);
    std::vector<Graph> graphs(arrays.variable_offsets.size() - 1);
    std::size_t n_structures = 0;
    for (std::size_t b = 0; b < graphs.size(); ++b) {
        Graph& graph = graphs[b];
        const auto begin = arrays.variable_offsets(b), end = arrays.variable_offsets(b + 1);
        graph.scores = part_of(arrays.scores, begin, end);
        graph.fixed = part_of(arrays.fixed, begin, end);
        const auto first = static_cast<std::size_t>(arrays.factor_offsets(b));
        const auto last = static_cast<std::size_t>(arrays.factor_offsets(b + 1));
        const auto first_link = arrays.offsets(first);
        graph.offsets.push_back(0);
        for (auto m = first; m < last; ++m) {
            add_factor(graph, arrays, m, n_structures);
            graph.offsets.push_back(arrays.offsets(m + 1) - first_link);
        }
        graph.variables = part_of(arrays.variables, first_link, arrays.offsets(last));
        graph.negated = part_of(arrays.negated, first_link, arrays.offsets(last));
    }
    require(n_structures == arrays.structures.size(),
            "structures: expected one for every structured factor");
    return graphs;
}

// Leaves of all graphs, one after the other, with a share for every link.
auto flatten_leaves(const std::vector<Graph>& graphs, const std::vector<GraphAnswer>& answers) {
    std::vector<std::int64_t> offsets{0}, decision_offsets{0};
    std::vector<std::int32_t> variables;
    std::vector<std::uint8_t> values;
    std::vector<double> shares;
    for (std::size_t b = 0; b < answers.size(); ++b) {
        for (const GraphLeaf& leaf : answers[b].leaves) {
            for (const GraphFixing& decision : leaf.decisions) {
                variables.push_back(decision.variable);
                values.push_back(decision.value ? 1 : 0);
            }
            decision_offsets.push_back(static_cast<std::int64_t>(variables.size()));
            const auto begin = shares.size();
            shares.resize(begin + graphs[b].variables.size(), 0.0);
            for (std::size_t i = 0; i < leaf.links.size(); ++i) {
                shares[begin + static_cast<std::size_t>(leaf.links[i])] = leaf.shares[i];
            }
        }
        offsets.push_back(static_cast<std::int64_t>(decision_offsets.size()) - 1);
    }
    return std::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(decision_offsets)),
                           to_numpy(std::move(variables)), to_numpy(std::move(values)),
                           to_numpy(std::move(shares)));
}

// Asks Python; the solvers run without its lock. Without a callback: for Ctrl-C alone.
GraphCallback make_callback(const nb::object& callback, Interrupt& interrupt) {
    if (callback.is_none()) {
        return [&interrupt](const GraphProgress&) { return interrupt.asked(); };
    }
    return [&callback](const GraphProgress& progress) {
        nb::gil_scoped_acquire acquire;
        return nb::cast<bool>(callback(progress.graph, progress.iterations, progress.nodes,
                                       progress.score, progress.bound, progress.primal_residual,
                                       progress.dual_residual));
    };
}

}  // namespace

void bind_graphs(nb::module_& m) {
    // Fills status, objectives, bounds, iterations, nodes, solved and cached (B,), values and
    // relaxed (N,); returns the leaves.
    m.def(
        "solve_graphs",
        [](const In<std::int64_t, 1>& variable_offsets, const In<std::int64_t, 1>& factor_offsets,
           const In<double, 1>& scores, const In<std::int8_t, 1>& fixed,
           const In<std::int8_t, 1>& kinds, const In<std::int64_t, 1>& offsets,
           const In<std::int32_t, 1>& variables, const In<std::uint8_t, 1>& negated,
           const In<double, 1>& weights, const In<double, 1>& limits,
           const std::vector<std::shared_ptr<Structure>>& structures, int method, double eta,
           bool adapt, std::int64_t max_iterations, std::int64_t node_iterations, double tolerance,
           double gap, bool caching, double seconds, std::int64_t max_nodes, bool certify,
           int n_jobs, const std::optional<In<double, 1>>& warm_shares,
           const std::optional<In<std::uint8_t, 1>>& warm_values, const nb::object& callback,
           Out<std::int32_t, 1> status, Out<std::uint8_t, 1> values, Out<double, 1> relaxed,
           Out<double, 1> objectives, Out<double, 1> bounds, Out<std::int64_t, 1> iterations,
           Out<std::int64_t, 1> nodes, Out<std::int64_t, 1> solved, Out<std::int64_t, 1> cached) {
            const auto graphs =
                make_graphs({variable_offsets, factor_offsets, scores, fixed, kinds, offsets,
                             variables, negated, weights, limits, structures});
            const auto n_graphs = graphs.size();
            require(method >= 0 && method <= 2, "solve_graphs: no such method");
            require(eta > 0.0 && std::isfinite(eta), "eta: expected a positive number");
            require(status.size() == n_graphs && objectives.size() == n_graphs &&
                        bounds.size() == n_graphs && iterations.size() == n_graphs &&
                        nodes.size() == n_graphs && solved.size() == n_graphs &&
                        cached.size() == n_graphs && values.size() == scores.size() &&
                        relaxed.size() == scores.size() &&
                        (!warm_shares || warm_shares->size() == variables.size()) &&
                        (!warm_values || warm_values->size() == scores.size()),
                    "solve_graphs: wrong shape");
            for (std::size_t k = 0; warm_shares && k < warm_shares->size(); ++k) {
                require(std::isfinite((*warm_shares)(k)), "warm_shares: expected finite numbers");
            }
            std::vector<GraphStart> starts(n_graphs);
            for (std::size_t b = 0; b < n_graphs; ++b) {
                const auto factor = static_cast<std::size_t>(factor_offsets(b));
                if (warm_shares) starts[b].shares = warm_shares->data() + offsets(factor);
                if (warm_values) starts[b].values = warm_values->data() + variable_offsets(b);
            }
            const GraphOptions options{{eta, adapt, tolerance, caching},
                                       gap,
                                       max_iterations,
                                       node_iterations,
                                       seconds,
                                       max_nodes,
                                       certify};
            Interrupt interrupt;
            const GraphCallback watcher = make_callback(callback, interrupt);
            std::vector<GraphAnswer> answers;
            {
                nb::gil_scoped_release release;
                answers = solve_graphs(graphs, starts, static_cast<GraphMethod>(method), options,
                                       n_jobs, watcher);
            }
            interrupt.raise();
            for (std::size_t b = 0; b < n_graphs; ++b) {
                const GraphAnswer& answer = answers[b];
                status(b) = static_cast<std::int32_t>(answer.status);
                objectives(b) = answer.score;
                bounds(b) = answer.bound;
                iterations(b) = answer.iterations;
                nodes(b) = answer.nodes;
                solved(b) = answer.n_solved;
                cached(b) = answer.n_cached;
                const auto first = variable_offsets(b);
                std::copy(answer.values.begin(), answer.values.end(), values.data() + first);
                std::copy(answer.relaxed.begin(), answer.relaxed.end(), relaxed.data() + first);
            }
            return flatten_leaves(graphs, answers);
        },
        nb::arg("variable_offsets"), nb::arg("factor_offsets"), nb::arg("scores"), nb::arg("fixed"),
        nb::arg("kinds"), nb::arg("offsets"), nb::arg("variables"), nb::arg("negated"),
        nb::arg("weights"), nb::arg("limits"), nb::arg("structures"), nb::arg("method"),
        nb::arg("eta"), nb::arg("adapt"), nb::arg("max_iterations"), nb::arg("node_iterations"),
        nb::arg("tolerance"), nb::arg("gap"), nb::arg("caching"), nb::arg("seconds"),
        nb::arg("max_nodes"), nb::arg("certify"), nb::arg("n_jobs"), nb::arg("warm_shares").none(),
        nb::arg("warm_values").none(), nb::arg("callback").none(), nb::arg("status"),
        nb::arg("values"), nb::arg("relaxed"), nb::arg("objectives"), nb::arg("bounds"),
        nb::arg("iterations"), nb::arg("nodes"), nb::arg("solved"), nb::arg("cached"));
}

}  // namespace trelliswork
