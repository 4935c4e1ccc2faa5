// A search that counts some rows exactly and leaves the others to their prices.
//
//   G_Kλ(y) = score(y) − Σ_{i ∈ K} ρ_i v_i(y) − Σ_{i ∉ K} λ_i r_i(y)  ≥  P(y)
//
// A* from the end of the sequence over the product of the model with counters of the quantities Q
// of the rows in K, made as it is met. The forward scores under prices λ of all rows are the
// heuristic: exact for the model, and never too low, as λ_i r_i ≤ ρ_i v_i. Where the best labelling
// of G_Kλ pays less than G, its rows outside K that make the difference join K: at the end K holds
// only rows that prices cannot settle. With λ = 0 this is lazy intersection.
#pragma once

#include "decoding/solver.hpp"

namespace trelliswork {

// Closes the gap of `answer` under the prices in it. True where P of its labelling is proven to be
// the largest, or that there is none; else the bound may have come down. The rows that the proof
// counts are marked.
bool search(Lagrangian& lagrangian, const SolverOptions& options, const Deadline& deadline,
            Answer& answer);

}  // namespace trelliswork
