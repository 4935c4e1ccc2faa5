// The algebras that the one recursion of kernel/chart.hpp runs over: (plus, times, zero, one).
//
//   Real   (+, ×, 0, 1)                probabilities; rows are rescaled, see kernel/chart.hpp
//   Log    (logaddexp, +, −inf, 0)     the same sums, in logarithms: slower, cannot underflow
//   Max    (max, +, −inf, 0)           best paths
//
// Sum is a running total, so that Log pays one exp a term instead of an exp and a log. `scaled`:
// rows are kept relative to a factor, so that long sequences lose neither range nor digits.
// `can_underflow`: values may still fall out of range within a row. `packs`: sums over arcs run in
// the vector loops of block_kernels.hpp.
#pragma once

#include <cmath>
#include <limits>

namespace trelliswork {

inline constexpr double kNegativeInfinity = -std::numeric_limits<double>::infinity();

struct Real {
    static constexpr bool scaled = true;
    static constexpr bool packs = true;
    static constexpr bool can_underflow = true;
    static constexpr double zero = 0.0;
    static constexpr double one = 1.0;
    static double times(double a, double b) { return a * b; }
    static double divide(double a, double b) { return a / b; }
    static double from_log(double x) { return std::exp(x); }
    static double to_log(double x) { return std::log(x); }
    static double to_probability(double x) { return x; }
    // A power of two that brings x near 1, exactly; 1 where x is near enough.
    static double rescale_factor(double x) {
        if (x >= 0x1p-64 && x <= 0x1p+64) return 1.0;
        int exponent = 0;
        std::frexp(x, &exponent);
        return std::ldexp(1.0, -exponent);
    }

    struct Sum {
        double total = zero;
        void add(double x) { total += x; }
        double value() const { return total; }
    };
};

struct Log {
    static constexpr bool scaled = true;
    static constexpr bool packs = false;
    static constexpr bool can_underflow = false;
    static constexpr double zero = kNegativeInfinity;
    static constexpr double one = 0.0;
    static double times(double a, double b) { return a + b; }
    static double divide(double a, double b) { return a - b; }
    static double from_log(double x) { return x; }
    static double to_log(double x) { return x; }
    static double to_probability(double x) { return std::exp(x); }
    static double rescale_factor(double x) { return -x; }

    // log Σ exp(x_i) as largest + log(mass), mass = Σ exp(x_i − largest).
    struct Sum {
        double largest = zero;
        double mass = 0.0;
        void add(double x) {
            if (x == zero) return;
            if (x <= largest) {
                mass += std::exp(x - largest);
            } else {
                mass = mass * std::exp(largest - x) + 1.0;
                largest = x;
            }
        }
        double value() const { return mass > 0.0 ? largest + std::log(mass) : zero; }
    };
};

struct Max {
    static constexpr bool scaled = false;
    static constexpr bool packs = true;
    static constexpr bool can_underflow = false;
    static constexpr double zero = kNegativeInfinity;
    static constexpr double one = 0.0;
    static double times(double a, double b) { return a + b; }
    static double from_log(double x) { return x; }
    static double to_log(double x) { return x; }

    struct Sum {
        double total = zero;
        void add(double x) { total = x > total ? x : total; }
        double value() const { return total; }
    };
};

}  // namespace trelliswork
