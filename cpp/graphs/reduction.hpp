// The smaller graph that remains when variables are fixed.
#pragma once

#include <cstdint>
#include <vector>

#include "graphs/factor_graph.hpp"
#include "graphs/propagation.hpp"

namespace trelliswork {

// A graph of the free variables, and of the fixed ones that a structure links: these keep their
// place, with a score of 0.
struct Reduced {
    Graph graph;
    std::vector<std::int32_t> variable_of;  // (N',) in the graph that was reduced
    std::vector<std::int64_t> link_of;      // (K',)
    double constant = 0.0;                  // of fixed variables and of whole structures
    double magnitude = 0.0;                 // Σ |terms| of that
};

// (M,) 1: the literals of this "at most one" are among those of another, or of an "exactly one".
// It may go under any fixing.
std::vector<std::uint8_t> find_implied(const Graph& graph, const Incidence& incidence);

// `values` (N,) must be a fixpoint of propagation. A structure all of whose links are fixed adds
// its value to the constant: −inf if the configuration is impossible.
Reduced reduce(const Graph& graph, const std::vector<std::uint8_t>& implied,
               const std::vector<std::int8_t>& values);

}  // namespace trelliswork
