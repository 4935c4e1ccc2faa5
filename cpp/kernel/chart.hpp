// The kernel: one recursion over arcs and durations, for any semiring.
//
//   enter[u, g] = ⊕ over arcs a of step g   α[u, source(a)] ⊗ w[a]
//   α[t, s]     = ⊕ over steps g into s, d  enter[t−d, g] ⊗ φ[t−1, d, label(g)]
//
// t counts tokens already read: row 0 is the start, row T the end, and a segment of d tokens leads
// from row t − d to row t. Cost: arcs + steps × durations, a token.
//
// Scaling (S = Real). Row t holds α[t, ·] / exp(C_t). Emissions are taken relative to the row's
// best, and C_t grows by the difference, kept a step at a time in `growth`. A row whose maximum
// drifts out of 2^±64 is multiplied by a power of two, which is exact. Two things could go wrong.
// Sums lose a path where a state that some path reaches comes out as zero or near the bottom of the
// range; `forward` looks for exactly that, at the cost of one comparison a state. And scores so
// large that their sum has lost digits: it looks for these too, see `is_exact`. In both cases it
// returns false, and the caller takes log_chart.hpp. The backward pass uses
// β̃[t, s] = β[t, s] · exp(C_t) / Z, so that Σ_s α[t, s] β̃[t, s] = 1 at every t: a β̃ that
// underflows belongs to a state with a posterior below 2^-850, and one that could overflow to a
// state with α = 0, where it is not wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "automata/automaton.hpp"
#include "base/aligned.hpp"
#include "kernel/arc_counter.hpp"
#include "kernel/posterior_sink.hpp"
#include "kernel/rows.hpp"
#include "kernel/scores.hpp"
#include "simd/block_kernels.hpp"
#include "simd/chain_kernels.hpp"
#include "simd/segment_kernels.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

// Long members are in forward.hpp, posteriors.hpp and node_weights.hpp, and compiled once, in
// chart.cpp, for Real and Max.
template <class S>
class Chart {
  public:
    using Semiring = S;

    Chart(const Automaton& automaton, const ClassWeights<S>& constant_weights,
          const double* constant_patterns, std::size_t memory_limit)
        : automaton_(automaton),
          constant_(constant_weights),
          constant_patterns_(constant_patterns),
          memory_limit_(memory_limit) {}

    // Computes every α; false when S is Real and a path or digits may have been lost.
    bool forward(const SequenceScores& scores);

    // log ⊕ over all paths, −inf where there is none.
    double log_total() const { return log_total_; }
    double log_total_rest() const { return 0.0; }  // as in log_chart.hpp

    // Makes rows t − D … t readable. Callers walk backwards: each block is computed once more.
    void seek(std::int64_t t) {
        rows_.seek(t, [this] { fill_block(); });
    }

    double alpha(std::int64_t t, std::int64_t state) const { return rows_[t][state]; }

    // φ of the segment of d tokens that ends in row t, in S and in the scale of row t.
    double emission(std::int64_t t, int d, std::int64_t label) const {
        if constexpr (S::scaled) return emission_row(t)[(d - 1) * n_labels() + label];
        return phi_row(t)[(d - 1) * n_labels() + label];
    }

    // The weight of an arc into a segment that begins at token u, as its logarithm.
    double log_weight(std::int64_t u, std::int64_t arc) const {
        double total = constant_.of_class[class_at(u)].log_weight[arc];
        if (scores_.positional != nullptr) {
            const double* positional = positional_row(u);
            for_positional(arc, [&](std::int32_t pattern) { total += positional[pattern]; });
        }
        return total;
    }

    // The same in S and in the scale of the rows, as arc_weights(u)[arc]: readers of paths look at
    // few arcs of a token.
    struct ArcReader {
        const Chart& chart;
        std::int64_t u;

