// Weights of single tokens as factors of the nodes of a forest; see automata/forest.hpp.
//
//   sum[n] at token u = factor[n, u] ⊗ (⊕ over rows r of the table of n  w[r, n] ⊗ pooled[u, r])
//
// so that the tables, whose weights are the same at every token, are loaded once a pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "kernel/chart.hpp"

namespace trelliswork {

// Nodes that fire the same patterns with weights of single tokens share a factor: with features on
// transitions there are as many factors as transitions, however many nodes.
template <class S>
void Chart<S>::plan_factors() {
    if (n_planned_ == scores_.n_positional) return;
    n_planned_ = scores_.n_positional;
    std::map<std::vector<std::int32_t>, std::int32_t> known;
    factor_of_.clear();
    factor_offsets_.assign(1, 0);
    factor_patterns_.clear();
    for (const auto& node : automaton_.forest.nodes) {
        std::vector<std::int32_t> fired;
        for_positional(node.arc, [&](std::int32_t pattern) { fired.push_back(pattern); });
        const auto [place, is_new] =
            known.try_emplace(fired, static_cast<std::int32_t>(known.size()));
        factor_of_.push_back(place->second);
        if (!is_new) continue;
        factor_patterns_.insert(factor_patterns_.end(), fired.begin(), fired.end());
        factor_offsets_.push_back(std::ssize(factor_patterns_));
    }
}

// factors[i] = the weights of the token at u for node i, relative to the largest where S is
// scaled; returns the latter.
template <class S>
double Chart<S>::compute_factors(std::int64_t u) {
    const double* positional = positional_row(u);
    const auto n = factor_offsets_.size() - 1;
    logs_.resize(n);
    for (std::size_t f = 0; f < n; ++f) {
        double total = 0.0;
        for (auto k = factor_offsets_[f]; k < factor_offsets_[f + 1]; ++k) {
            total += positional[factor_patterns_[k]];
        }
        logs_[f] = total;
    }
    double largest = 0.0;
    const double* values = logs_.data();
    if constexpr (S::scaled) {
        by_factor_.resize(static_cast<std::size_t>(padded(static_cast<int>(n))));
        chain_kernels().exponentiate(1, static_cast<int>(n), logs_.data(), by_factor_.data(),
                                     &largest);
        values = by_factor_.data();
    }
    factors_.resize(factor_of_.size());
    for (std::size_t i = 0; i < factors_.size(); ++i) factors_[i] = values[factor_of_[i]];
    return largest;
}

// Whether the weights of single tokens are factors of nodes, and no product of a factor and a
// constant weight can vanish that their sum as logarithms would not let vanish.
template <class S>
bool Chart<S>::factors_will_do() const {
    if (automaton_.forest.empty() || scores_.positional == nullptr ||
        scores_.n_positional > automaton_.forest.first_varying) {
        return false;
    }
    constexpr double kMostRange = 300.0;
    if (!S::scaled) return true;
    if (constant_.range > kMostRange) return false;
    if (positional_forbids_) return false;
    const auto n_weights = scores_.length * scores_.n_positional;
    if (n_weights == 0) return true;
    const auto [least, largest] =
        std::minmax_element(scores_.positional, scores_.positional + n_weights);
    return (std::max(*largest, 0.0) - std::min(*least, 0.0)) * automaton_.most_fired <= kMostRange;
}

// Counts of the patterns that have weights of the token at u: those of the nodes that fire them.
template <class S>
void Chart<S>::count_factors(std::int64_t u, const PosteriorSink& sink) {
    const auto& nodes = automaton_.forest.nodes;
    compute_factors(u);
    block_kernels().sum_forward(automaton_.blocks.view(), packed_at(u).packed.data(), rows_[u],
                                by_node_.data());
    factor_sums_.assign(factor_offsets_.size() - 1, 0.0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        factor_sums_[factor_of_[i]] += by_node_[nodes[i].sum] * factors_[i] * ahead_[nodes[i].port];
    }
    double* row = sink.position_counts + u * scores_.n_positional;
    for (std::size_t f = 0; f < factor_sums_.size(); ++f) {
        for (auto k = factor_offsets_[f]; k < factor_offsets_[f + 1]; ++k) {
            row[factor_patterns_[k]] += factor_sums_[f];
        }
    }
}

}  // namespace trelliswork
