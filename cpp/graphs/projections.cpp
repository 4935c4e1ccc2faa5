#include "graphs/projections.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/fold.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

namespace {

// Passes over a knapsack's undecided literals before sorting takes over: inputs that need more are
// contrived, but then every pass may decide a single literal.
constexpr int kPasses = 24;
// Beyond it, a threshold has lost digits that the result needs.
constexpr double kLarge = 1e6;
// How far a total may be from its limit, in parts of it.
constexpr double kExact = 1e-12;

double clipped(double x) {
    return std::min(std::max(x, 0.0), 1.0);
}

void grow(std::int64_t n, LogicWorkspace& workspace) {
    const auto size = static_cast<std::size_t>(n);
    if (workspace.values.size() < size) workspace.values.resize(size);
    if (workspace.weights.size() < size) workspace.weights.resize(size);
}

// τ = (extra + Σ_{v > τ} v) / (count + #{v > τ}) for n values of which `sum` is the sum. A mean
// over too many values is too low, so that values below it never count (Michelot 1986). A pass that
// drops a part f of the values has them further below τ than the pass after it, by (1 − f) / f:
// numbers of 53 bits have no room for more than O(log n) passes.
double mean_above(double* values, std::int64_t n, double sum, double extra, double count) {
    while (true) {
        const double tau = (sum + extra) / (static_cast<double>(n) + count);
        std::int64_t kept = 0;
        double left = 0.0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double v = values[i];
            values[kept] = v;
            kept += v > tau ? 1 : 0;
            left += v > tau ? v : 0.0;
        }
        if (kept == n || kept == 0) return tau;
        n = kept;
        sum = left;
    }
}

// The literals whose values in 0 … 1 the threshold of a knapsack decides.
struct Undecided {
    double* values;
    double* weights;
    std::int64_t n = 0;
    double product = 0.0, square = 0.0;  // Σ w a, Σ w²

    // Takes a literal, or not: without a branch, since nobody can guess which.
    void add(double value, double weight, bool taken) {
        values[n] = value;
        weights[n] = weight;
        n += static_cast<std::int64_t>(taken);
        const double counted = weight * static_cast<double>(taken);
        product += counted * value;
        square += counted * weight;
    }

    // τ with Σ w (a − τ w) = limit.
    double plain_threshold(double limit) const { return (product - limit) / square; }

    // Σ w clip(a − τ w).
    double total(double tau) const {
        double sum = 0.0;
        for (std::int64_t i = 0; i < n; ++i) {
            sum += weights[i] * clipped(values[i] - tau * weights[i]);
        }
        return sum;
    }

    // Drops those that are 0 at τ, or 1; returns the weight dropped.
    double drop(double tau, bool zeros) {
        const auto before = std::exchange(n, 0);
        product = square = 0.0;
        double dropped = 0.0;
        for (std::int64_t i = 0; i < before; ++i) {
            const double value = values[i], weight = weights[i];
            const double z = value - tau * weight;
            const bool kept = (z > 0.0 || !zeros) & (z < 1.0 || zeros);
            dropped += weight * static_cast<double>(!kept);
            add(value, weight, kept);
        }
        return dropped;
    }
};

// By bisection on the sorted places where a literal leaves 1 or arrives at 0: between two of them
// the total is linear in τ.
double sorted_threshold(Undecided& left, double limit) {
    std::vector<double> places;
    for (std::int64_t i = 0; i < left.n; ++i) {
        if (!std::isfinite(left.values[i])) return 0.0;
        places.push_back((left.values[i] - 1.0) / left.weights[i]);
        places.push_back(left.values[i] / left.weights[i]);
    }
    std::sort(places.begin(), places.end());
    const auto after = std::partition_point(
        places.begin(), places.end(), [&](double place) { return left.total(place) > limit; });
    if (after == places.begin() || after == places.end()) {
        return after == places.end() ? places.back() : *after;
    }
    const double middle = *(after - 1) + (*after - *(after - 1)) / 2.0;
    limit -= left.drop(middle, false);
    left.drop(middle, true);
    return left.n == 0 ? *after : left.plain_threshold(limit);
}

// τ with Σ w clip(a − τ w) = limit. For the τ that fits without clipping: if the clipped total is
// too large, τ is too low, and values below 0 stay at 0; else values above 1 stay at 1
// (Bitran and Hax 1981).
double threshold(Undecided& left, double limit) {
    double tau = 0.0;
    for (int pass = 0; pass < kPasses && left.n > 0; ++pass) {
        const auto n = left.n;
        tau = left.plain_threshold(limit);
        const double total = left.total(tau);
        if (total > limit) {
            left.drop(tau, true);
        } else {
            limit -= left.drop(tau, false);
        }
        if (left.n < n) continue;
        if (std::abs(total - limit) <= kExact * (1.0 + std::abs(limit))) return tau;
        break;  // the sums were too large to be exact
    }
    return left.n == 0 ? tau : sorted_threshold(left, limit);
}

}  // namespace

