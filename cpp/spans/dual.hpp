// Prices on rules about roles: the chain of intervals under other gains.
//
//   D(λ) = max_y Σ_{(i, r) ∈ y} (g_ir − Σ_c λ_c a_cr) + Σ_c λ_c b_c  ≥  max_y P(y),   λ ∈ [0, ρ]
//
// The best role of an interval is found for itself, so that D takes I R + T + I steps.
#pragma once

#include <vector>

#include "spans/problem.hpp"

namespace trelliswork {

// An assignment: its value and its counts.
struct SpanAssignment {
    std::vector<SpanChoice> choices;
    std::vector<std::int32_t> counts;   // (R,)
    double payoff = kNegativeInfinity;  // P; −inf: it breaks a hard rule
};

class SpanDual {
  public:
    explicit SpanDual(const SpanProblem& problem);

    // Goes on to the part that some decisions leave open; false: hard rules leave no assignment.
    bool open(const std::vector<SpanDecision>& decisions);

    // Sets λ (C,) and returns D(λ).
    double evaluate(const std::vector<double>& prices);

    // The best assignment under these prices, decisions included; r (C,) of it.
    void read(SpanAssignment& found, std::vector<double>& excess) const;

    // Takes out choices that break hard rules; payoff −inf: that was not possible.
    void repair(SpanAssignment& found) const;

    const OpenSpans& spans() const { return open_; }
    std::int64_t n_evaluations() const { return n_evaluations_; }

  private:
    int best_role(int interval) const;

    const SpanProblem& problem_;
    OpenSpans open_;
    std::vector<double> role_prices_, best_, rest_;
    double constant_ = 0.0;
    std::int64_t n_evaluations_ = 0;
};

}  // namespace trelliswork
