// What the kernel reads: the scores of one sequence, and the weights of the arcs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "automaton.hpp"
#include "semiring.hpp"

namespace trelliswork {

// The scores of one sequence of T tokens; segments last 1 … D tokens.
struct SequenceScores {
    std::int64_t length = 0;                // T
    int n_durations = 1;                    // D
    const double* phi = nullptr;            // (T, D, L): label y on the d + 1 tokens that end at t
    const double* positional = nullptr;     // (T, P′) or null: pattern weights where segments begin
    int n_positional = 0;                   // P′: of the first patterns
    const std::uint8_t* classes = nullptr;  // (T,) or null: all 0; see Automaton::guards
};

// Arc weights in semiring S, relative to the largest where S is scaled: w[a] = exp(log w[a] −
// shift) in Real, log w[a] − shift in Log and Max, with log w[a] the sum of the weights of the
// patterns that arc a fires, −inf where its guard is closed.
template <class S>
struct ArcWeights {
    std::vector<double> log_weight;  // (A,)
    std::vector<double> weight;      // (A,)
    AlignedDoubles packed;           // (slots,) `weight` in the tables of Blocks; not in Log
    AlignedDoubles transposed;       // the tables transposed; only in Real
    double shift = 0.0;

    // constant (P,) or null, positional (n_positional,) or null: both are added.
    void load(const Automaton& automaton, const double* constant, const double* positional,
              int n_positional, int token_class) {
        const auto n_arcs = static_cast<std::size_t>(automaton.n_arcs());
        log_weight.assign(n_arcs, 0.0);
        for (std::size_t arc = 0; arc < n_arcs; ++arc) {
            double total = 0.0;
            for (auto k = automaton.pattern_offsets[arc]; k < automaton.pattern_offsets[arc + 1];
                 ++k) {
                const auto pattern = automaton.pattern_ids[k];
                if (constant != nullptr) total += constant[pattern];
                if (positional != nullptr && pattern < n_positional) total += positional[pattern];
            }
            log_weight[arc] = total;
        }
        if (!automaton.guards.empty()) {
            for (std::size_t arc = 0; arc < n_arcs; ++arc) {
                if (!automaton.is_open(arc, token_class)) log_weight[arc] = kNegativeInfinity;
            }
        }
        weight = log_weight;
        shift = 0.0;
        if constexpr (S::scaled) {
            const auto largest = std::max_element(log_weight.begin(), log_weight.end());
            if (largest != log_weight.end() && *largest > kNegativeInfinity) shift = *largest;
        }
        if constexpr (S::packs) {
            // Arcs that share a slot share their weight: there are fewer slots to exponentiate.
            const auto& blocks = automaton.blocks;
            packed.assign(static_cast<std::size_t>(blocks.n_slots), S::zero);
            for (std::size_t i = 0; i < packed.size(); ++i) {
                const auto arc = blocks.slot_arc[i];
                if (arc >= 0) packed[i] = S::from_log(log_weight[arc] - shift);
            }
            for (std::size_t arc = 0; arc < n_arcs; ++arc) weight[arc] = packed[blocks.slot[arc]];
        } else {
            for (double& w : weight) w = S::from_log(w - shift);
        }
        if constexpr (S::packs && S::scaled) {
            transposed.assign(static_cast<std::size_t>(automaton.blocks.n_transposed), S::zero);
            for (std::size_t arc = 0; arc < n_arcs; ++arc) {
                const auto place = automaton.blocks.transpose[arc];
                if (place >= 0) transposed[place] = weight[arc];
            }
        }
    }
};

// The constant arc weights of every token class.
template <class S>
struct ClassWeights {
    std::vector<ArcWeights<S>> of_class;

    void load(const Automaton& automaton, const double* patterns) {
        of_class.resize(static_cast<std::size_t>(automaton.n_classes));
        for (int c = 0; c < automaton.n_classes; ++c) {
            of_class[c].load(automaton, patterns, nullptr, 0, c);
        }
    }
};

}  // namespace trelliswork