        double operator[](std::int64_t arc) const {
            if (chart.scores_.positional == nullptr) {
                return chart.constant_.of_class[chart.class_at(u)].weight[arc];
            }
            return S::from_log(chart.log_weight(u, arc) - chart.shift_[u]);
        }
    };
    ArcReader arc_weights(std::int64_t u) const { return {*this, u}; }

    // Arc weights for segments that begin at token u.
    const ArcWeights<S>& weights_at(std::int64_t u) {
        if (scores_.positional == nullptr) return constant_.of_class[class_at(u)];
        local_.load(automaton_, constant_patterns_, positional_row(u), scores_.n_positional,
                    class_at(u));
        if (by_factors_) local_.rebase(shift_[u]);
        return local_;
    }

    // The same for the vector loops: without single arcs, and without `factors`, where that saves
    // work.
    const ArcWeights<S>& packed_at(std::int64_t u) {
        if (by_factors_ || scores_.positional == nullptr) {
            return constant_.of_class[class_at(u)];
        }
        packed_.load_packed(automaton_, constant_patterns_, positional_row(u), scores_.n_positional,
                            class_at(u));
        return packed_;
    }

    // ⊗ of the final weight; the factor exp(−max final) cancels in every ratio.
    double final_weight(std::int64_t state) const {
        return S::from_log(automaton_.final[state] - final_shift());
    }

    // ⊕ of the paths that end in a state.
    double end_value(std::int64_t state) const {
        return S::times(alpha(length(), state), final_weight(state));
    }

    const Automaton& automaton() const { return automaton_; }
    std::int64_t length() const { return scores_.length; }
    int n_durations() const { return scores_.n_durations; }

    void posteriors(const PosteriorSink& sink);  // Real

  private:
    // The parts of `posteriors`, in posteriors.hpp.
    void leave_states(std::int64_t t, const PosteriorSink& sink);
    void leave_segments(std::int64_t t, const PosteriorSink& sink);
    void leave_ports(std::int64_t t, const PosteriorSink& sink);
    void pass_packed(std::int64_t u, const PosteriorSink& sink);
    void pass_arcs(std::int64_t u, const PosteriorSink& sink);
    void add_fired(std::int64_t a, double p, double* counts, std::int64_t u) const;
    // Adds p · x to the expected score, where x may be −inf if p is 0.
    void expect(double p, double x) {
        if (p > 0.0) expected_ += p * x;
    }

    std::int64_t n_states() const { return automaton_.n_states; }
    std::int64_t n_labels() const { return automaton_.n_labels; }
    std::int64_t emission_width() const { return padded(n_durations() * automaton_.n_labels); }
    double* emission_row(std::int64_t t) {
        return emissions_.data() + (t - rows_.block_start() - 1) * emission_width();
    }
    const double* emission_row(std::int64_t t) const {
        return emissions_.data() + (t - rows_.block_start() - 1) * emission_width();
    }
    const double* phi_row(std::int64_t t) const {
        return scores_.phi + (t - 1) * n_durations() * n_labels();
    }
    double* enter_row(std::int64_t u) {
        return enter_.data() + (u % n_durations()) * enter_width();
    }
    // Ports and one more, which stays zero; padded.
    std::int64_t enter_width() const {
        const auto n_ports = by_label() ? automaton_.forest.n_ports : automaton_.n_ports;
        return (n_ports + kLanes) / kLanes * kLanes;
    }
    // Whether sums over arcs are kept by the ports of the forest, for the loops over durations.
    bool by_label() const { return n_durations() > 1; }
    int class_at(std::int64_t u) const {
        return scores_.classes == nullptr ? 0 : scores_.classes[u];
    }
    const double* positional_row(std::int64_t u) const {
        return scores_.positional + u * scores_.n_positional;
    }
    // α, and the pools if arcs are shared.
    std::int64_t row_width() const {
        return automaton_.forest.empty() ? n_states() : 2 * n_states();
    }
    double final_shift() const {
        return S::scaled && automaton_.best_final > kNegativeInfinity ? automaton_.best_final : 0.0;
    }

