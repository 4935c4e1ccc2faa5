// The buffers of a thread that computes its share of an objective.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "learn/objective.hpp"

namespace trelliswork {

inline constexpr std::size_t kTrainingMemoryLimit = std::size_t{64} << 20;

// The state of one thread: an engine, buffers for a sequence, and its share of the gradient.
struct Objective::Worker {
    Worker(const Objective& objective, const Weights& weights)
        : engine(weights, kTrainingMemoryLimit), gradients(objective) {}

    Engine engine;
    std::vector<double> phi, masked;               // (T, D, L)
    std::vector<double> posterior, inner;          // (T, D, L)
    std::array<std::vector<double>, kKinds> rows;  // scores, then gradients, of the rows of a kind
    std::vector<double> positional;                // (T, P′)
    std::vector<double> edges, inner_edges;        // (T, P′): posteriors of patterns
    std::vector<double> lengths;                   // (D, L): expected segments, weighted
    Gradients gradients;
    double loss = 0.0;

    std::vector<double>& of(Kind kind) { return rows[static_cast<std::size_t>(kind)]; }

    void clear(const Objective& objective) {
        loss = 0.0;
        gradients.clear();
        lengths.assign(objective.length_scores_.size(), 0.0);
    }
};

}  // namespace trelliswork
