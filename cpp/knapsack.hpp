// The best literals within a total weight, exactly.
#pragma once

#include <cstdint>

#include "projections.hpp"

namespace trelliswork {

// on (n,), all 0, gets the literals of the largest total score whose weights (n,), > 0, add up to
// no more than `limit`; returns that score, −inf where limit < 0. Depth first, the best score a
// unit of weight first, with the bound that takes the last literal in part: exponential at worst.
double take_within_weight(std::int64_t n, const double* scores, const double* weights, double limit,
                          std::uint8_t* on, LogicWorkspace& workspace);

}  // namespace trelliswork
