// Operations on logic factors. They see literals, not variables: the caller negates.
//
// weights (n,) are read for knapsacks alone, limits for budgets and knapsacks. A total of weights
// is within the limit where it is above it by no more than rounding.
#pragma once

#include <cstdint>

#include "graphs/factor_graph.hpp"
#include "graphs/projections.hpp"

namespace trelliswork {

// How much the weights of literals may add up to.
struct Room {
    double limit = 0.0;
    double slack = 0.0;  // above the limit, see `weight_slack`

    double most() const { return limit + slack; }
};

// Slack allowed in sums of n weights: rounding, relative to the largest weight. Fixing literals
// leaves it unchanged.
double weight_slack(std::int64_t n, const double* weights);

// Whether `on` (n,) is a configuration of the factor.
bool accepts_logic(FactorKind kind, std::int64_t n, const std::uint8_t* on, const double* weights,
                   const Room& room);

// on = argmax Σ_k scores[k] on[k] over the configurations; returns the maximum, −inf: there is
// none. Scores are finite or −inf. Ties: literals of score 0 stay off, then the first literal.
double maximize_logic(FactorKind kind, std::int64_t n, const double* scores, const double* weights,
                      const Room& room, std::uint8_t* on, LogicWorkspace& workspace);

// Replaces `point` (n,) by the nearest one of the convex hull of the configurations; see
// projections.hpp. There must be a configuration.
void project_logic(FactorKind kind, std::int64_t n, double* point, const double* weights,
                   const Room& room, LogicWorkspace& workspace);

}  // namespace trelliswork
