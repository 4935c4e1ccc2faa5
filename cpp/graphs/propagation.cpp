#include "graphs/propagation.hpp"

namespace trelliswork {

Incidence::Incidence(const Graph& graph)
    : offsets(graph.scores.size() + 1, 0),
      links(graph.variables.size()),
      factors(graph.variables.size()) {
    for (const auto variable : graph.variables) ++offsets[static_cast<std::size_t>(variable) + 1];
    for (std::size_t j = 1; j < offsets.size(); ++j) offsets[j] += offsets[j - 1];
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t m = 0; m < graph.kinds.size(); ++m) {
        for (auto k = graph.offsets[m]; k < graph.offsets[m + 1]; ++k) {
            links[next[graph.variables[k]]++] = k;
            factors[k] = static_cast<std::int32_t>(m);
        }
    }
}

Propagator::Propagator(const Graph& graph)
    : graph_(graph),
      incidence_(graph),
      flipped_(graph.negated),
      values_(graph.scores.size(), -1),
      n_on_(graph.kinds.size(), 0),
      n_free_(graph.kinds.size(), 0),
      used_(graph.kinds.size(), 0.0) {
    for (std::size_t m = 0; m < graph.kinds.size(); ++m) {
        const auto first = graph.offsets[m], end = graph.offsets[m + 1];
        n_free_[m] = end - first - (graph.kinds[m] == FactorKind::or_out ? 1 : 0);
        // Σ_i z_i = o is Σ_i z_i + (1 − o) = 1.
        if (graph.kinds[m] == FactorKind::xor_out) flipped_[end - 1] ^= 1;
    }
}

bool Propagator::start() {
    for (std::size_t j = 0; j < values_.size(); ++j) {
        if (graph_.fixed[j] < 0) continue;
        values_[j] = graph_.fixed[j];
        trail_.push_back(static_cast<std::int32_t>(j));
    }
    if (!propagate()) return false;
    for (std::size_t m = 0; m < graph_.kinds.size(); ++m) {
        if (!examine(static_cast<std::int32_t>(m), true)) return false;
    }
    return propagate();
}

bool Propagator::assign(std::int32_t variable, bool value) {
    auto& current = values_[static_cast<std::size_t>(variable)];
    if (current >= 0) return (current != 0) == value;
    current = value ? 1 : 0;
    trail_.push_back(variable);
    return propagate();
}

void Propagator::undo(std::size_t mark) {
    while (trail_.size() > mark) {
        const auto variable = trail_.back();
        if (trail_.size() <= n_counted_) {
            count(variable, -1);
            --n_counted_;
        }
        values_[static_cast<std::size_t>(variable)] = -1;
        trail_.pop_back();
    }
}

std::int8_t Propagator::literal(std::int64_t link) const {
    const auto value = values_[static_cast<std::size_t>(graph_.variables[link])];
    return value < 0 ? value : static_cast<std::int8_t>(value ^ flipped_[link]);
}

void Propagator::set(std::int64_t link, bool literal) {
    const auto variable = graph_.variables[link];
    values_[static_cast<std::size_t>(variable)] =
        static_cast<std::int8_t>((literal ? 1 : 0) ^ flipped_[link]);
    trail_.push_back(variable);
}

void Propagator::set_free(std::int32_t factor, bool literal_value) {
    const auto end =
        graph_.offsets[factor + 1] - (graph_.kinds[factor] == FactorKind::or_out ? 1 : 0);
    for (auto k = graph_.offsets[factor]; k < end; ++k) {
        if (literal(k) < 0) set(k, literal_value);
    }
}

void Propagator::count(std::int32_t variable, int direction) {
    for (auto i = incidence_.offsets[variable]; i < incidence_.offsets[variable + 1]; ++i) {
        const auto k = incidence_.links[i];
        const auto m = incidence_.factors[k];
        if (graph_.kinds[m] == FactorKind::or_out && k + 1 == graph_.offsets[m + 1]) continue;
        n_free_[m] -= direction;
        if (literal(k) == 0) continue;
        n_on_[m] += direction;
        used_[m] += direction * graph_.weights[k];
    }
}

bool Propagator::propagate() {
    while (n_counted_ < trail_.size()) {
        const auto variable = trail_[n_counted_++];
        count(variable, 1);
        for (auto i = incidence_.offsets[variable]; i < incidence_.offsets[variable + 1]; ++i) {
            const auto k = incidence_.links[i];
            if (!examine(incidence_.factors[k], literal(k) == 1)) return false;
        }
    }
    return true;
}

// Literals that were set but not yet counted are still free here: they are examined in their turn.
// `turned_on`: the last literal that was counted is on. If it is off, the consequences of a full
// factor were set before.
bool Propagator::examine(std::int32_t m, bool turned_on) {
    const auto n_on = n_on_[m], n_free = n_free_[m];
    switch (graph_.kinds[m]) {
        case FactorKind::xor_one:
        case FactorKind::xor_out:
            if (n_on > 1 || n_on + n_free == 0) return false;
            if (n_on == 0 && n_free == 1) set_free(m, true);
            if (n_on == 1 && turned_on) set_free(m, false);
            return true;
        case FactorKind::at_most_one:
            if (n_on == 1 && turned_on) set_free(m, false);
            return n_on <= 1;
        case FactorKind::or_any:
            if (n_on == 0 && n_free == 1) set_free(m, true);
            return n_on + n_free > 0;
        case FactorKind::or_out:
            return examine_or_out(m);
        case FactorKind::budget: {
            const double limit = graph_.limits[m] + graph_.slacks[m];
            if (turned_on && static_cast<double>(n_on + 1) > limit) set_free(m, false);
            return static_cast<double>(n_on) <= limit;
        }
        case FactorKind::knapsack:
            return !turned_on || examine_knapsack(m);
        case FactorKind::structured:
            return true;
    }
    return true;
}

bool Propagator::examine_or_out(std::int32_t m) {
    const auto n_on = n_on_[m], n_free = n_free_[m];
    const auto last = graph_.offsets[m + 1] - 1;
    if (n_on > 0 || n_free == 0) {
        if (literal(last) < 0) set(last, n_on > 0);
        if ((literal(last) != 0) != (n_on > 0)) return false;
    }
    if (literal(last) == 0) set_free(m, false);
    if (literal(last) == 1 && n_on == 0 && n_free == 1) set_free(m, true);
    return true;
}

bool Propagator::examine_knapsack(std::int32_t m) {
    const double limit = graph_.limits[m] + graph_.slacks[m];
    for (auto k = graph_.offsets[m]; n_free_[m] > 0 && k < graph_.offsets[m + 1]; ++k) {
        if (literal(k) < 0 && used_[m] + graph_.weights[k] > limit) set(k, false);
    }
    return used_[m] <= limit;
}

}  // namespace trelliswork
