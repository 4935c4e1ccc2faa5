#include "graphs/reduction.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace trelliswork {

namespace {

class Reduction {
  public:
    Reduction(const Graph& graph, const std::vector<std::uint8_t>& implied,
              const std::vector<std::int8_t>& values)
        : graph_(graph), implied_(implied), values_(values), place_(values.size(), -1) {}

    Reduced run() {
        keep_variables();
        for (std::size_t m = 0; m < graph_.kinds.size(); ++m) {
            if (graph_.kinds[m] == FactorKind::structured) {
                reduce_structure(m);
            } else if (implied_[m] == 0) {
                reduce_logic(m);
            }
        }
        return std::move(reduced_);
    }

  private:
    bool is_on(std::int64_t k) const {
        const auto value = values_[static_cast<std::size_t>(graph_.variables[k])];
        return (value ^ graph_.negated[k]) == 1 && value >= 0;
    }
    bool is_free(std::int64_t k) const {
        return values_[static_cast<std::size_t>(graph_.variables[k])] < 0;
    }
    bool has_free(std::size_t m) const {
        auto k = graph_.offsets[m];
        while (k < graph_.offsets[m + 1] && !is_free(k)) ++k;
        return k < graph_.offsets[m + 1];
    }

    void add_constant(double term) {
        reduced_.constant += term;
        reduced_.magnitude += std::abs(term);
    }

    void keep_variables() {
        Graph& out = reduced_.graph;
        std::vector<std::uint8_t> linked(values_.size(), 0);  // fixed, by a structure that stays
        for (std::size_t m = 0; m < graph_.kinds.size(); ++m) {
            if (graph_.kinds[m] != FactorKind::structured || !has_free(m)) continue;
            for (auto k = graph_.offsets[m]; k < graph_.offsets[m + 1]; ++k) {
                linked[static_cast<std::size_t>(graph_.variables[k])] = 1;
            }
        }
        for (std::size_t j = 0; j < values_.size(); ++j) {
            const bool free = values_[j] < 0;
            if (values_[j] == 1) add_constant(graph_.scores[j]);
            if (!free && linked[j] == 0) continue;
            place_[j] = static_cast<std::int32_t>(reduced_.variable_of.size());
            reduced_.variable_of.push_back(static_cast<std::int32_t>(j));
            out.scores.push_back(free ? graph_.scores[j] : 0.0);
            out.fixed.push_back(values_[j]);
        }
        out.offsets.push_back(0);
    }

    void add_link(std::int64_t k, std::uint8_t negated) {
        Graph& out = reduced_.graph;
        out.variables.push_back(place_[static_cast<std::size_t>(graph_.variables[k])]);
        out.negated.push_back(negated);
        out.weights.push_back(graph_.weights[k]);
        reduced_.link_of.push_back(k);
    }

    void end_factor(std::size_t m, FactorKind kind, double limit) {
        Graph& out = reduced_.graph;
        out.kinds.push_back(kind);
        out.limits.push_back(limit);
        out.slacks.push_back(graph_.slacks[m]);
        out.structures.push_back(graph_.structures[m]);
        out.offsets.push_back(static_cast<std::int64_t>(out.variables.size()));
    }

    void reduce_structure(std::size_t m) {
        const auto first = graph_.offsets[m], end = graph_.offsets[m + 1];
        if (has_free(m)) {
            for (auto k = first; k < end; ++k) add_link(k, graph_.negated[k]);
            end_factor(m, FactorKind::structured, 0.0);
            return;
        }
        std::vector<std::uint8_t> on;
        for (auto k = first; k < end; ++k) on.push_back(is_on(k) ? 1 : 0);
        add_constant(graph_.structures[m]->value(on.data()));
    }

    void reduce_logic(std::size_t m) {
        const auto first = graph_.offsets[m], end = graph_.offsets[m + 1];
        FactorKind kind = graph_.kinds[m];
        double limit = graph_.limits[m], free_weight = 0.0;
        std::int64_t n_free = 0, n_inputs_on = 0;
        for (auto k = first; k < end; ++k) {
            const bool is_output = kind == FactorKind::or_out && k + 1 == end;
            if (is_free(k)) {
                ++n_free;
                free_weight += graph_.weights[k];
            } else if (is_on(k)) {
                n_inputs_on += is_output ? 0 : 1;
                limit -= graph_.weights[k];
            }
        }
        if (n_free == 0) return;
        const std::uint8_t output_flip = kind == FactorKind::xor_out ? 1 : 0;
        switch (kind) {
            case FactorKind::xor_one:
            case FactorKind::xor_out:
                kind = FactorKind::xor_one;
                break;
            case FactorKind::at_most_one:
                if (n_free == 1) return;
                break;
            case FactorKind::or_any:
                if (n_inputs_on > 0) return;
                break;
            case FactorKind::or_out:
                if (n_inputs_on > 0) return;  // the output is on: inputs are free
                if (!is_free(end - 1)) kind = FactorKind::or_any;
                break;
            case FactorKind::budget:
            case FactorKind::knapsack:
                if (free_weight <= limit + graph_.slacks[m]) return;
                if (kind == FactorKind::budget && limit + graph_.slacks[m] < 2.0)
                    kind = FactorKind::at_most_one;
                break;
            case FactorKind::structured:
                break;
        }
        for (auto k = first; k < end; ++k) {
            const bool flip = output_flip != 0 && k + 1 == end;
            if (is_free(k)) add_link(k, graph_.negated[k] ^ (flip ? 1 : 0));
        }
        end_factor(m, kind, limit);
    }

    const Graph& graph_;
    const std::vector<std::uint8_t>& implied_;
    const std::vector<std::int8_t>& values_;
    std::vector<std::int32_t> place_;  // (N,) of a variable in the reduced graph, −1: gone
    Reduced reduced_;
};

}  // namespace

std::vector<std::uint8_t> find_implied(const Graph& graph, const Incidence& incidence) {
    std::vector<std::uint8_t> implied(graph.kinds.size(), 0);
    std::vector<std::int64_t> n_shared(graph.kinds.size(), 0);
    std::vector<std::size_t> seen;
    for (std::size_t m = 0; m < graph.kinds.size(); ++m) {
        if (graph.kinds[m] != FactorKind::at_most_one) continue;
        const auto first = graph.offsets[m], end = graph.offsets[m + 1];
        for (auto k = first; k < end; ++k) {
            const auto j = graph.variables[k];
            for (auto i = incidence.offsets[j]; i < incidence.offsets[j + 1]; ++i) {
                const auto other = incidence.links[i];
                const auto f = static_cast<std::size_t>(incidence.factors[other]);
                if (graph.negated[other] != graph.negated[k]) continue;
                if (n_shared[f]++ == 0) seen.push_back(f);
            }
        }
        for (const auto f : seen) {
            const bool holds = graph.kinds[f] == FactorKind::xor_one ||
                               (graph.kinds[f] == FactorKind::at_most_one && implied[f] == 0);
            if (f != m && holds && n_shared[f] == end - first) implied[m] = 1;
            n_shared[f] = 0;
        }
        seen.clear();
    }
    return implied;
}

Reduced reduce(const Graph& graph, const std::vector<std::uint8_t>& implied,
               const std::vector<std::int8_t>& values) {
    return Reduction(graph, implied, values).run();
}

}  // namespace trelliswork
