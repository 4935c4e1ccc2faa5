// The best solution known of a graph, and a way from fractions to solutions.
#pragma once

#include <cstdint>
#include <vector>

#include "graphs/factors.hpp"
#include "graphs/propagation.hpp"
#include "graphs/reduction.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

class Incumbent {
  public:
    // gap: the largest distance of a bound above a score that closes it, relative to 1 + |score|,
    // or to the scores of variables and structures if these are smaller.
    Incumbent(const Graph& graph, double gap);

    Propagator propagator;  // holds the fixed variables of the node of `enter`
    double score = kNegativeInfinity;
    std::vector<std::uint8_t> values;  // (N,), empty: none

    // Bounds come with their magnitudes, the sums of |terms|: the unit of rounding.
    // Whether nothing below `bound` is better than the incumbent.
    bool closes(double bound, double magnitude) const;
    // Whether the bound is below Σ_j min(c_j, 0) + Σ_m min h_m: there is no solution.
    bool rules_out(double bound, double magnitude) const;

    // The rest of the graph after propagation.
    Reduced remainder() const { return reduce(propagator.graph(), implied_, propagator.values()); }
    // Candidates are of this remainder from now on.
    void enter(const Reduced& reduced) { reduced_ = &reduced; }
    // Takes values (N',) if they are a solution that is better. False: not a solution.
    bool offer(GraphFactors& factors, const std::uint8_t* candidate);
    // Fixes variables by confidence in u (N',), the surest first, with all that follows; structures
    // before that, as their shares (K',) have it. Offers the result.
    void round(GraphFactors& factors, const double* u, const double* shares);

  private:
    bool fix_structures(GraphFactors& factors, const double* shares);
    bool fix_by_confidence(const double* u);
    bool try_both(std::int32_t variable, bool value);

    std::vector<std::uint8_t> implied_;  // (M,) factors that others make superfluous
    double gap_, largest_ = 0.0, least_ = 0.0;
    const Reduced* reduced_ = nullptr;
    std::vector<std::int32_t> order_;
    std::vector<std::uint8_t> candidate_;
    std::vector<std::int8_t> fixed_;
    std::vector<double> scores_;
};

}  // namespace trelliswork
