// The algebras that the one recursion of kernel/chart.hpp runs over: (plus, times, zero, one).
//
//   Real   (+, ×, 0, 1)                probabilities; rows are rescaled, see kernel/chart.hpp
//   Max    (max, +, −inf, 0)           best paths
//
// `scaled`: rows are kept relative to a factor, so that long sequences lose neither range nor
// digits. Where that is not enough, kernel/log_chart.hpp makes the sums of Real in logarithms.
#pragma once

#include <cmath>
#include <limits>

namespace trelliswork {

inline constexpr double kNegativeInfinity = -std::numeric_limits<double>::infinity();

struct Real {
    static constexpr bool scaled = true;
    static constexpr double zero = 0.0;
    static constexpr double one = 1.0;
    static double times(double a, double b) { return a * b; }
    static double from_log(double x) { return std::exp(x); }
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

struct Max {
    static constexpr bool scaled = false;
    static constexpr double zero = kNegativeInfinity;
    static constexpr double one = 0.0;
    static double times(double a, double b) { return a + b; }
    static double from_log(double x) { return x; }

    struct Sum {
        double total = zero;
        void add(double x) { total = x > total ? x : total; }
        double value() const { return total; }
    };
};

}  // namespace trelliswork
