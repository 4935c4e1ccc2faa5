// Factor graphs, and batches of them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "graphs/solver.hpp"
#include "support/arrays.hpp"
#include "support/interrupt.hpp"

namespace trelliswork {

namespace {

// A graph as flat arrays: scores and fixed (N,), kinds and limits (M,), offsets (M + 1,) into
// links; variables, negated and weights (K,); structures of the factors that have one.
Graph make_graph(const In<double, 1>& scores, const In<std::int8_t, 1>& fixed,
                 const In<std::int8_t, 1>& kinds, const In<std::int64_t, 1>& offsets,
                 const In<std::int32_t, 1>& variables, const In<std::uint8_t, 1>& negated,
                 const In<double, 1>& weights, const In<double, 1>& limits,
                 const std::vector<std::shared_ptr<Structure>>& structures) {
    check_offsets(offsets, variables.size(), "offsets");
    require(fixed.size() == scores.size() && offsets.size() == kinds.size() + 1 &&
                limits.size() == kinds.size() && negated.size() == variables.size() &&
                weights.size() == variables.size(),
            "Graph: wrong shape");
    for (std::size_t j = 0; j < scores.size(); ++j) {
        require(std::isfinite(scores(j)), "scores: expected finite numbers");
        require(fixed(j) >= -1 && fixed(j) <= 1, "fixed: expected -1, 0 or 1");
    }
    Graph graph;
    graph.scores = copy_of(scores);
    graph.fixed = copy_of(fixed);
    graph.offsets = copy_of(offsets);
    graph.variables = copy_of(variables);
    graph.negated = copy_of(negated);
    graph.weights.assign(weights.size(), 1.0);
    graph.limits = copy_of(limits);
    std::size_t n_structures = 0;
    for (std::size_t m = 0; m < kinds.size(); ++m) {
        const auto first = static_cast<std::size_t>(offsets(m));
        const auto last = static_cast<std::size_t>(offsets(m + 1));
        const auto n_links = static_cast<std::int64_t>(last - first);
        require(kinds(m) >= 0 && kinds(m) <= 7, "kinds: no such factor");
        const auto kind = static_cast<FactorKind>(kinds(m));
        const bool has_output = kind == FactorKind::or_out || kind == FactorKind::xor_out;
        require(!has_output || n_links > 0, "offsets: a factor has no link for its output");
        require(!std::isnan(limits(m)), "limits: expected numbers");
        std::shared_ptr<const Structure> structure;
        if (kind == FactorKind::structured) {
            require(n_structures < structures.size() && structures[n_structures] != nullptr,
                    "structures: expected one for every structured factor");
            structure = structures[n_structures++];
            require(structure->size() == n_links, "structures: wrong number of links");
        }
        for (auto k = first; k < last; ++k) {
            require(variables(k) >= 0 && variables(k) < std::ssize(graph.scores),
                    "variables: out of range");
            require(negated(k) <= 1, "negated: expected 0 or 1");
            if (kind != FactorKind::knapsack) continue;
            require(weights(k) > 0.0 && std::isfinite(weights(k)),
                    "weights: expected positive numbers");
            graph.weights[k] = weights(k);
        }
        graph.kinds.push_back(kind);
        graph.structures.push_back(std::move(structure));
        graph.slacks.push_back(weight_slack(n_links, graph.weights.data() + first));
    }
    require(n_structures == structures.size(),
            "structures: expected one for every structured factor");
    return graph;
}

struct BoundOptions {
    GraphMethod method;
    GraphOptions options;
};

BoundOptions make_options(int method, double eta, bool adapt, double tolerance, bool caching,
                          double gap, std::int64_t max_iterations, std::int64_t node_iterations,
                          double seconds, std::int64_t max_nodes, bool certify) {
    require(method >= 0 && method <= 2, "solve_graphs: no such method");
    require(eta > 0.0 && std::isfinite(eta), "eta: expected a positive number");
    return {static_cast<GraphMethod>(method),
            {{eta, adapt, tolerance, caching},
             gap,
             max_iterations,
             node_iterations,
             seconds,
             max_nodes,
             certify}};
}

// Where to begin: shares (K,) and values (N,), either of them or none.
struct BoundStart {
    std::optional<In<double, 1>> shares;
    std::optional<In<std::uint8_t, 1>> values;
};

BoundStart make_start(std::optional<In<double, 1>> shares,
                      std::optional<In<std::uint8_t, 1>> values) {
    for (std::size_t k = 0; shares && k < shares->size(); ++k) {
        require(std::isfinite((*shares)(k)), "shares: expected finite numbers");
    }
    return {std::move(shares), std::move(values)};
}

std::vector<GraphStart> make_starts(const std::vector<const Graph*>& graphs,
                                    const std::optional<std::vector<const BoundStart*>>& given) {
    std::vector<GraphStart> starts(graphs.size());
    if (!given) return starts;
    require(given->size() == graphs.size(), "starts: expected one a graph");
    for (std::size_t b = 0; b < graphs.size(); ++b) {
        const BoundStart* start = (*given)[b];
        if (start == nullptr) continue;
        require((!start->shares || start->shares->size() == graphs[b]->variables.size()) &&
                    (!start->values || start->values->size() == graphs[b]->scores.size()),
                "starts: expected a share for every link and a value for every variable");
        starts[b] = {data_or_null(start->shares), data_or_null(start->values)};
    }
    return starts;
}

// The answer to one graph. values and relaxed (N,) or None; leaves: decisions and shares (K,) each.
struct BoundAnswer {
    GraphAnswer found;
    std::size_t n_variables, n_links;

