// The best solution known of a graph, and a way from fractions to solutions.
#pragma once

#include <cstdint>
#include <vector>

#include "graph_factors.hpp"
#include "propagation.hpp"
#include "semiring.hpp"

namespace trelliswork {

class Incumbent {
  public:
    // The propagator holds what the node of `enter` has fixed.
    explicit Incumbent(const Graph& graph) : propagator(graph) {}

    Propagator propagator;
    double score = kNegativeInfinity;
    std::vector<std::uint8_t> values;  // (N,), empty: none

    // Candidates are of this reduction of the graph from now on.
    void enter(const Reduced& reduced) { reduced_ = &reduced; }
    // Takes values (N',) if they are a solution that is better. False: not a solution.
    bool offer(GraphFactors& factors, const std::uint8_t* candidate);
    // Fixes variables by confidence in u (N',), the surest first, with all that follows; structures
    // before that, as their shares (K',) have it. Offers what comes out.
    void round(GraphFactors& factors, const double* u, const double* shares);

  private:
    bool fix_structures(GraphFactors& factors, const double* shares);
    bool fix_by_confidence(const double* u);
    bool try_both(std::int32_t variable, bool value);

    const Reduced* reduced_ = nullptr;
    std::vector<std::int32_t> order_;
    std::vector<std::uint8_t> candidate_;
    std::vector<std::int8_t> fixed_;
    std::vector<double> scores_;
};

}  // namespace trelliswork
