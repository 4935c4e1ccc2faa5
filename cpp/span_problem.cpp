#include "span_problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trelliswork {

namespace {

constexpr double kRounding = 1e-9;  // of sums of coefficients

// first[t]: the first of the intervals, ordered by start, that does not start before t.
std::vector<std::int32_t> first_at(const std::vector<std::int32_t>& start, int n_tokens) {
    std::vector<std::int32_t> first(static_cast<std::size_t>(n_tokens) + 1);
    std::int32_t i = 0;
    for (int t = 0; t <= n_tokens; ++t) {
        while (i < std::ssize(start) && start[i] < t) ++i;
        first[t] = i;
    }
    return first;
}

}  // namespace

double SpanRules::excess(int rule, const std::vector<std::int32_t>& counts) const {
    double total = -bound[rule];
    for (auto k = offsets[rule]; k < offsets[rule + 1]; ++k) {
        total += terms[k].coefficient * counts[terms[k].role];
    }
    return total;
}

double SpanRules::violation(int rule, const std::vector<std::int32_t>& counts) const {
    if (kind[rule] == SpanRuleKind::linear) return std::max(0.0, excess(rule, counts));
    const bool first = counts[terms[offsets[rule]].role] > 0;
    const bool second = counts[terms[offsets[rule] + 1].role] > 0;
    return first && second == (kind[rule] == SpanRuleKind::both) ? 1.0 : 0.0;
}

double SpanRules::slack(int rule, double price, const std::vector<std::int32_t>& counts) const {
    const double broken = violation(rule, counts);
    const double paid = price == 0.0 ? 0.0 : price * excess(rule, counts);
    return (broken == 0.0 ? 0.0 : penalty[rule] * broken) - paid;
}

double SpanRules::cost(const std::vector<std::int32_t>& counts) const {
    double total = 0.0;
    for (int c = 0; c < size(); ++c) {
        const double broken = violation(c, counts);
        if (broken > 0.0) total += penalty[c] * broken;
    }
    return total;
}

std::vector<std::int32_t> most_of_roles(const SpanRules& rules, int n_roles, int n_spans) {
    std::vector<std::int32_t> most(static_cast<std::size_t>(n_roles), n_spans);
    for (int c = 0; c < rules.size(); ++c) {
        const bool is_alone =
            rules.kind[c] == SpanRuleKind::linear && rules.offsets[c + 1] == rules.offsets[c] + 1;
        if (!is_alone || !std::isinf(rules.penalty[c])) continue;
        const SpanTerm& term = rules.terms[rules.offsets[c]];
        if (term.coefficient <= 0.0) continue;
        const double limit = std::floor(rules.bound[c] / term.coefficient);
        if (limit < most[term.role])
            most[term.role] = static_cast<std::int32_t>(std::max(limit, 0.0));
    }
    return most;
}

SpanProblem SpanProblem::apart(const std::int64_t* spans, const double* scores, int n_spans,
                               int n_roles, const SpanRules& rules) {
    SpanProblem problem;
    problem.n_roles = n_roles;
    problem.rules_given = &rules;
    problem.span.resize(static_cast<std::size_t>(n_spans));
    std::iota(problem.span.begin(), problem.span.end(), 0);
    std::stable_sort(problem.span.begin(), problem.span.end(),
                     [&](int a, int b) { return spans[2 * a] < spans[2 * b]; });
    problem.gains.reserve(static_cast<std::size_t>(n_spans) * n_roles);
    // Tokens where no span begins or ends make no difference: positions count those that do.
    std::vector<std::int64_t> edges(spans, spans + 2 * static_cast<std::ptrdiff_t>(n_spans));
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto place = [&](std::int64_t token) {
        return static_cast<std::int32_t>(std::lower_bound(edges.begin(), edges.end(), token) -
                                         edges.begin());
    };
    problem.n_tokens = std::max(0, static_cast<int>(edges.size()) - 1);
    for (const auto s : problem.span) {
        problem.start.push_back(place(spans[2 * s]));
        problem.end.push_back(place(spans[2 * s + 1]));
        const double* row = scores + static_cast<std::ptrdiff_t>(s) * n_roles;
        problem.gains.insert(problem.gains.end(), row, row + n_roles);
    }
    problem.first = first_at(problem.start, problem.n_tokens);
    return problem;
}

SpanProblem SpanProblem::free(const double* scores, int n_spans, int n_roles,
                              const SpanRules& rules) {
    SpanProblem problem;
    problem.n_roles = n_roles;
    problem.rules_given = &rules;
    const auto most = most_of_roles(rules, n_roles, n_spans);
    std::vector<std::int32_t> best(static_cast<std::size_t>(n_spans));
    for (int r = 0; r < n_roles; ++r) {
        const auto score_of = [&](int s) {
            return scores[static_cast<std::ptrdiff_t>(s) * n_roles + r];
        };
        std::iota(best.begin(), best.end(), 0);
        std::stable_sort(best.begin(), best.end(),
                         [&](int a, int b) { return score_of(a) > score_of(b); });
        for (int k = 0; k < most[r] && score_of(best[k]) > kNegativeInfinity; ++k) {
            problem.span.push_back(best[k]);
            problem.start.push_back(problem.n_tokens);
            problem.end.push_back(++problem.n_tokens);
            problem.gains.resize(problem.gains.size() + n_roles, kNegativeInfinity);
            problem.gains[problem.gains.size() - n_roles + r] = score_of(best[k]);
        }
    }
    problem.first = first_at(problem.start, problem.n_tokens);
    return problem;
}

