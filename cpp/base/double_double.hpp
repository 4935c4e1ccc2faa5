// Sums of two doubles, hi + lo with |lo| at most half a unit in the last place of hi: 31 digits.
// All numbers are finite.
//
// T. J. Dekker (1971), A floating-point technique for extending the available precision,
// Numerische Mathematik 18; D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2.
#pragma once

#include <cmath>

namespace trelliswork {

struct DoubleDouble {
    double hi = 0.0;
    double lo = 0.0;

    bool operator>(const DoubleDouble& other) const {
        return hi != other.hi ? hi > other.hi : lo > other.lo;
    }
};

// a + b without rounding, for any a and b whose sum does not overflow.
inline DoubleDouble exact_sum(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// The same where |a| ≥ |b|.
inline DoubleDouble exact_sum_of_ordered(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

// Sums with a relative error below 2^-102.
inline DoubleDouble operator+(const DoubleDouble& a, double b) {
    const auto high = exact_sum(a.hi, b);
    return exact_sum_of_ordered(high.hi, high.lo + a.lo);
}

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    auto high = exact_sum(a.hi, b.hi);
    const auto low = exact_sum(a.lo, b.lo);
    high = exact_sum_of_ordered(high.hi, high.lo + low.hi);
    return exact_sum_of_ordered(high.hi, high.lo + low.lo);
}

inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) {
    return a + DoubleDouble{-b.hi, -b.lo};
}

// The nearest double.
inline double rounded(const DoubleDouble& a) {
    return a.hi + a.lo;
}

}  // namespace trelliswork