    // Weights of single tokens as factors of nodes, in node_weights.hpp.
    void plan_factors();
    double compute_factors(std::int64_t u);
    // Calls visit(pattern) for the patterns of an arc that have weights of single tokens.
    template <class Visit>
    void for_positional(std::int64_t arc, Visit&& visit) const {
        const auto end = automaton_.pattern_offsets[arc + 1];
        for (auto k = automaton_.pattern_offsets[arc]; k < end; ++k) {
            const auto pattern = automaton_.pattern_ids[k];
            if (pattern < scores_.n_positional) visit(pattern);
        }
    }
    bool factors_will_do() const;
    void count_factors(std::int64_t u, const PosteriorSink& sink);

    // The parts of `forward`, in forward.hpp.
    void allocate();
    bool begin();
    bool fill_block();
    double compute_enter(std::int64_t u);
    const double* const* enter_rows(std::int64_t t, std::int64_t longest);
    void compute_emissions(std::int64_t t);
    void compute_row(std::int64_t t);
    bool normalise_row(std::int64_t t);
    std::int64_t unreached(std::int64_t t) const;
    bool zeros_are_structural(std::int64_t t);
    bool finish_total();

    const Automaton& automaton_;
    const ClassWeights<S>& constant_;
    const double* constant_patterns_;  // (P,) or null
    std::size_t memory_limit_;
    SequenceScores scores_;
    ArcWeights<S> local_;                    // weights at one position, where they depend on it
    ArcWeights<S> packed_;                   // the same without single arcs
    Rows rows_;                              // (T + 1, S): α in the scale of its row
    AlignedDoubles emissions_;               // (block, D, L), scaled semirings only
    AlignedDoubles enter_;                   // (D, ports + 1), a ring over starts
    std::vector<const double*> enter_rows_;  // (D,)
    std::vector<std::int32_t> longest_;      // (L,)
    std::vector<double> sums_;               // (D, L)
    bool by_factors_ = false;                // weights of tokens are factors of nodes
    bool positional_forbids_ = false;        // some weight of a token is −inf
    int n_planned_ = -1;                     // columns of the weights that factors are planned for
    std::vector<std::int32_t> factor_of_;    // (nodes,)
    std::vector<std::int64_t> factor_offsets_;   // (factors + 1,) into factor_patterns_
    std::vector<std::int32_t> factor_patterns_;  // whose weights a factor is made of
    AlignedDoubles by_factor_;                   // (factors,)
    AlignedDoubles factors_;                     // (nodes,)
    std::vector<double> logs_;                   // (factors,)
    std::vector<double> factor_sums_;            // (factors,): their expected counts at one token
    AlignedDoubles sources_;                     // (2S,): see automata/forest.hpp
    AlignedDoubles by_node_;                     // (sums of the blocks,)
    AlignedDoubles by_port_;                     // (ports + 1,)
    AlignedDoubles pending_rows_;                // (D, ports), a ring over starts
    std::vector<double*> pending_into_;          // (D,)
    AlignedDoubles scratch_;                     // for the kernels
    AlignedDoubles beta_;                        // (S,)
    AlignedDoubles ahead_;                       // (ports,)
    std::vector<double> pending_;                // (D, ports), a ring over starts
    double expected_ = 0.0;             // E[score] − C_T, from terms that are each of moderate size
    std::int64_t oldest_ = 0;           // first start that `enter_` and `pending_` hold
    std::vector<ArcCounter> counters_;  // one a token class
    AlignedDoubles row_counts_;         // (slots,) of one token
    std::vector<double> growth_;        // (T + 1,): C_t − C_{t−1}, C_0 first
    std::vector<double> rescale_;       // (T + 1,): the factor of row t, in S
    std::vector<double> shift_;         // (T + 1,): shift of the arc weights at each start
    double total_ = S::zero;
    double log_total_ = kNegativeInfinity;
};

}  // namespace trelliswork
