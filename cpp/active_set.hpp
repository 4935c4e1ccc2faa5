// The quadratic subproblem of a structure, by an active-set method (Martins et al. 2015, §6).
//
//   min η/2 ‖z − a‖² − Σ_y p_y h(y)   over distributions p on configurations y, with z = Σ_y p_y y
//
// Few configurations have p_y > 0. On these the problem is a linear system; the structure's
// `maximize` finds the configuration that would lower the objective fastest, or that none would.
#pragma once

#include <cstdint>
#include <vector>

#include "factor_graph.hpp"

namespace trelliswork {

// One a factor: what it found is where the next call starts.
class ActiveSet {
  public:
    // out (n,) = z for the point a (n,) and η > 0; links that are fixed (−1 free, 0, 1) have their
    // value, and a is not read there. False, and out untouched: no configuration agrees with
    // `fixed`.
    bool solve(const Structure& structure, const std::int8_t* fixed, const double* point,
               double eta, double* out);

    // Forgets everything.
    void clear();

    // Of the last solution: Σ_y p_y h(y), the number of configurations, and calls of `maximize`.
    double expected_value() const;
    std::int64_t n_active() const { return static_cast<std::int64_t>(configurations_.size()); }
    std::int64_t n_oracle_calls() const { return n_oracle_calls_; }

  private:
    struct Configuration {
        std::vector<std::int32_t> links;  // those that are on, in order
        double value;                     // h
        double probability;               // p
    };
    std::vector<Configuration> configurations_;
    std::int64_t n_oracle_calls_ = 0;
};

}  // namespace trelliswork
