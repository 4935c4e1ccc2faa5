// Batches of graphs: AD³ alone, branch and bound around it, or the subgradient method.
#pragma once

#include <vector>

#include "graphs/branch.hpp"
#include "graphs/subgradient.hpp"

namespace trelliswork {

enum class GraphMethod : int { ad3 = 0, branch = 1, dual = 2 };

// AD³ at the root alone.
GraphAnswer solve_by_ad3(const Graph& graph, const GraphStart& start, const GraphOptions& options,
                         GraphWatch& watch);

// Solves every graph: starts (B,), answers (B,). The callback may be empty; with more than one
// worker it is called from several threads at a time.
std::vector<GraphAnswer> solve_graphs(const std::vector<const Graph*>& graphs,
                                      const std::vector<GraphStart>& starts, GraphMethod method,
                                      const GraphOptions& options, int n_workers,
                                      const GraphCallback& callback);

}  // namespace trelliswork
