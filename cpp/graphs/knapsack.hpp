// The best literals within a total weight.
#pragma once

#include <cstdint>

#include "graphs/projections.hpp"

namespace trelliswork {

// on (n,), all 0, gets the literals of the largest total score whose weights (n,), > 0, add up to
// no more than `limit`; returns that score, −inf where limit < 0. Depth first, the best score a
// unit of weight first, with the bound that takes the last literal in part. That is exponential
// where many literals are worth just their weight: there the search ends once it is close, and
// returns not the score of `on` but a bound, which no score is above. Such a bound may close
// no gap; with literals fixed, the search is shorter.
double take_within_weight(std::int64_t n, const double* scores, const double* weights, double limit,
                          std::uint8_t* on, LogicWorkspace& workspace);

}  // namespace trelliswork