    nb::object values() const {
        return found.score > kNegativeInfinity ? array_or_none(found.values) : nb::none();
    }
    nb::object relaxed() const { return array_or_none(found.relaxed); }
    nb::list leaves() const {
        nb::list out;
        for (const GraphLeaf& leaf : found.leaves) {
            nb::list decisions;
            for (const GraphFixing& decision : leaf.decisions) {
                decisions.append(nb::make_tuple(decision.variable, decision.value));
            }
            std::vector<double> shares(n_links, 0.0);
            for (std::size_t i = 0; i < leaf.links.size(); ++i) {
                shares[static_cast<std::size_t>(leaf.links[i])] = leaf.shares[i];
            }
            out.append(nb::make_tuple(decisions, to_numpy(std::move(shares))));
        }
        return out;
    }

  private:
    template <class T>
    nb::object array_or_none(const std::vector<T>& values) const {
        if (values.size() != n_variables) return nb::none();
        return nb::cast(to_numpy(std::vector<T>(values)));
    }
};

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

std::vector<BoundAnswer> run(const std::vector<const Graph*>& graphs, const BoundOptions& options,
                             const std::optional<std::vector<const BoundStart*>>& given,
                             const nb::object& callback, int n_jobs) {
    for (const Graph* graph : graphs) {
        require(graph != nullptr, "graphs: expected a Graph, got None");
    }
    const auto starts = make_starts(graphs, given);
    Interrupt interrupt;
    const GraphCallback watcher = make_callback(callback, interrupt);
    std::vector<GraphAnswer> answers;
    {
        nb::gil_scoped_release release;
        answers = solve_graphs(graphs, starts, options.method, options.options, n_jobs, watcher);
    }
    interrupt.raise();
    std::vector<BoundAnswer> out;
    for (std::size_t b = 0; b < graphs.size(); ++b) {
        out.push_back(
            {std::move(answers[b]), graphs[b]->scores.size(), graphs[b]->variables.size()});
    }
    return out;
}

}  // namespace

void bind_graphs(nb::module_& m) {
    nb::class_<Graph>(m, "Graph")
        .def(
            "__init__",
            [](Graph* self, const In<double, 1>& scores, const In<std::int8_t, 1>& fixed,
               const In<std::int8_t, 1>& kinds, const In<std::int64_t, 1>& offsets,
               const In<std::int32_t, 1>& variables, const In<std::uint8_t, 1>& negated,
               const In<double, 1>& weights, const In<double, 1>& limits,
               const std::vector<std::shared_ptr<Structure>>& structures) {
                new (self) Graph(make_graph(scores, fixed, kinds, offsets, variables, negated,
                                            weights, limits, structures));
            },
            nb::arg("scores"), nb::arg("fixed"), nb::arg("kinds"), nb::arg("offsets"),
            nb::arg("variables"), nb::arg("negated"), nb::arg("weights"), nb::arg("limits"),
            nb::arg("structures"));

    nb::class_<BoundOptions>(m, "GraphOptions")
        .def(
            "__init__",
            [](BoundOptions* self, int method, double eta, bool adapt, double tolerance,
               bool caching, double gap, std::int64_t max_iterations, std::int64_t node_iterations,
               double seconds, std::int64_t max_nodes, bool certify) {
                new (self) BoundOptions(make_options(method, eta, adapt, tolerance, caching, gap,
                                                     max_iterations, node_iterations, seconds,
                                                     max_nodes, certify));
            },
            nb::kw_only(), nb::arg("method"), nb::arg("eta"), nb::arg("adapt"),
            nb::arg("tolerance"), nb::arg("caching"), nb::arg("gap"), nb::arg("max_iterations"),
            nb::arg("node_iterations"), nb::arg("seconds"), nb::arg("max_nodes"),
            nb::arg("certify"));

    nb::class_<BoundStart>(m, "GraphStart")
        .def(
            "__init__",
            [](BoundStart* self, std::optional<In<double, 1>> shares,
               std::optional<In<std::uint8_t, 1>> values) {
                new (self) BoundStart(make_start(std::move(shares), std::move(values)));
            },
            nb::arg("shares").none(), nb::arg("values").none());

    nb::class_<BoundAnswer>(m, "GraphAnswer")
        .def_prop_ro("status",
                     [](const BoundAnswer& self) { return static_cast<int>(self.found.status); })
        .def_prop_ro("values", &BoundAnswer::values)
        .def_prop_ro("relaxed", &BoundAnswer::relaxed)
        .def_prop_ro("score", [](const BoundAnswer& self) { return self.found.score; })
        .def_prop_ro("bound", [](const BoundAnswer& self) { return self.found.bound; })
        .def_prop_ro("iterations", [](const BoundAnswer& self) { return self.found.iterations; })
        .def_prop_ro("nodes", [](const BoundAnswer& self) { return self.found.nodes; })
        .def_prop_ro("n_solved", [](const BoundAnswer& self) { return self.found.n_solved; })
        .def_prop_ro("n_cached", [](const BoundAnswer& self) { return self.found.n_cached; })
        .def_prop_ro("leaves", &BoundAnswer::leaves);

    m.def("solve_graphs", &run, nb::arg("graphs"), nb::arg("options"),
          nb::arg("starts").none() = nb::none(), nb::arg("callback").none() = nb::none(),
          nb::arg("n_jobs") = 1);
}

}  // namespace trelliswork
