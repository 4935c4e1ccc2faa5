// The quadratic subproblem of a structure, by an active-set method (Martins et al. 2015, §6).
//
//   min η/2 ‖z − a‖² − Σ_y p_y h(y)   over distributions p on configurations y, with z = Σ_y p_y y
//
// Few configurations have p_y > 0. On these the problem is a linear system; the structure's
// `maximize` finds the configuration that would lower the objective fastest, or that none would.
#pragma once

#include <cstdint>
#include <vector>

#include "graphs/factor_graph.hpp"

namespace trelliswork {

// One a factor: a call starts from the result of the last one.
class ActiveSet {
  public:
    // `max_steps` of one call, each a configuration that comes or goes; then z is the point
    // of the hull reached so far.
    explicit ActiveSet(std::int64_t max_steps = 1000) : max_steps_(max_steps) {}

    // out (n,) = z for the point a (n,), finite, and η > 0; links that are fixed (−1 free, 0, 1)
    // have their value, and a is not read there. False, and out untouched: no configuration agrees
    // with `fixed`.
    bool solve(const Structure& structure, const std::int8_t* fixed, const double* point,
               double eta, double* out);

    // Of the last solution: Σ_y p_y h(y), and the number of configurations with p_y > 0.
    double expected_value() const;
    std::int64_t n_active() const { return static_cast<std::int64_t>(active_.size()); }
    // Of all calls: how often `maximize` was asked.
    std::int64_t n_oracle_calls() const { return n_oracle_calls_; }

  private:
    // Configurations are kept affinely independent, so that Q = (yᵀy′ + 1) has a Cholesky factor.
    // Fixed variables are the same in all of them and move every yᵀy′ alike, which changes nothing.
    struct Configuration {
        std::vector<std::int32_t> links;   // those that are on, in order
        double value = 0.0;                // h
        double probability = 0.0;          // p
        double target = 0.0;               // yᵀa + h / η
        std::vector<double> gram, factor;  // the row of Q and of its factor, up to the diagonal
    };

    enum class Step { reached, blocked, stuck };

    void agree_with(const std::int8_t* fixed, std::int64_t n);
    double ask(const Structure& structure, const double* point, double eta);
    double target_of(const Configuration& added, const double* point, double eta) const;
    bool is_active(const Configuration& added) const;
    bool add(Configuration added);
    bool exchange(Configuration added);
    void remove(std::size_t place);
    bool factorize(std::size_t place);
    void solve_factor(std::vector<double>& x) const;
    void minimize_on_active();
    Step step_towards_minimum();
    void drop_zeros();
    void write_mean(double* out) const;

    std::int64_t max_steps_;
    std::int64_t n_oracle_calls_ = 0;
    std::vector<Configuration> active_;
    std::vector<std::int8_t> fixed_;            // (n,)
    std::vector<double> minimum_, multiplier_;  // (active,) p at the minimum of the linear system
    std::vector<double> mean_, scores_;         // (n,)
    std::vector<std::uint8_t> on_;              // (n,)
};

}  // namespace trelliswork