void project_xor_one(std::int64_t n, double* point, LogicWorkspace& workspace) {
    grow(n, workspace);
    const double largest = fold(
        n, kNegativeInfinity, [&](std::int64_t i) { return point[i]; },
        [](double x, double y) { return std::max(x, y); });
    // The threshold is at least the largest value − 1, and relative to the largest it is exact
    // however large that is.
    double* near = workspace.values.data();
    std::int64_t n_near = 0;
    double sum = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double v = point[i] - largest;
        near[n_near] = v;
        n_near += v > -1.0 ? 1 : 0;
        sum += v > -1.0 ? v : 0.0;
    }
    const double tau = mean_above(near, n_near, sum, -1.0, 0.0);
    for (std::int64_t i = 0; i < n; ++i) point[i] = std::max(point[i] - largest - tau, 0.0);
}

void project_at_most_one(std::int64_t n, double* point, LogicWorkspace& workspace) {
    const double sum =
        fold(n, 0.0, [&](std::int64_t i) { return std::max(point[i], 0.0); }, std::plus<>());
    if (sum > 1.0) return project_xor_one(n, point, workspace);
    for (std::int64_t i = 0; i < n; ++i) point[i] = std::max(point[i], 0.0);
}

void project_or_any(std::int64_t n, double* point, LogicWorkspace& workspace) {
    const double sum =
        fold(n, 0.0, [&](std::int64_t i) { return clipped(point[i]); }, std::plus<>());
    if (sum < 1.0) return project_xor_one(n, point, workspace);
    for (std::int64_t i = 0; i < n; ++i) point[i] = clipped(point[i]);
}

// Without o ≤ Σ z_i, the nearest point has o = the mean of a_o and the inputs above o, z_i =
// min(a_i, o), clipped. Where that is not in the set, the nearest point of the set has o = Σ z_i.
void project_or_out(std::int64_t n, double* point, LogicWorkspace& workspace) {
    const auto n_inputs = n - 1;
    if (n_inputs < 0) return;
    grow(n, workspace);
    double* above = workspace.values.data();
    double output = point[n_inputs];
    std::int64_t n_above = 0;
    double sum = 0.0;
    for (std::int64_t i = 0; i < n_inputs; ++i) {
        above[n_above] = point[i];
        n_above += point[i] > output ? 1 : 0;
        sum += point[i] > output ? point[i] : 0.0;
    }
    if (n_above > 0) output = mean_above(above, n_above, sum, output, 1.0);
    output = clipped(output);
    double inputs = 0.0;
    for (std::int64_t i = 0; i < n_inputs; ++i) {
        inputs += std::min(std::max(point[i], 0.0), output);
    }
    if (inputs < output) return project_xor_out(n, point, workspace);
    for (std::int64_t i = 0; i < n_inputs; ++i) {
        point[i] = std::min(std::max(point[i], 0.0), output);
    }
    point[n_inputs] = output;
}

// The inputs and 1 − o add up to 1.
void project_xor_out(std::int64_t n, double* point, LogicWorkspace& workspace) {
    if (n == 0) return;
    point[n - 1] = 1.0 - point[n - 1];
    project_xor_one(n, point, workspace);
    point[n - 1] = 1.0 - point[n - 1];
}

void project_knapsack(std::int64_t n, double* point, const double* weights, double limit,
                      LogicWorkspace& workspace) {
    const auto weight = [&](std::int64_t i) { return weights == nullptr ? 1.0 : weights[i]; };
    const double total =
        fold(n, 0.0, [&](std::int64_t i) { return weight(i) * clipped(point[i]); }, std::plus<>());
    if (total <= limit) {
        for (std::int64_t i = 0; i < n; ++i) point[i] = clipped(point[i]);
        return;
    }
    grow(n, workspace);
    // z = clip(a − τ w) with τ > 0, so that values below 0 stay there.
    const auto solve = [&](double least) {
        Undecided left{workspace.values.data(), workspace.weights.data()};
        for (std::int64_t i = 0; i < n; ++i) {
            left.add(point[i], weight(i), point[i] > least);
        }
        return threshold(left, limit);
    };
    double tau = solve(0.0);
    if (std::abs(tau) > kLarge) {
        for (std::int64_t i = 0; i < n; ++i) point[i] -= tau * weight(i);
        tau = solve(kNegativeInfinity);
    }
    for (std::int64_t i = 0; i < n; ++i) point[i] = clipped(point[i] - tau * weight(i));
}

}  // namespace trelliswork
