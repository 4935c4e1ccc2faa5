// Exact solutions of graphs: best-first branch and bound around AD³ (Das, Martins and Smith 2012,
// §3).
//
// A node fixes variables and their consequences. Its bound is a dual bound of the rest, which
// holds at any iteration. The node with the highest bound is split at its most fractional variable,
// until none is above the best solution known. The leaves are the proof.
#pragma once

#include "graphs/answer.hpp"
#include "graphs/watch.hpp"

namespace trelliswork {

GraphAnswer solve_by_branching(const Graph& graph, const GraphStart& start,
                               const GraphOptions& options, GraphWatch& watch);

}  // namespace trelliswork
