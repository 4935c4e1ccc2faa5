// Sums and maxima of short arrays.
#pragma once

#include <cstdint>

namespace trelliswork {

// Folds get(0 … n − 1), four at a time: one after the other, each would wait for the one before.
template <class Get, class Join>
double fold(std::int64_t n, double none, Get&& get, Join&& join) {
    double a = none, b = none, c = none, d = none;
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a = join(a, get(i));
        b = join(b, get(i + 1));
        c = join(c, get(i + 2));
        d = join(d, get(i + 3));
    }
    for (; i < n; ++i) a = join(a, get(i));
    return join(join(a, b), join(c, d));
}

}  // namespace trelliswork
