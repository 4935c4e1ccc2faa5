// Euclidean projections on the polytopes of logic factors, all on literals.
//
// Each replaces a point a (n,), finite, by argmin_z ‖z − a‖² over the convex hull of the factor's
// configurations (of a knapsack: over 0 ≤ z ≤ 1, w·z ≤ b). None of these sets may be empty: n > 0
// for xor and or, limits ≥ 0. O(n log n) at worst, mostly two or three passes; nothing is allocated
// once the workspace has grown.
#pragma once

#include <cstdint>
#include <vector>

namespace trelliswork {

// Scratch of one worker, for projections and maxima.
struct LogicWorkspace {
    std::vector<double> values, weights;
    std::vector<std::int32_t> order;
    std::vector<std::uint8_t> taken;
};

// Σ z = 1, z ≥ 0: a simplex.
void project_xor_one(std::int64_t n, double* point, LogicWorkspace& workspace);
// Σ z ≤ 1, z ≥ 0.
void project_at_most_one(std::int64_t n, double* point, LogicWorkspace& workspace);
// Σ z ≥ 1, 0 ≤ z ≤ 1.
void project_or_any(std::int64_t n, double* point, LogicWorkspace& workspace);
// z_i ≤ o ≤ Σ_i z_i, all in 0 … 1; o is the last.
void project_or_out(std::int64_t n, double* point, LogicWorkspace& workspace);
// Σ_i z_i = o ≤ 1, z ≥ 0; o is the last.
void project_xor_out(std::int64_t n, double* point, LogicWorkspace& workspace);
// w·z ≤ b, 0 ≤ z ≤ 1. weights (n,) > 0, null: all 1.
void project_knapsack(std::int64_t n, double* point, const double* weights, double limit,
                      LogicWorkspace& workspace);

}  // namespace trelliswork
