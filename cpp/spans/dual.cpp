#include "spans/dual.hpp"

#include <algorithm>
#include <cmath>

namespace trelliswork {

SpanDual::SpanDual(const SpanProblem& problem) : problem_(problem) {
    role_prices_.resize(static_cast<std::size_t>(problem.n_roles));
    best_.resize(static_cast<std::size_t>(problem.n_intervals()));
    rest_.assign(static_cast<std::size_t>(problem.n_tokens) + 1, 0.0);
}

bool SpanDual::open(const std::vector<SpanDecision>& decisions) {
    return open_.decide(problem_, decisions);
}

double SpanDual::evaluate(const std::vector<double>& prices) {
    ++n_evaluations_;
    const SpanRules& rules = problem_.rules();
    std::fill(role_prices_.begin(), role_prices_.end(), 0.0);
    constant_ = open_.gain;
    for (int c = 0; c < rules.size(); ++c) {
        if (prices[c] == 0.0) continue;
        constant_ -= prices[c] * rules.excess(c, open_.counts);
        for (auto k = rules.offsets[c]; k < rules.offsets[c + 1]; ++k) {
            role_prices_[rules.terms[k].role] += prices[c] * rules.terms[k].coefficient;
        }
    }
    // best[i] = max_r g_ir − Σ_c λ_c a_cr
    const int n_roles = problem_.n_roles;
    const double* gains = open_.gains.data();
    for (int i = 0; i < problem_.n_intervals(); ++i, gains += n_roles) {
        double best = kNegativeInfinity;
        for (int r = 0; r < n_roles; ++r) best = std::max(best, gains[r] - role_prices_[r]);
        best_[i] = best;
    }
    // rest[t] = max(rest[t + 1], max_{i starts at t} best[i] + rest[end_i])
    for (int t = problem_.n_tokens - 1; t >= 0; --t) {
        double most = rest_[t + 1];
        for (int i = problem_.first[t]; i < problem_.first[t + 1]; ++i) {
            most = std::max(most, best_[i] + rest_[problem_.end[i]]);
        }
        rest_[t] = most;
    }
    return rest_[0] + constant_;
}

int SpanDual::best_role(int interval) const {
    const double* gains =
        open_.gains.data() + static_cast<std::size_t>(interval) * problem_.n_roles;
    int role = 0;
    while (gains[role] - role_prices_[role] != best_[interval]) ++role;
    return role;
}

void SpanDual::read(SpanAssignment& found, std::vector<double>& excess) const {
    found.choices = open_.taken;
    found.counts = open_.counts;
    double gain = open_.gain;
    for (int t = 0; t < problem_.n_tokens;) {
        if (rest_[t] == rest_[t + 1]) {  // an interval that is worth nothing is left out
            ++t;
            continue;
        }
        int i = problem_.first[t];
        while (best_[i] + rest_[problem_.end[i]] != rest_[t]) ++i;
        const int role = best_role(i);
        found.choices.push_back({i, role});
        ++found.counts[role];
        gain += problem_.gains_of(i)[role];
        t = problem_.end[i];
    }
    const SpanRules& rules = problem_.rules();
    for (int c = 0; c < rules.size(); ++c) excess[c] = rules.excess(c, found.counts);
    found.payoff = gain - rules.cost(found.counts);
}

void SpanDual::repair(SpanAssignment& found) const {
    const SpanRules& rules = problem_.rules();
    const auto n_decided = std::ssize(open_.taken);
    const auto gain_of = [&](const SpanChoice& choice) {
        return problem_.gains_of(choice.interval)[choice.role];
    };
    // Whether fewer intervals with a role would break a rule less.
    const auto is_in = [&](int rule, int role) {
        for (auto k = rules.offsets[rule]; k < rules.offsets[rule + 1]; ++k) {
            if (rules.terms[k].role == role && rules.terms[k].coefficient > 0.0) return true;
        }
        return false;
    };
    found.payoff = kNegativeInfinity;
    for (int c = 0; c < rules.size();) {
        if (!std::isinf(rules.penalty[c]) || rules.excess(c, found.counts) <= 0.0) {
            ++c;
            continue;
        }
        auto worst = std::ssize(found.choices);
        for (auto k = n_decided; k < std::ssize(found.choices); ++k) {
            if (!is_in(c, found.choices[k].role)) continue;
            const bool is_worse = worst == std::ssize(found.choices) ||
                                  gain_of(found.choices[k]) < gain_of(found.choices[worst]);
            if (is_worse) worst = k;
        }
        if (worst == std::ssize(found.choices)) return;
        --found.counts[found.choices[worst].role];
        found.choices.erase(found.choices.begin() + worst);
        c = 0;  // the erased choice may have been required
    }
    double gain = problem_.constant;
    for (const SpanChoice& choice : found.choices) gain += gain_of(choice);
    found.payoff = gain - rules.cost(found.counts);
}

}  // namespace trelliswork