double SpanProblem::least() const {
    // low[t] = min(low[t + 1], min_{i starts at t} min_r g_ir + low[end_i])
    std::vector<double> low(static_cast<std::size_t>(n_tokens) + 1, 0.0);
    for (int t = n_tokens - 1; t >= 0; --t) {
        low[t] = low[t + 1];
        for (int i = first[t]; i < first[t + 1]; ++i) {
            const double* own = gains_of(i);
            for (int r = 0; r < n_roles; ++r) {
                if (own[r] > kNegativeInfinity) low[t] = std::min(low[t], own[r] + low[end[i]]);
            }
        }
    }
    const auto most = most_of_roles(rules(), n_roles, n_intervals());
    double cost = 0.0;  // what soft rules can come to
    for (int c = 0; c < rules().size(); ++c) {
        if (std::isinf(rules().penalty[c])) continue;
        double violation = -rules().bound[c];
        for (auto k = rules().offsets[c]; k < rules().offsets[c + 1]; ++k) {
            const auto& [role, coefficient] = rules().terms[k];
            violation += std::max(0.0, coefficient) * most[role];
        }
        const bool is_bit = rules().kind[c] != SpanRuleKind::linear;
        cost += rules().penalty[c] * (is_bit ? 1.0 : std::max(0.0, violation));
    }
    return low[0] - cost;
}

bool OpenSpans::decide(const SpanProblem& problem, const std::vector<SpanDecision>& decisions) {
    gains = problem.gains;
    counts.assign(static_cast<std::size_t>(problem.n_roles), 0);
    taken.clear();
    gain = 0.0;
    const int n_roles = problem.n_roles;
    const auto forbid = [&](int interval, int role) {
        gains[static_cast<std::size_t>(interval) * n_roles + role] = kNegativeInfinity;
    };
    for (const auto& [choice, is_taken] : decisions) {
        if (!is_taken) {
            forbid(choice.interval, choice.role);
            continue;
        }
        taken.push_back(choice);
        ++counts[choice.role];
        gain += problem.gains_of(choice.interval)[choice.role];
        for (int i = 0; i < problem.n_intervals(); ++i) {
            if (!problem.overlap(i, choice.interval)) continue;
            for (int r = 0; r < n_roles; ++r) forbid(i, r);
        }
    }
    return close_roles(problem.rules());
}

bool OpenSpans::close_roles(const SpanRules& rules) {
    const auto n_roles = counts.size();
    most = most_of_roles(rules, static_cast<int>(n_roles), static_cast<int>(gains.size()));
    std::vector<std::int32_t> n_open(n_roles, 0);
    for (std::size_t k = 0; k < gains.size(); k += n_roles) {
        for (std::size_t r = 0; r < n_roles; ++r) n_open[r] += gains[k + r] > kNegativeInfinity;
    }
    for (std::size_t r = 0; r < n_roles; ++r) most[r] = std::min(most[r] - counts[r], n_open[r]);
    for (int c = 0; c < rules.size(); ++c) {
        if (!std::isinf(rules.penalty[c])) continue;
        const auto first = rules.offsets[c], last = rules.offsets[c + 1];
        if (rules.kind[c] != SpanRuleKind::linear) {
            const auto a = rules.terms[first].role, b = rules.terms[first + 1].role;
            const bool is_both = rules.kind[c] == SpanRuleKind::both;
            if (is_both ? counts[b] > 0 : counts[b] + most[b] <= 0) most[a] = 0;
            if (is_both && counts[a] > 0) most[b] = 0;
            continue;
        }
        // One more of a role has to fit beside the least that the others come to.
        double room = -rules.excess(c, counts);
        for (auto k = first; k < last; ++k) {
            const auto& [role, coefficient] = rules.terms[k];
            if (coefficient < 0.0) room -= coefficient * std::max(most[role], 0);
        }
        if (room < -kRounding) return false;
        for (auto k = first; k < last; ++k) {
            const auto& [role, coefficient] = rules.terms[k];
            if (coefficient > room + kRounding) most[role] = 0;
        }
    }
    for (std::size_t k = 0; k < gains.size(); k += n_roles) {
        for (std::size_t r = 0; r < n_roles; ++r) {
            if (most[r] <= 0) gains[k + r] = kNegativeInfinity;
        }
    }
    return true;
}

}  // namespace trelliswork
