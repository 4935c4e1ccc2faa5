// The negative log-likelihood of a chain model on a training set, and its gradient.
//
//   loss(w) = Σ_b weight_b · (log Z_b − log Z_b over the labellings that the gold labels allow)
//
// Both sums run over the labellings that the automaton accepts: all of them, or the language of the
// constraints, whose product with the chain it then is. The gold labels must be among them.
//
// For a fully labelled sequence the second term is the score of the gold labelling, which is linear
// in w: its counts are summed once, when the objective is made.
// Parameters, in this order: pairs (feature, label), transitions, pairs (edge feature, transition).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "automaton.hpp"
#include "engine.hpp"
#include "feature_weights.hpp"

namespace trelliswork {

struct TrainingData {
    std::vector<std::int64_t> offsets;  // (B + 1,)
    std::vector<std::int32_t> gold;     // (N,), −1 where the token is not fully labelled
    std::vector<std::uint8_t> allowed;  // (N, L), or empty: every token is fully labelled
    std::vector<double> weights;        // (B,), or empty: all ones
    std::vector<std::uint8_t> classes;  // (N,), or empty: all 0; see Automaton::guards
    std::vector<std::uint8_t> open;     // (N, L), or empty: labels that the constraints leave
};

class Objective {
  public:
    // The patterns of the automaton are the L × L transitions; `transitions`: those of them that
    // have a weight of their own.
    // `edge` may be null: no features on transitions.
    Objective(Automaton automaton, TrainingData data, FeatureLayout state,
              const TokenFeatures& rows, std::vector<std::int32_t> transitions,
              std::unique_ptr<FeatureLayout> edge, const TokenFeatures& edge_rows);
    ~Objective();

    std::int64_t n_parameters() const;
    std::int64_t n_sequences() const { return static_cast<std::int64_t>(data_.offsets.size()) - 1; }

    // loss over sequences first … last plus l2 · ‖parameters‖², gradient (n_parameters,)
    // overwritten. Sums over disjoint ranges add up (with l2 counted once). Deterministic for a
    // given number of workers. Not for two callers at once.
    double value_and_grad(const double* parameters, double* gradient, double l2, std::int64_t first,
                          std::int64_t last, int n_workers);

    // Weighted counts of every parameter in the fully labelled sequences, (n_parameters,).
    const std::vector<double>& gold_counts() const { return gold_counts_; }

  private:
    struct Worker;

    void add_gold_counts(std::int64_t first, std::int64_t last, double* counts) const;
    void load_parameters(const double* parameters);
    void forbid(const std::vector<std::uint8_t>& mask, std::int64_t first,
                std::vector<double>& scores) const;
    void add_sequence(std::int64_t sequence, Worker& worker) const;

    Automaton automaton_;
    TrainingData data_;
    FeatureLayout state_;
    std::unique_ptr<FeatureLayout> edge_;
    std::vector<std::int32_t> transitions_;  // (Kt,) pattern of each transition weight
    SplitFeatures state_features_;
    SplitFeatures edge_features_;
    std::vector<std::uint8_t> partial_;  // (B,)
    // Gold counts of all sequences, in parameter order, for the usual call over the whole set.
    std::vector<double> gold_counts_;
    std::vector<double> state_slots_;  // weights in the layout of `state_`
    std::vector<double> edge_slots_;
    std::vector<double> patterns_;  // (P,)
    std::unique_ptr<Weights> weights_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace trelliswork
