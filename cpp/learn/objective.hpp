// The negative log-likelihood of a model on a training set, and its gradient.
//
//   loss(w) = Σ_b weight_b · (log Z_b − log Z_b over the labellings that the gold labels allow)
//
// Both sums run over the labellings that the automaton accepts: all of them, or the language of the
// constraints, whose product with the model it then is. The gold labels must be among them.
//
// For a fully labelled sequence the second term is the score of the gold labelling, which is linear
// in w: its counts are summed once, when the objective is made.
// Parameters, in this order: pairs (feature, label) of each kind of feature, weights of patterns,
// pairs (edge feature, pattern).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "automata/automaton.hpp"
#include "kernel/engine.hpp"
#include "learn/feature_weights.hpp"

namespace trelliswork {

struct TrainingData {
    std::vector<std::int64_t> offsets;        // (B + 1,)
    std::vector<std::int32_t> gold;           // (N,), −1 where the token is not fully labelled
    std::vector<std::uint8_t> begins;         // (N,), or empty: a segment begins at every token
    std::vector<std::int64_t> fired_offsets;  // (N + 1,) into fired
    std::vector<std::int32_t> fired;          // patterns that fire where gold segments begin
    std::vector<std::uint8_t> allowed;        // (N, n_masks, L), or empty: all are fully labelled
    std::vector<double> weights;              // (B,), or empty: all ones
    std::vector<std::uint8_t> classes;        // (N,), or empty: all 0; see Automaton::guards
    std::vector<std::uint8_t> open;           // (N, n_masks, L), or empty: allowed by constraints
    int n_masks = 1;                          // see forbid_segments
    int n_durations = 1;                      // D
    std::vector<std::int32_t> longest;        // (L,), or empty: all D
};

// Features of one kind, with their weights.
struct FeaturePart {
    FeatureLayout layout;
    SplitFeatures rows;
    std::vector<double> slots;  // weights in the layout

    FeaturePart(FeatureLayout given, const TokenFeatures& features, std::int64_t n_rows)
        : layout(std::move(given)), slots(static_cast<std::size_t>(layout.n_slots()), 0.0) {
        layout.split(features, 0, n_rows, rows);
    }
    std::int64_t n_rows() const { return static_cast<std::int64_t>(rows.dense_offsets.size()) - 1; }
    void score(std::int64_t first, std::int64_t last, std::vector<double>& out) const {
        out.resize(static_cast<std::size_t>((last - first) * layout.n_outputs()));
        layout.score(rows, first, last, slots.data(), out.data());
    }
};

// The rows of each kind: tokens, whose scores are summed over a segment; tokens that a
// segment begins or ends with; segments, sorted by their last token; durations.
enum class Kind { token, begin, end, segment, length };
inline constexpr std::size_t kKinds = 5;

struct ModelParts {
    std::array<std::shared_ptr<FeaturePart>, kKinds> features;  // by Kind; null: none
    std::vector<std::int64_t> segment_offsets;                  // (N + 1,) into rows of segments
    std::vector<std::int32_t> segment_durations;                // of those rows
    std::vector<std::int32_t> patterns;                         // those that have a weight
    std::shared_ptr<FeaturePart> edge;                          // outputs: the first patterns
};

class OnlinePass;

class Objective {
  public:
    Objective(Automaton automaton, std::shared_ptr<const TrainingData> data, ModelParts parts);
    ~Objective();

    std::int64_t n_parameters() const;
    std::int64_t n_sequences() const { return static_cast<std::int64_t>(data_.offsets.size()) - 1; }

    // loss over sequences first … last plus Σ_k l2_k parameters_k², gradient (n_parameters,)
    // overwritten; l2 has one entry for all, or one a parameter. Sums over disjoint ranges add up
    // (with l2 counted once). Deterministic for a given number of workers. Not for two callers at
    // once.
    double value_and_grad(const double* parameters, double* gradient, const double* l2, bool one_l2,
                          std::int64_t first, std::int64_t last, int n_workers);

    // Weighted counts of every parameter in the fully labelled sequences, (n_parameters,).
    const std::vector<double>& gold_counts() const { return gold_counts_; }

  private:
    friend class OnlinePass;  // steps on the same weights, sequence by sequence
    struct Worker;
    // The gradients of all kinds of features, in their layouts.
    struct Gradients {
        std::array<std::vector<double>, kKinds> kinds;
        std::vector<double> patterns, edge;

        explicit Gradients(const Objective& objective);
        void clear();
    };

    // One gold segment as scatter takes it: zero between two uses.
    struct GoldSignals {
        std::vector<double> labels, edges;  // (L,), (P′,)

        explicit GoldSignals(const Objective& objective);
    };

    const FeaturePart* part(Kind kind) const {
        return parts_.features[static_cast<std::size_t>(kind)].get();
    }
    // Whether scores are those of segments, be they all of one token.
    bool has_segments() const {
        return data_.n_durations > 1 ||
               std::any_of(parts_.features.begin() + 1, parts_.features.end(),
                           [](const auto& each) { return each != nullptr; });
    }
    void collect(const Gradients& gradients, double* parameters) const;
    void add_gold_counts(std::int64_t first, std::int64_t last, double* counts) const;
    void add_gold_sequence(std::int64_t sequence, double factor, GoldSignals& signals,
                           Gradients& counts) const;
    void add_gold_segment(std::int64_t first, std::int64_t last, double weight,
                          std::vector<double>& signal, Gradients& counts) const;
    void load_parameters(const double* parameters);
    void score_segments(std::int64_t first, std::int64_t last, Worker& worker) const;
    void scatter_segments(std::int64_t first, std::int64_t last, Worker& worker) const;
    void forbid(const std::vector<std::uint8_t>& mask, std::int64_t first, std::int64_t length,
                std::vector<double>& scores) const;
    void add_sequence(std::int64_t sequence, Worker& worker) const;
    void gather(Worker& worker) const;
    double gold_score(std::int64_t sequence, const Worker& worker) const;

    Automaton automaton_;
    std::shared_ptr<const TrainingData> held_data_;
    const TrainingData& data_;
    ModelParts parts_;
    std::vector<std::uint8_t> partial_;  // (B,)
    // Gold counts of all sequences, in parameter order, for the usual call over the whole set.
    std::vector<double> gold_counts_;
    std::vector<double> patterns_;       // (P,)
    std::vector<double> length_scores_;  // (D, L)
    std::unique_ptr<Weights> weights_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace trelliswork
