// The transition weights of a complete first-order automaton, as the dense path reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "automata/automaton.hpp"
#include "base/aligned.hpp"
#include "kernel/scores.hpp"
#include "simd/chain_kernels.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

// Makes the weights of all arcs but the start arcs relative to their own largest, and returns that:
// a start arc weighs nothing in a chain, and would otherwise set the scale. Readers of paths then
// see the weights that the rows were made with.
template <class S>
double scale_apart_from_start(const Automaton& automaton, ArcWeights<S>& arcs) {
    double shift = 0.0;
    if constexpr (S::scaled) {
        double largest = kNegativeInfinity;
        for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
            if (automaton.source[a] > 0) largest = std::max(largest, arcs.log_weight[a]);
        }
        if (largest > kNegativeInfinity) shift = largest;
    }
    for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
        arcs.weight[a] = automaton.source[a] > 0 ? S::from_log(arcs.log_weight[a] - shift) : S::one;
    }
    return shift;
}

// Transition weights as padded matrices, beside the arc weights that path readers use.
template <class S>
struct ChainWeights {
    ArcWeights<S> arcs;
    AlignedDoubles matrix;             // (L, K): W[p, y] in S, padding is zero of S
    AlignedDoubles transposed;         // (L, K): W[y, p]
    double shift = 0.0;                // W = exp(weight − shift) in Real
    const double* patterns = nullptr;  // (P,) = (L, L), or null
    std::vector<ChainWeights> more;    // of tokens of class 1, 2, …; empty: all weigh alike

    void load(const Automaton& automaton, const double* patterns_, ClassPatterns classes = {}) {
        load_class(automaton, patterns_, classes.of(0));
        more.resize(static_cast<std::size_t>(classes.n_classes) - 1);
        for (int c = 1; c < classes.n_classes; ++c) {
            more[c - 1].load_class(automaton, patterns_, classes.of(c));
        }
    }

    const ChainWeights& of_class(int token_class) const {
        return token_class == 0 ? *this : more[token_class - 1];
    }

    // Another weight of one arc that does not leave the start; in Max.
    void set(const Automaton& automaton, std::int64_t arc, double value) {
        set_class(automaton, arc, value);
        for (auto& other : more) other.set_class(automaton, arc, value);
    }

  private:
    void load_class(const Automaton& automaton, const double* patterns_, const double* added) {
        patterns = patterns_;
        added_ = added;
        if (added != nullptr) {
            sums_.assign(added, added + automaton.n_patterns);
            for (std::size_t z = 0; z < sums_.size() && patterns_ != nullptr; ++z) {
                sums_[z] += patterns_[z];
            }
            patterns = sums_.data();
        }
        arcs.load(automaton, patterns, nullptr, 0, 0);
        shift = scale_apart_from_start(automaton, arcs);
        const int n_labels = automaton.n_labels;
        const int stride = padded(n_labels);
        matrix.assign(static_cast<std::size_t>(n_labels) * stride, S::zero);
        transposed = matrix;
        for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
            const int p = automaton.source[a] - 1;
            const int y = automaton.label[a];
            if (p < 0) continue;
            matrix[p * stride + y] = arcs.weight[a];
            transposed[y * stride + p] = arcs.weight[a];
        }
    }

    void set_class(const Automaton& automaton, std::int64_t arc, double value) {
        if (added_ != nullptr) {
            value += added_[automaton.pattern_ids[automaton.pattern_offsets[arc]]];
        }
        arcs.set(automaton, arc, value);
        const int stride = padded(automaton.n_labels);
        const int p = automaton.source[arc] - 1;
        const int y = automaton.label[arc];
        matrix[p * stride + y] = value;
        transposed[y * stride + p] = value;
    }

    const double* added_ = nullptr;  // (P,) by the class, or null
    std::vector<double> sums_;       // (P,) patterns with these
};

}  // namespace trelliswork
