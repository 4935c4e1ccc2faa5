#include "spans/problem.hpp"

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

// Narrows least ≤ n ≤ most by the room that every hard rule leaves for one count beside the
// others, until nothing changes; false: nothing is left.
//
//   Σ_r a_r n_r ≤ b      ⟹      a_r n_r ≤ b − Σ_{q ≠ r} min(a_q least_q, a_q most_q)
bool narrow(const SpanRules& rules, std::vector<std::int32_t>& least,
            std::vector<std::int32_t>& most) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int c = 0; c < rules.size(); ++c) {
            if (!std::isinf(rules.penalty[c])) continue;
            const auto lowest = [&](const SpanTerm& term) {
                return term.coefficient *
                       (term.coefficient > 0.0 ? least[term.role] : most[term.role]);
            };
            double room = rules.bound[c] + kRounding;
            for (auto k = rules.offsets[c]; k < rules.offsets[c + 1]; ++k) {
                room -= lowest(rules.terms[k]);
            }
            if (room < 0.0) return false;
            for (auto k = rules.offsets[c]; k < rules.offsets[c + 1]; ++k) {
                const SpanTerm& term = rules.terms[k];
                const double limit = (room + lowest(term)) / term.coefficient;
                auto& low = least[term.role];
                auto& high = most[term.role];
                if (term.coefficient > 0.0 && std::floor(limit) < high) {
                    high = static_cast<std::int32_t>(std::floor(limit));
                    changed = true;
                } else if (term.coefficient < 0.0 && std::ceil(limit) > low) {
                    low = static_cast<std::int32_t>(std::ceil(limit));
                    changed = true;
                }
                if (low > high) return false;
            }
        }
    }
    return true;
}

}  // namespace

double SpanRules::excess(int rule, const std::vector<std::int32_t>& counts) const {
    double total = -bound[rule];
    for (auto k = offsets[rule]; k < offsets[rule + 1]; ++k) {
        total += terms[k].coefficient * counts[terms[k].role];
    }
    return total;
}

double SpanRules::cost(const std::vector<std::int32_t>& counts) const {
    double total = 0.0;
    for (int c = 0; c < size(); ++c) {
        const double broken = excess(c, counts);
        if (broken > 0.0) total += penalty[c] * broken;
    }
    return total;
}

std::vector<std::int32_t> most_of_roles(const SpanRules& rules, int n_roles, int n_spans) {
    std::vector<std::int32_t> most(static_cast<std::size_t>(n_roles), n_spans);
    for (int c = 0; c < rules.size(); ++c) {
        const bool is_alone = rules.offsets[c + 1] == rules.offsets[c] + 1;
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
    double cost = 0.0;  // the largest cost of soft rules
    for (int c = 0; c < rules().size(); ++c) {
        if (std::isinf(rules().penalty[c])) continue;
        double violation = -rules().bound[c];
        for (auto k = rules().offsets[c]; k < rules().offsets[c + 1]; ++k) {
            const auto& [role, coefficient] = rules().terms[k];
            violation += std::max(0.0, coefficient) * most[role];
        }
        cost += rules().penalty[c] * std::max(0.0, violation);
    }
    return constant + low[0] - cost;
}

bool OpenSpans::decide(const SpanProblem& problem, const std::vector<SpanDecision>& decisions) {
    gains = problem.gains;
    counts.assign(static_cast<std::size_t>(problem.n_roles), 0);
    taken.clear();
    gain = problem.constant;
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
    for (std::size_t r = 0; r < n_roles; ++r) most[r] = std::min(most[r], counts[r] + n_open[r]);
    std::vector<std::int32_t> least = counts;
    if (!narrow(rules, least, most)) return false;
    for (std::size_t r = 0; r < n_roles; ++r) most[r] -= counts[r];
    for (std::size_t k = 0; k < gains.size(); k += n_roles) {
        for (std::size_t r = 0; r < n_roles; ++r) {
            if (most[r] <= 0) gains[k + r] = kNegativeInfinity;
        }
    }
    return true;
}

}  // namespace trelliswork
