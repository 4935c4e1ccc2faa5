// The factors of a graph in terms of its variables: negated and fixed links are dealt with here.
//
// The graph is one that `reduce` made: only structures link variables that are fixed. θ (K,) are
// shares: each link's part of the score of its variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graphs/active_set.hpp"
#include "graphs/factor_graph.hpp"
#include "graphs/logic_factors.hpp"

namespace trelliswork {

class GraphFactors {
  public:
    explicit GraphFactors(const Graph& graph);

    const Graph& graph() const { return graph_; }
    std::size_t n_variables() const { return graph_.scores.size(); }
    std::size_t n_factors() const { return graph_.kinds.size(); }
    std::size_t n_links() const { return graph_.variables.size(); }
    bool is_free(std::size_t variable) const { return graph_.fixed[variable] < 0; }
    bool has_negated(std::size_t m) const { return has_negated_[m] != 0; }

    // max_z θ_m·z + h_m(z); writes z at the links of factor m into `on` (K,).
    double maximize(std::size_t m, const double* shares, std::uint8_t* on);
    // Replaces a point p (n,), of the variables that factor m links, by
    // argmin_z η/2 ‖z − p‖² − h_m(z) over the hull of Z_m. The factor must have a configuration.
    void project(std::size_t m, double eta, double* point);
    // The same for n of the links of an xor_one or at_most_one without negated ones, as if it had
    // no others.
    void project_some(std::size_t m, std::int64_t n, double* point);
    // h_m of the values (N,), −inf: no configuration.
    double value(std::size_t m, const std::uint8_t* values);
    // Σ_j c_j z_j + Σ_m h_m(z_m), −inf: not a solution.
    double score(const std::uint8_t* values);

  private:
    Room room(std::size_t m) const { return {graph_.limits[m], graph_.slacks[m]}; }

    const Graph& graph_;
    std::vector<std::uint8_t> has_negated_;  // (M,)
    std::vector<std::int8_t> fixed_;         // (K,) literals of structures, −1: free
    std::vector<ActiveSet> active_sets_;     // (M,) where there are structures
    std::vector<double> scratch_;            // (widest factor,)
    std::vector<std::uint8_t> literals_;     // (widest factor,)
    LogicWorkspace workspace_;
};

}  // namespace trelliswork
