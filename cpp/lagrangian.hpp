// The Lagrangian of one sequence: linear constraints turned into prices on events.
//
//   G_λ(y) = score(y) − Σ_i λ_i r_i(y),      D(λ) = max_y G_λ(y) ≥ max_y [score(y) − Σ_i ρ_i
//   v_i(y)]
//
// for every λ ∈ [0, ρ]: the model with other pattern weights, so that D is one Viterbi pass. See
// counts.hpp for r, v and ρ.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "counts.hpp"
#include "engine.hpp"
#include "inference.hpp"
#include "score_reader.hpp"

namespace trelliswork {

// A labelling: a label a token, and marks where segments begin.
struct Labelling {
    std::vector<std::int32_t> labels;  // (T,)
    std::vector<std::uint8_t> begins;  // (T,)
};

// What is known of the best labelling under some prices.
struct Evaluation {
    double value = kNegativeInfinity;   // D(λ); −inf: there is no path
    double payoff = kNegativeInfinity;  // P(y) = score(y) − Σ_i ρ_i v_i(y)
    std::vector<double> excess;         // (R,) r(y)
    Labelling path;
};

class Lagrangian {
  public:
    // `plain` are the weights of the batch without prices, shared by all workers.
    Lagrangian(const Batch& batch, const CountRows& rows, const Weights& plain);

    Lagrangian(const Lagrangian&) = delete;

    // Goes on to a sequence. What holds until the next call of it.
    void read(std::int64_t sequence);

    // Labels that each token may have besides, (T, 2, L) as Batch::allowed; empty: all.
    void restrict_to(const std::vector<std::uint8_t>& allowed);

    const CountRows& rows() const { return rows_; }
    const Automaton& automaton() const { return *batch_.automaton; }
    std::int64_t length() const { return scores_.length; }
    std::int64_t n_evaluations() const { return n_evaluations_; }

    // Finds y = argmax G_λ; λ (R,).
    void evaluate(const std::vector<double>& prices, Evaluation& found);

    // Runs the forward pass under λ and calls use(chart); all rows are in memory. G_λ of a path is
    // its score on the chart plus `constant(λ)`.
    template <class Use>
    void with_chart(const std::vector<double>& prices, Use&& use) {
        price_events(prices);
        priced().with_best(priced_scores(), use);
    }
    double constant(const std::vector<double>& prices) const;

    // Calls visit(event) for every event of an arc.
    template <class Visit>
    void for_each_event(std::int64_t arc, Visit&& visit) const {
        const Automaton& built = *batch_.automaton;
        if (built.source[arc] == 0 && !rows_.start_event.empty()) {
            if (const auto event = rows_.start_event[built.label[arc]]; event >= 0) visit(event);
        }
        for (auto k = built.pattern_offsets[arc]; k < built.pattern_offsets[arc + 1]; ++k) {
            if (const auto event = rows_.pattern_event[built.pattern_ids[k]]; event >= 0) {
                visit(event);
            }
        }
    }

    // Calls visit(Term) for every row that an arc counts for; its index is the row.
    template <class Visit>
    void for_each_row(std::int64_t arc, Visit&& visit) const {
        for_each_event(arc, [&](std::int32_t event) {
            for (auto k = rows_.event_offsets[event]; k < rows_.event_offsets[event + 1]; ++k) {
                visit(rows_.event_terms[k]);
            }
        });
    }

  private:
    void price_events(const std::vector<double>& prices);
    const SequenceScores& priced_scores();
    Engine& priced();
    template <class C>
    void read_path(C& chart, Evaluation& found);

    const Batch& batch_;
    const CountRows& rows_;
    ScoreReader reader_;
    Engine plain_;
    std::vector<double> weights_;         // (P,) under prices
    std::optional<Weights> own_weights_;  // that read them
    std::optional<Engine> priced_;
    SequenceScores scores_;             // of the sequence, without prices
    SequenceScores priced_scores_;      // φ has the prices of what begins at the start
    std::vector<double> phi_;           // (T, D, L) restricted; empty: not
    std::vector<double> first_;         // (L,) φ of the first token without prices
    std::vector<double> own_phi_;       // (T, L)
    std::vector<double> event_price_;   // (E,) Σ_i λ_i a_ie
    std::vector<std::int64_t> counts_;  // (E,)
    std::vector<std::int32_t> met_;     // events of the last path
    std::int64_t n_evaluations_ = 0;
};

}  // namespace trelliswork
