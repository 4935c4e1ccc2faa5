// What the solvers ask of a logic factor. Literals, not variables: negation is the caller's.
//
// weights (n,) are read for knapsacks alone, limits for budgets and knapsacks. A total of weights
// is within the limit where it is above it by no more than rounding.
#pragma once

#include <cstdint>

#include "factor_graph.hpp"
#include "projections.hpp"

namespace trelliswork {

// Whether `on` (n,) is a configuration of the factor.
bool accepts_logic(FactorKind kind, std::int64_t n, const std::uint8_t* on, const double* weights,
                   double limit);

// on = argmax Σ_k scores[k] on[k] over the configurations; returns the maximum, −inf: there is
// none. Scores are finite or −inf. Ties: what is worth nothing stays off, then the first literal.
double maximize_logic(FactorKind kind, std::int64_t n, const double* scores, const double* weights,
                      double limit, std::uint8_t* on, LogicWorkspace& workspace);

// Replaces `point` (n,) by the nearest one of the convex hull of the configurations; see
// projections.hpp. There must be a configuration.
void project_logic(FactorKind kind, std::int64_t n, double* point, const double* weights,
                   double limit, LogicWorkspace& workspace);

}  // namespace trelliswork
