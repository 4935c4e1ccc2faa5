#include "graphs/factors.hpp"

#include <algorithm>

#include "simd/semiring.hpp"

namespace trelliswork {

GraphFactors::GraphFactors(const Graph& graph)
    : graph_(graph), has_negated_(graph.kinds.size(), 0) {
    std::int64_t widest = 0;
    for (std::size_t m = 0; m < n_factors(); ++m) {
        const auto first = graph.offsets[m], end = graph.offsets[m + 1];
        widest = std::max(widest, end - first);
        const auto* negated = graph.negated.data();
        has_negated_[m] = std::find(negated + first, negated + end, 1) != negated + end ? 1 : 0;
        if (graph.kinds[m] != FactorKind::structured || !fixed_.empty()) continue;
        fixed_.assign(n_links(), -1);
        active_sets_.resize(n_factors());
    }
    for (std::size_t k = 0; k < fixed_.size(); ++k) {
        const auto value = graph.fixed[static_cast<std::size_t>(graph.variables[k])];
        if (value >= 0) fixed_[k] = static_cast<std::int8_t>(value ^ graph.negated[k]);
    }
    scratch_.resize(static_cast<std::size_t>(widest));
    literals_.resize(static_cast<std::size_t>(widest));
}

double GraphFactors::maximize(std::size_t m, const double* shares, std::uint8_t* on) {
    const auto first = graph_.offsets[m], n = graph_.offsets[m + 1] - first;
    const double* scores = shares + first;
    on += first;
    // θ (1 − y) = θ − θ y for the literal y of a negated link.
    double constant = 0.0;
    const auto* negated = graph_.negated.data() + first;
    if (has_negated_[m] != 0) {
        for (std::int64_t i = 0; i < n; ++i) {
            scratch_[i] = negated[i] != 0 ? -scores[i] : scores[i];
            if (negated[i] != 0) constant += scores[i];
        }
        scores = scratch_.data();
    }
    const double best =
        graph_.kinds[m] == FactorKind::structured
            ? graph_.structures[m]->maximize(scores, fixed_.data() + first, on)
            : maximize_logic(graph_.kinds[m], n, scores, graph_.weights.data() + first, room(m), on,
                             workspace_);
    if (has_negated_[m] != 0) {
        for (std::int64_t i = 0; i < n; ++i) on[i] ^= negated[i];
    }
    return best + constant;
}

void GraphFactors::project(std::size_t m, double eta, double* point) {
    const auto first = graph_.offsets[m], n = graph_.offsets[m + 1] - first;
    const auto* negated = graph_.negated.data() + first;
    const auto flip = [&] {
        if (has_negated_[m] == 0) return;
        for (std::int64_t i = 0; i < n; ++i) point[i] = negated[i] != 0 ? 1.0 - point[i] : point[i];
    };
    flip();
    if (graph_.kinds[m] == FactorKind::structured) {
        std::copy_n(point, n, scratch_.data());
        active_sets_[m].solve(*graph_.structures[m], fixed_.data() + first, scratch_.data(), eta,
                              point);
    } else {
        project_logic(graph_.kinds[m], n, point, graph_.weights.data() + first, room(m),
                      workspace_);
    }
    flip();
}

void GraphFactors::project_some(std::size_t m, std::int64_t n, double* point) {
    project_logic(graph_.kinds[m], n, point, nullptr, {}, workspace_);
}

double GraphFactors::value(std::size_t m, const std::uint8_t* values) {
    const auto first = graph_.offsets[m], n = graph_.offsets[m + 1] - first;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto k = first + i;
        literals_[i] = values[graph_.variables[k]] ^ graph_.negated[k];
    }
    if (graph_.kinds[m] == FactorKind::structured) {
        return graph_.structures[m]->value(literals_.data());
    }
    const bool accepted =
        accepts_logic(graph_.kinds[m], n, literals_.data(), graph_.weights.data() + first, room(m));
    return accepted ? 0.0 : kNegativeInfinity;
}

double GraphFactors::score(const std::uint8_t* values) {
    double total = 0.0;
    for (std::size_t m = 0; m < n_factors(); ++m) {
        total += value(m, values);
        if (total == kNegativeInfinity) return total;
    }
    for (std::size_t j = 0; j < n_variables(); ++j) {
        if (values[j] != 0) total += graph_.scores[j];
    }
    return total;
}

}  // namespace trelliswork
