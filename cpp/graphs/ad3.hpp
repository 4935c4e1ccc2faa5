// AD³: dual decomposition with the alternating directions method of multipliers (Das, Martins and
// Smith 2012, algorithm 1; Martins et al. 2011, 2015).
//
//   z_m ← argmin_{z ∈ conv Z_m} η/2 ‖z − u_m‖² − (c_m + λ_m)·z − h_m     every factor alone
//   u_j ← mean of z over the links of j
//   λ_m ← λ_m − η (z_m − u_m)
//
// The code keeps θ = c_m + λ_m. One pass over a factor takes the last step of λ and makes the next
// point u + θ/η to project, so that links are read in order, and only u is read all over the place.
// A factor whose z equals u on all its links, and whose u did not move, would find the same z
// again at any η: it is left alone until a neighbour moves.
#pragma once

#include <cstdint>
#include <vector>

#include "graphs/awake_links.hpp"
#include "graphs/dual.hpp"
#include "graphs/factors.hpp"
#include "graphs/propagation.hpp"
#include "graphs/reduction.hpp"
#include "graphs/rounding.hpp"
#include "graphs/watch.hpp"

namespace trelliswork {

struct AD3Options {
    double eta = 0.1;  // of scores from 0 to 1
    bool adapt = true;
    double tolerance = 1e-6;  // of both residuals, root mean squares over links
    bool caching = true;
};

enum class AD3Stop : int {
    closed,       // no solution is better than the best one known
    converged,    // residuals below the tolerance
    stalled,      // the bound hardly moves
    exhausted,    // of iterations
    infeasible,   // the bound is below any score
    interrupted,  // by the watch
};

class AD3 {
  public:
    AD3(const Reduced& reduced, const AD3Options& options);

    // shares (K',) of a like graph, u (N',) or null, η or 0.
    void start_from(const double* shares, const double* u, double eta);
    // Continues from its current point. Offers solutions to the incumbent.
    AD3Stop run(std::int64_t max_iterations, bool may_stall, Incumbent& incumbent,
                GraphWatch& watch);

    GraphFactors& factors() { return factors_; }
    const Incidence& incidence() const { return incidence_; }
    const GraphDual& dual() const { return dual_; }
    // A bound on every solution of the whole graph that agrees with the fixed variables.
    double bound() const { return dual_.best_bound() + reduced_.constant; }
    double magnitude() const { return dual_.best_magnitude() + reduced_.magnitude; }
    // The value that the factor of a link prefers, at the last evaluation of the dual.
    bool is_on(std::int64_t link) const { return dual_.on[links_.place(link)] != 0; }
    const std::vector<double>& u() const { return u_; }  // (N',)
    double eta() const { return eta_; }
    std::int64_t n_solved() const { return n_solved_; }
    std::int64_t n_cached() const { return n_cached_; }

  private:
    void agree_with_u();
    void sum_up();
    bool is_asleep(std::size_t m) const;
    double solve(std::size_t m);
    std::int64_t project(std::size_t m, std::int64_t n);
    void iterate();
    void adapt();
    AD3Stop look(Incumbent& incumbent, GraphWatch& watch, bool& goes_on);

    const Reduced& reduced_;
    const AD3Options& options_;
    GraphFactors factors_;
    Incidence incidence_;
    GraphDual dual_;
    double eta_;
    std::vector<double> u_, z_;  // (N',) (K',) in the order of places
    AwakeLinks links_;
    std::vector<double> sums_;         // (N',) Σ z over the links of a variable
    std::vector<double> degrees_;      // (N',) links of a variable
    std::vector<std::uint8_t> moved_;  // (N',) whether u did in the last iteration
    std::vector<double> raw_, point_;  // (widest factor,)
    bool is_new_ = true;               // no factor was solved yet
    std::vector<std::uint8_t> rounded_;
    double primal_residual_ = 0.0, dual_residual_ = 0.0;
    std::int64_t n_iterations_ = 0, n_solved_ = 0, n_cached_ = 0;
    std::int64_t next_rounding_ = 0;
};

}  // namespace trelliswork
