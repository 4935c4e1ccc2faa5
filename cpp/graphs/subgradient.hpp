// The projected subgradient method on the dual of a graph, to compare AD³ with.
//
//   z_m ← argmax_{z ∈ Z_m} θ_m·z + h_m(z),   θ_m ← θ_m − s_t (z_m − mean of z over the links of j)
//
// The mean keeps the shares of each variable adding up to its score. Once a solution is known, s_t
// is Polyak's step, factor · (D − best score) / ‖g‖² with g = z − mean; before that, eta / √t.
#pragma once

#include "graphs/branch.hpp"

namespace trelliswork {

GraphAnswer solve_by_subgradient(const Graph& graph, const GraphStart& start,
                                 const GraphOptions& options, GraphWatch& watch);

}  // namespace trelliswork
