// The Lagrangian of one sequence: linear constraints turned into prices on events.
//
//   G_λ(y) = score(y) − Σ_i λ_i r_i(y),      D(λ) = max_y G_λ(y) ≥ max_y [score(y) − Σ_i ρ_i
//   v_i(y)]
//
// for every λ ∈ [0, ρ]: the model with other arc weights, so that D is one Viterbi pass. See
// counts.hpp for r, v and ρ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "decoding/counts.hpp"
#include "kernel/engine.hpp"
#include "kernel/inference.hpp"
#include "kernel/score_reader.hpp"

namespace trelliswork {

// A labelling: a label a token, and marks where segments begin.
struct Labelling {
    std::vector<std::int32_t> labels;  // (T,)
    std::vector<std::uint8_t> begins;  // (T,)

    bool operator==(const Labelling&) const = default;
};

// The best labelling under some prices, and its bound.
struct Evaluation {
    double value = kNegativeInfinity;   // D(λ); −inf: there is no path
    double payoff = kNegativeInfinity;  // P(y) = score(y) − Σ_i ρ_i v_i(y)
    std::vector<double> excess;         // (R,) r(y)
    Labelling path;
};

// The events of the arcs of an automaton, shared by all workers.
struct ArcEvents {
    std::vector<std::int32_t> event;    // (A,), −1: none
    std::vector<std::int64_t> offsets;  // (E + 1,) into arcs
    std::vector<std::int64_t> arcs;     // of each event; without those from the start of a chain
    std::vector<double> weight;         // (A,) without prices, guards aside

    ArcEvents(const Automaton& automaton, const CountRows& rows, const double* patterns);
};

class Lagrangian {
  public:
    // `plain` are the weights of the batch without prices, shared by all workers.
    Lagrangian(const Batch& batch, const CountRows& rows, const ArcEvents& events,
               const Weights& plain);

    Lagrangian(const Lagrangian&) = delete;

    // Goes on to a sequence.
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
        set_prices(prices);
        priced_->with_best(priced_scores(), use);
    }
    double constant(const std::vector<double>& prices) const;

    // The result of `evaluate`, from a chart of these prices.
    template <class C>
    void read_best(C& chart, const std::vector<double>& prices, Evaluation& found) {
        ++n_evaluations_;
        found.value = chart.log_total();
        found.payoff = kNegativeInfinity;
        if (found.value == kNegativeInfinity) return;
        const auto n_tokens = static_cast<std::size_t>(scores_.length);
        found.path.labels.assign(n_tokens, -1);
        found.path.begins.assign(n_tokens, 0);
        std::fill(counts_.begin(), counts_.end(), 0);
        walk_best_path(chart, [&](std::int64_t t, const Arrival& last) {
            write_segment(t, last.duration, automaton().label[last.arc], found.path.labels.data(),
                          found.path.begins.data());
            for_each_count(last.arc,
                           [&](const Count& count) { counts_[count.quantity] += count.times; });
        });
        finish(prices, found);
    }

    // Calls visit(Count) for every quantity that an arc counts for.
    template <class Visit>
    void for_each_count(std::int64_t arc, Visit&& visit) const {
        const auto event = events_.event[arc];
        if (event < 0) return;
        for (auto k = rows_.event_offsets[event]; k < rows_.event_offsets[event + 1]; ++k) {
            visit(rows_.event_counts[k]);
        }
    }

  private:
    void set_prices(const std::vector<double>& prices);
    void set_event(int event, double price);
    const SequenceScores& priced_scores();
    void finish(const std::vector<double>& prices, Evaluation& found) const;

    const Batch& batch_;
    const CountRows& rows_;
    const ArcEvents& events_;
    ScoreReader reader_;
    Engine plain_;
    std::vector<double> weights_;         // (P,) under prices
    std::optional<Weights> own_weights_;  // that read them
    std::optional<Engine> priced_;
    bool arc_by_arc_ = false;             // only arcs whose price has changed get other weights
    SequenceScores scores_;               // of the sequence, without prices
    SequenceScores priced_scores_;        // φ has the prices of segments from the start
    std::vector<double> phi_;             // (T, D, L) restricted; empty: not
    std::vector<double> first_;           // (D, L) φ of segments from the first token
    std::vector<double> own_phi_;         // (T, D, L)
    std::vector<double> quantity_price_;  // (M,) Σ_i λ_i c_im
    std::vector<double> event_price_;     // (E,)
    std::vector<std::int64_t> counts_;    // (M,)
    std::int64_t n_evaluations_ = 0;
};

}  // namespace trelliswork
