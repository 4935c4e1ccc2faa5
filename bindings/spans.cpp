// Spans that fill roles, and batches of such problems.
#include <nanobind/stl/vector.h>

#include <cmath>
#include <utility>

#include "spans/solver.hpp"
#include "support/arrays.hpp"
#include "support/interrupt.hpp"

namespace trelliswork {

namespace {

// Rules about roles, with the number of roles that they speak of.
struct BoundSpanRules {
    SpanRules rules;
    int n_roles;
};

BoundSpanRules make_rules(int n_roles, const std::vector<std::int64_t>& sizes,
                          const std::vector<std::int32_t>& roles,
                          const std::vector<double>& coefficients, std::vector<double> bounds,
                          std::vector<double> penalties) {
    const auto n_rules = sizes.size();
    require(bounds.size() == n_rules && penalties.size() == n_rules &&
                coefficients.size() == roles.size(),
            "SpanRules: wrong shape");
    SpanRules rules;
    for (std::size_t k = 0; k < roles.size(); ++k) {
        require(roles[k] >= 0 && roles[k] < n_roles, "SpanRules: no such role");
        require(std::isfinite(coefficients[k]), "SpanRules: no such coefficient");
        rules.terms.push_back({roles[k], coefficients[k]});
    }
    for (std::size_t c = 0; c < n_rules; ++c) {
        require(sizes[c] >= 0, "SpanRules: wrong sizes");
        require(penalties[c] >= 0.0 && std::isfinite(bounds[c]), "SpanRules: no such penalty");
        rules.offsets.push_back(rules.offsets.back() + sizes[c]);
    }
    require(rules.offsets.back() == std::ssize(roles), "SpanRules: wrong sizes");
    rules.bound = std::move(bounds);
    rules.penalty = std::move(penalties);
    return {std::move(rules), n_roles};
}

// A problem that keeps its rules alive.
struct BoundSpanProblem {
    nb::object rules;
    SpanProblem problem;
};

BoundSpanProblem make_problem(const In<std::int64_t, 2>& spans, const In<double, 2>& scores,
                              nb::handle_t<BoundSpanRules> given, bool apart, double constant) {
    const auto& [rules, n_roles] = nb::cast<const BoundSpanRules&>(given);
    require(spans.shape(1) == 2 && scores.shape(0) == spans.shape(0) &&
                scores.shape(1) == static_cast<std::size_t>(n_roles),
            "SpanProblem: wrong shape");
    const auto n_spans = static_cast<int>(spans.shape(0));
    for (int s = 0; apart && s < n_spans; ++s) {
        require(spans(s, 0) < spans(s, 1), "SpanProblem: expected spans that are not empty");
    }
    SpanProblem problem =
        apart ? SpanProblem::apart(spans.data(), scores.data(), n_spans, n_roles, rules)
              : SpanProblem::free(scores.data(), n_spans, n_roles, rules);
    problem.constant = constant;
    return {nb::borrow(given), std::move(problem)};
}

// The answer to one problem. choices: (span, role); leaves: decisions (span, role, taken) and
// prices (C,) of each.
struct BoundSpanAnswer {
    int status;
    double score, bound;
    std::int64_t iterations, nodes;
    nb::list choices, leaves;
};

BoundSpanAnswer make_answer(const SpanProblem& problem, SpanAnswer found) {
    BoundSpanAnswer out{static_cast<int>(found.status),
                        found.best.payoff,
                        found.bound,
                        found.iterations,
                        found.nodes,
                        {},
                        {}};
    for (const auto& [interval, role] : found.best.choices) {
        out.choices.append(nb::make_tuple(problem.span[interval], role));
    }
    for (SpanLeaf& leaf : found.leaves) {
        nb::list decisions;
        for (const auto& [choice, taken] : leaf.decisions) {
            decisions.append(nb::make_tuple(problem.span[choice.interval], choice.role, taken));
        }
        out.leaves.append(nb::make_tuple(decisions, to_numpy(std::move(leaf.prices))));
    }
    return out;
}

std::vector<BoundSpanAnswer> run(const std::vector<const BoundSpanProblem*>& given,
                                 const SpanOptions& options, int n_jobs) {
    std::vector<const SpanProblem*> problems;
    for (const BoundSpanProblem* bound : given) {
        require(bound != nullptr, "problems: expected a SpanProblem, got None");
        problems.push_back(&bound->problem);
    }
    Interrupt interrupt;
    SpanOptions watched = options;
    watched.stop = [&interrupt] { return interrupt.asked(); };
    std::vector<SpanAnswer> answers;
    {
        nb::gil_scoped_release release;
        answers = solve_spans(problems, watched, n_jobs);
    }
    interrupt.raise();
    std::vector<BoundSpanAnswer> out;
    for (std::size_t b = 0; b < problems.size(); ++b) {
        out.push_back(make_answer(*problems[b], std::move(answers[b])));
    }
    return out;
}

}  // namespace

void bind_spans(nb::module_& m) {
    nb::class_<BoundSpanRules>(m, "SpanRules")
        .def(
            "__init__",
            [](BoundSpanRules* self, int n_roles, const std::vector<std::int64_t>& sizes,
               const std::vector<std::int32_t>& roles, const std::vector<double>& coefficients,
               std::vector<double> bounds, std::vector<double> penalties) {
                new (self) BoundSpanRules(make_rules(n_roles, sizes, roles, coefficients,
                                                     std::move(bounds), std::move(penalties)));
            },
            nb::arg("n_roles"), nb::arg("sizes"), nb::arg("roles"), nb::arg("coefficients"),
            nb::arg("bounds"), nb::arg("penalties"));

    nb::class_<BoundSpanProblem>(m, "SpanProblem")
        .def(
            "__init__",
            [](BoundSpanProblem* self, const In<std::int64_t, 2>& spans,
               const In<double, 2>& scores, nb::handle_t<BoundSpanRules> rules, bool apart,
               double constant) {
                new (self) BoundSpanProblem(make_problem(spans, scores, rules, apart, constant));
            },
            nb::arg("spans"), nb::arg("scores"), nb::arg("rules"), nb::arg("apart"),
            nb::arg("constant"));

    nb::class_<SpanOptions>(m, "SpanOptions")
        .def(
            "__init__",
            [](SpanOptions* self, std::int64_t max_iterations, double tolerance, double seconds,
               std::int64_t max_nodes) {
                new (self) SpanOptions{max_iterations, tolerance, seconds, max_nodes, {}};
            },
            nb::kw_only(), nb::arg("max_iterations"), nb::arg("tolerance"), nb::arg("seconds"),
            nb::arg("max_nodes"));

    nb::class_<BoundSpanAnswer>(m, "SpanAnswer")
        .def_ro("status", &BoundSpanAnswer::status)
        .def_ro("choices", &BoundSpanAnswer::choices)
        .def_ro("score", &BoundSpanAnswer::score)
        .def_ro("bound", &BoundSpanAnswer::bound)
        .def_ro("iterations", &BoundSpanAnswer::iterations)
        .def_ro("nodes", &BoundSpanAnswer::nodes)
        .def_ro("leaves", &BoundSpanAnswer::leaves);

    m.def("solve_spans", &run, nb::arg("problems"), nb::arg("options"), nb::arg("n_jobs") = 1);
}

}  // namespace trelliswork
