// Upper bounds of a graph, from shares of its scores.
//
//   D(θ) = Σ_m max_{z ∈ Z_m} (θ_m·z + h_m(z)) + Σ_{j without links} max(c_j, 0)
//
// is at least the score of every solution where the shares of each variable add up to its score:
// Σ_{links k of j} θ_k = c_j. In multipliers λ that add up to 0: θ_k = c_j/δ_j + λ_k.
#pragma once

#include <cstdint>
#include <vector>

#include "graphs/factors.hpp"
#include "graphs/propagation.hpp"

namespace trelliswork {

class GraphDual {
  public:
    // Shares begin as c_j/δ_j.
    GraphDual(GraphFactors& factors, const Incidence& incidence);

    std::vector<double> shares;       // (K,) θ; 0 at links that are fixed
    std::vector<std::uint8_t> stale;  // (M,) factors whose shares changed since `evaluate`
    std::vector<std::uint8_t> on;     // (K,) the configurations of the last evaluation

    // Takes shares (K,) that need not add up: the rest is spread over the variable's links.
    void start_from(const double* given);
    // D(θ); keeps it and θ if it is the lowest so far. links (K,): where shares are in another
    // order within their factors, of kinds that do not mind.
    double evaluate(const std::int64_t* links = nullptr);

    double best_bound() const { return best_bound_; }
    // Σ |terms| of that bound: the unit of its rounding.
    double best_magnitude() const { return best_magnitude_; }
    const std::vector<double>& best_shares() const { return best_shares_; }

  private:
    GraphFactors& factors_;
    const Incidence& incidence_;
    std::vector<double> maxima_, magnitudes_;  // (M,) the magnitudes with those of the shares
    double unlinked_ = 0.0;
    double best_bound_, best_magnitude_ = 0.0;
    std::vector<double> best_shares_;
};

}  // namespace trelliswork
