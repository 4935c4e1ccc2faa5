#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <tuple>

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

SpanProblem make_problem(const In<std::int64_t, 2>& spans, const In<double, 2>& scores,
                         const BoundSpanRules& rules, bool apart) {
    require(spans.shape(1) == 2 && scores.shape(0) == spans.shape(0) &&
                scores.shape(1) == static_cast<std::size_t>(rules.n_roles),
            "solve_spans: wrong shape");
    const auto n_spans = static_cast<int>(spans.shape(0));
    if (!apart) return SpanProblem::free(scores.data(), n_spans, rules.n_roles, rules.rules);
    for (int s = 0; s < n_spans; ++s) {
        require(spans(s, 0) < spans(s, 1), "solve_spans: expected spans that are not empty");
    }
    return SpanProblem::apart(spans.data(), scores.data(), n_spans, rules.n_roles, rules.rules);
}

// Answers, one after the other.
struct Flat {
    std::vector<std::int64_t> status, iterations, nodes;
    std::vector<double> payoff, bound;
    std::vector<std::int64_t> choice_offsets{0}, choices;  // span, role
    std::vector<std::int64_t> leaf_offsets{0};
    std::vector<std::int64_t> decision_offsets{0}, decisions;  // span, role, taken
    std::vector<double> prices;

    void add(const SpanProblem& problem, const SpanAnswer& answer) {
        status.push_back(static_cast<std::int64_t>(answer.status));
        iterations.push_back(answer.iterations);
        nodes.push_back(answer.nodes);
        payoff.push_back(answer.best.payoff);
        bound.push_back(answer.bound);
        for (const SpanChoice& choice : answer.best.choices) {
            choices.push_back(problem.span[choice.interval]);
            choices.push_back(choice.role);
        }
        choice_offsets.push_back(std::ssize(choices) / 2);
        for (const SpanLeaf& leaf : answer.leaves) {
            for (const auto& [choice, taken] : leaf.decisions) {
                decisions.push_back(problem.span[choice.interval]);
                decisions.push_back(choice.role);
                decisions.push_back(taken ? 1 : 0);
            }
            decision_offsets.push_back(std::ssize(decisions) / 3);
            prices.insert(prices.end(), leaf.prices.begin(), leaf.prices.end());
        }
        leaf_offsets.push_back(std::ssize(decision_offsets) - 1);
    }
};

auto solve(const std::vector<In<std::int64_t, 2>>& spans, const std::vector<In<double, 2>>& scores,
           const std::vector<const BoundSpanRules*>& rules, const std::vector<bool>& apart,
           const std::vector<double>& constants, std::int64_t max_iterations, double tolerance,
           double seconds, std::int64_t max_nodes, int n_workers) {
    require(scores.size() == spans.size() && rules.size() == spans.size() &&
                apart.size() == spans.size() && constants.size() == spans.size(),
            "solve_spans: wrong shape");
    std::vector<SpanProblem> problems;
    problems.reserve(spans.size());
    for (std::size_t b = 0; b < spans.size(); ++b) {
        problems.push_back(make_problem(spans[b], scores[b], *rules[b], apart[b]));
        problems.back().constant = constants[b];
    }
    Interrupt interrupt;
    const SpanOptions options{max_iterations, tolerance, seconds, max_nodes,
                              [&interrupt] { return interrupt.asked(); }};
    std::vector<SpanAnswer> answers;
    {
        nb::gil_scoped_release release;
        solve_spans(problems, options, n_workers, answers);
    }
    interrupt.raise();
    Flat flat;
    for (std::size_t b = 0; b < problems.size(); ++b) flat.add(problems[b], answers[b]);
    return std::tuple(to_numpy(std::move(flat.status)), to_numpy(std::move(flat.payoff)),
                      to_numpy(std::move(flat.bound)), to_numpy(std::move(flat.iterations)),
                      to_numpy(std::move(flat.nodes)), to_numpy(std::move(flat.choice_offsets)),
                      to_numpy(std::move(flat.choices)), to_numpy(std::move(flat.leaf_offsets)),
                      to_numpy(std::move(flat.decision_offsets)),
                      to_numpy(std::move(flat.decisions)), to_numpy(std::move(flat.prices)));
}

}  // namespace

void bind_spans(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<BoundSpanRules>(m, "SpanRules")
        .def(
            "__init__",
            [](BoundSpanRules* self, int n_roles, const std::vector<std::int64_t>& sizes,
               const std::vector<std::int32_t>& roles, const std::vector<double>& coefficients,
               std::vector<double> bounds, std::vector<double> penalties) {
                new (self) BoundSpanRules(make_rules(n_roles, sizes, roles, coefficients,
                                                     std::move(bounds), std::move(penalties)));
            },
            "n_roles"_a, "sizes"_a, "roles"_a, "coefficients"_a, "bounds"_a, "penalties"_a);
    m.def("solve_spans", &solve, "spans"_a, "scores"_a, "rules"_a, "apart"_a, "constants"_a,
          "max_iterations"_a, "tolerance"_a, "seconds"_a, "max_nodes"_a, "n_workers"_a);
}

}  // namespace trelliswork
