#include "graphs/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace trelliswork {

namespace {

constexpr double kRounding = 1e-14;  // of bounds, in parts of their magnitudes
// The margin of a proof that there is no solution: shares drift while they are added up, and a
// check of the proof adds up in another order, and allows for it.
constexpr double kDrift = 1e-12, kChecked = 2e-9;

}  // namespace

Incumbent::Incumbent(const Graph& graph, double gap)
    : propagator(graph), implied_(find_implied(graph, propagator.incidence())), gap_(gap) {
    for (const double c : graph.scores) {
        largest_ = std::max(largest_, std::abs(c));
        least_ += std::min(c, 0.0);
    }
    for (const auto& structure : graph.structures) {
        if (structure == nullptr) continue;
        largest_ = std::max(largest_, structure->scale());
        least_ += structure->lowest();
    }
}

bool Incumbent::closes(double bound, double magnitude) const {
    if (score == kNegativeInfinity) return bound == kNegativeInfinity;
    const double size = std::abs(score);
    // Rounding closes no more than the gap of scores around 1 would.
    const double rounding = std::min(kRounding * magnitude, gap_ * (1.0 + size));
    return bound <= score + std::max(gap_ * (size + std::min(1.0, largest_)), rounding);
}

bool Incumbent::rules_out(double bound, double magnitude) const {
    if (bound == kNegativeInfinity) return true;
    return bound < least_ - kDrift * magnitude - kChecked * (1.0 + std::abs(least_));
}

bool Incumbent::offer(GraphFactors& factors, const std::uint8_t* candidate) {
    const double found = factors.score(candidate) + reduced_->constant;
    if (found == kNegativeInfinity) return false;
    if (found <= score) return true;
    score = found;
    const auto& fixed = propagator.values();
    values.resize(fixed.size());
    for (std::size_t j = 0; j < fixed.size(); ++j) values[j] = fixed[j] == 1 ? 1 : 0;
    for (std::size_t i = 0; i < factors.n_variables(); ++i) {
        values[static_cast<std::size_t>(reduced_->variable_of[i])] = candidate[i];
    }
    return true;
}

void Incumbent::round(GraphFactors& factors, const double* u, const double* shares) {
    const auto mark = propagator.mark();
    if (fix_structures(factors, shares) && fix_by_confidence(u)) {
        candidate_.resize(factors.n_variables());
        for (std::size_t i = 0; i < candidate_.size(); ++i) {
            const auto j = static_cast<std::size_t>(reduced_->variable_of[i]);
            candidate_[i] = propagator.values()[j] == 1 ? 1 : 0;
        }
        propagator.undo(mark);
        offer(factors, candidate_.data());
    }
    propagator.undo(mark);
}

bool Incumbent::try_both(std::int32_t variable, bool value) {
    if (propagator.values()[static_cast<std::size_t>(variable)] >= 0) return true;
    const auto mark = propagator.mark();
    if (propagator.assign(variable, value)) return true;
    propagator.undo(mark);
    return propagator.assign(variable, !value);
}

bool Incumbent::fix_structures(GraphFactors& factors, const double* shares) {
    const Graph& graph = factors.graph();
    for (std::size_t m = 0; m < factors.n_factors(); ++m) {
        if (graph.kinds[m] != FactorKind::structured) continue;
        const auto first = graph.offsets[m], n = graph.offsets[m + 1] - first;
        const auto width = static_cast<std::size_t>(n);
        fixed_.assign(width, -1);
        scores_.assign(width, 0.0);
        candidate_.resize(width);
        for (std::int64_t i = 0; i < n; ++i) {
            const auto k = first + i;
            const auto j = reduced_->variable_of[static_cast<std::size_t>(graph.variables[k])];
            const auto value = propagator.values()[static_cast<std::size_t>(j)];
            const bool negated = graph.negated[k] != 0;
            if (value >= 0) fixed_[i] = static_cast<std::int8_t>(value ^ graph.negated[k]);
            scores_[i] = negated ? -shares[k] : shares[k];
        }
        const double best =
            graph.structures[m]->maximize(scores_.data(), fixed_.data(), candidate_.data());
        if (best == kNegativeInfinity) return false;
        for (std::int64_t i = 0; i < n; ++i) {
            const auto k = first + i;
            const auto j = reduced_->variable_of[static_cast<std::size_t>(graph.variables[k])];
            if (!propagator.assign(j, (candidate_[i] ^ graph.negated[k]) != 0)) return false;
        }
    }
    return true;
}

// Variables that are rather on go first: they decide most of the rest.
bool Incumbent::fix_by_confidence(const double* u) {
    const auto& scores = reduced_->graph.scores;
    const auto n = static_cast<std::int32_t>(reduced_->variable_of.size());
    // Scores that overflow leave no number: nothing is known then.
    const auto of = [&](std::int32_t i) { return std::isnan(u[i]) ? 0.5 : u[i]; };
    for (const bool is_on : {true, false}) {
        order_.clear();
        for (std::int32_t i = 0; i < n; ++i) {
            const auto j = static_cast<std::size_t>(reduced_->variable_of[i]);
            if (propagator.values()[j] < 0 && (of(i) > 0.5) == is_on) order_.push_back(i);
        }
        std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
            if (of(a) != of(b)) return (of(a) > of(b)) == is_on;
            return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
        });
        for (const auto i : order_) {
            const bool value = is_on || (of(i) == 0.5 && scores[i] > 0.0);
            if (!try_both(reduced_->variable_of[i], value)) return false;
        }
    }
    return true;
}

}  // namespace trelliswork
