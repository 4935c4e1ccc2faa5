// Binary variables under factors, as the graph solvers read them.
//
//   max Σ_j c_j z_j + Σ_m h_m(z_m)   over z ∈ {0, 1}^N with z_m ∈ Z_m for every factor m
//
// z_m are the links of factor m: variables, or their negations, 1 − z_j. Logic factors have h = 0.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace trelliswork {

// The condition of a factor on its literals; the last link of or_out and xor_out is the output.
enum class FactorKind : std::int8_t {
    xor_one = 0,      // exactly one
    at_most_one = 1,  // none or one
    or_any = 2,       // at least one
    or_out = 3,       // the output, where any input is on
    xor_out = 4,      // the output, where one input is on; never two inputs
    budget = 5,       // at most `limit`
    knapsack = 6,     // weights · literals ≤ limit
    structured = 7    // see Structure
};

// A factor with an inner dynamic program: configurations `on` of its links, of value h(on).
class Structure {
  public:
    virtual ~Structure() = default;
    virtual std::int64_t size() const = 0;  // links
    // on = argmax Σ_k scores[k] on[k] + h(on) over configurations that agree with `fixed` (−1 free,
    // 0, 1); returns the maximum, −inf: there is none. scores may be −inf. Thread-safe (const, own
    // workspace).
    virtual double maximize(const double* scores, const std::int8_t* fixed,
                            std::uint8_t* on) const = 0;
    // h(on); −inf: no configuration.
    virtual double value(const std::uint8_t* on) const = 0;
    // No configuration is worth less: a lower bound of h.
    virtual double lowest() const = 0;
    // The largest of the numbers that h adds up, without their signs.
    virtual double scale() const = 0;
};

struct Graph {                            // N variables, M factors, K links
    std::vector<double> scores;           // (N,) of the variables that are 1; finite
    std::vector<std::int8_t> fixed;       // (N,) −1: free
    std::vector<FactorKind> kinds;        // (M,)
    std::vector<std::int64_t> offsets;    // (M + 1,) into links
    std::vector<std::int32_t> variables;  // (K,)
    std::vector<std::uint8_t> negated;    // (K,)
    std::vector<double> weights;          // (K,) of knapsacks, > 0; 1 elsewhere
    std::vector<double> limits;           // (M,) of budgets and knapsacks
    std::vector<double> slacks;           // (M,) rounding allowed above them, see weight_slack
    std::vector<std::shared_ptr<const Structure>> structures;  // (M,), null for logic
};

}  // namespace trelliswork
