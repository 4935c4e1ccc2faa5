// Projected subgradient: algorithms 1 and 2 of Anzaroot et al. (2014), one for hard and soft rows.
//
//   y ← argmax G_λ,      λ_i ← min(ρ_i, max(0, λ_i + η r_i(y)))
//
// The signs in print are slips: a broken row (r > 0) gets dearer. y is optimal where P(y) = D(λ),
// which is complementary slackness: for every row r = 0, or λ = 0 and r < 0, or λ = ρ and r > 0.
#pragma once

#include <vector>

#include "decoding/solver.hpp"

namespace trelliswork {

struct DualResult {
    double bound = -kNegativeInfinity;  // the least D met
    std::vector<double> prices;         // (R,) where
    Labelling at_best;                  // the labelling there
    Labelling other;                    // another one met; empty: none
    bool has_path = true;
};

// Lowers D from `prices` on, offering every labelling met to `answer`. Stops when P and D meet.
DualResult lower_dual(Lagrangian& lagrangian, std::vector<double> prices,
                      std::int64_t max_iterations, const SolverOptions& options,
                      const Deadline& deadline, Answer& answer);

// Lowers D on the prices that complement the labelling in `answer`: λ_i = ρ_i where it breaks row
// i, 0 where it does not reach it. Where that labelling is the best and the dual has no gap, the
// prices that prove it are among these. True where they were found; they replace those in `answer`.
bool complement(Lagrangian& lagrangian, std::int64_t max_iterations, const SolverOptions& options,
                const Deadline& deadline, Answer& answer);

}  // namespace trelliswork
