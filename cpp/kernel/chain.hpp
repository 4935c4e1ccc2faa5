// The dense, vectorised path: α rows of a complete first-order automaton.
//
// The same recursion and the same scaling as chart.hpp, with one state a label, for S = Real and
// S = Max; readers see the same states as on the sparse path (0 = empty, 1 + y = after label y).
#pragma once

#include <cstdint>
#include <vector>

#include "automata/automaton.hpp"
#include "kernel/chain_weights.hpp"
#include "kernel/rows.hpp"
#include "kernel/scores.hpp"
#include "simd/chain_kernels.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

// Long members are compiled once, in chain.cpp, for Real and Max.
template <class S>
class Chain {
  public:
    using Semiring = S;

    Chain(const Automaton& automaton, const ChainWeights<S>& weights, std::size_t memory_limit)
        : automaton_(automaton),
          weights_(weights),
          memory_limit_(memory_limit),
          n_labels_(automaton.n_labels),
          stride_(padded(n_labels_)) {}

    // False when S is Real and a path or digits may have been lost, as in chart.hpp.
    bool forward(const SequenceScores& scores);

    double log_total() const { return log_total_; }
    double log_total_rest() const { return 0.0; }  // as in log_chart.hpp

    void seek(std::int64_t t) {
        rows_.seek(t, [this] { fill_block(); });
    }

    double alpha(std::int64_t t, std::int64_t state) const {
        if (t == 0 || state == 0) return t == 0 && state == 0 ? S::one : S::zero;
        return rows_[t][state - 1];
    }

    double emission(std::int64_t t, int, std::int64_t label) const {
        if constexpr (S::scaled) return emission_row(t)[label];
        return scores_.phi[(t - 1) * n_labels_ + label];
    }

    // (A,): weights of the arcs into token u, in S and in the scale of the rows.
    const std::vector<double>& arc_weights(std::int64_t u) {
        if (scores_.positional == nullptr) return weights_.of_class(class_of(u)).arcs.weight;
        return own_arc_weights(u);
    }
    double final_weight(std::int64_t) const { return S::one; }
    double end_value(std::int64_t state) const { return alpha(length(), state); }
    const Automaton& automaton() const { return automaton_; }
    std::int64_t length() const { return scores_.length; }
    int n_durations() const { return 1; }

    // labels (T, L) is written, pattern_counts (P,) added to; where not null, position_counts (T,
    // P) is written, the posterior of each pattern at each token, and *entropy is set.
    void posteriors(double* labels, double* pattern_counts, double* position_counts,
                    double* entropy);

  private:
    const std::vector<double>& own_arc_weights(std::int64_t u);
    int class_of(std::int64_t u) const { return weights_.more.empty() ? 0 : scores_.classes[u]; }
    // How many tokens from u on, up to `end`, weigh alike.
    std::int64_t run_of_class(std::int64_t u, std::int64_t end) const {
        auto last = end;
        if (!weights_.more.empty()) {
            for (last = u + 1; last < end && scores_.classes[last] == scores_.classes[u];) ++last;
        }
        return last - u;
    }
    const double* positional_row(std::int64_t u) const {
        return scores_.positional + u * automaton_.n_patterns;
    }
    double log_weight(std::int64_t u, int p, int y) const {
        const auto pattern = p * n_labels_ + y;
        const double constant = weights_.patterns == nullptr ? 0.0 : weights_.patterns[pattern];
        return scores_.positional == nullptr ? constant : constant + positional_row(u)[pattern];
    }

    // The transition weights into token u, (L, K), in S; *shift as in ChainWeights.
    const double* matrix_at(std::int64_t u, double* shift);

    // Tokens first … end with constant weights; pairs are summed without the factor W.
    void walk_back(std::int64_t first, std::int64_t end, double* labels);

    // The same where weights depend on the token, or the counts of each token are wanted.
    void walk_back_one_by_one(std::int64_t first, std::int64_t end, double* labels,
                              double* pattern_counts, double* position_counts);

    // log Z − E[score], from terms relative to the scale of their rows, as in chart.hpp.
    double find_entropy(const double* labels) const;

    double* emission_row(std::int64_t t) {
        return emissions_.data() + (t - rows_.block_start() - 1) * stride_;
    }
    const double* emission_row(std::int64_t t) const {
        return emissions_.data() + (t - rows_.block_start() - 1) * stride_;
    }

    bool fill_block();

    // As in chart.hpp: true when every value of row t below the safe range is a true zero.
    bool small_values_are_structural(std::int64_t t) const;

    bool finish_total();

    const Automaton& automaton_;
    const ChainWeights<S>& weights_;
    std::size_t memory_limit_;
    int n_labels_;  // L
    int stride_;    // K
    SequenceScores scores_;
    Rows rows_;                        // (T + 1, K): row t follows token t − 1
    AlignedDoubles emissions_;         // (block, K); overwritten by the backward pass
    std::vector<double> best_;         // (T,)
    std::vector<double> rescale_;      // (T,)
    std::vector<double> shift_;        // (T,): of the transition weights into each token
    AlignedDoubles beta_;              // (K,)
    AlignedDoubles pair_counts_;       // (L, K)
    AlignedDoubles local_;             // (L, K): weights into one token, where they depend on it
    std::vector<double> local_pairs_;  // (P,)
    ArcWeights<S> local_arcs_;         // the same as arcs, for readers of paths
    double expected_pairs_ = 0.0;      // expected weight of the transitions, in the rows' scale
    double total_ = S::zero;
    double log_total_ = kNegativeInfinity;
};

}  // namespace trelliswork
