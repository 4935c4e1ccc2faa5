#include "graphs/logic_factors.hpp"

#include <algorithm>
#include <cmath>

#include "base/fold.hpp"
#include "graphs/knapsack.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

namespace {

constexpr double kSlack = 1e-9;  // of the largest weight

// The first of the largest, of those that are numbers; n > 0.
std::int64_t first_largest(std::int64_t n, const double* scores) {
    const double largest = fold(
        n, kNegativeInfinity, [&](std::int64_t i) { return scores[i]; },
        [](double x, double y) { return std::max(x, y); });
    const auto found = std::find(scores, scores + n, largest) - scores;
    return found < n ? found : 0;
}

double take_one(std::int64_t n, const double* scores, std::uint8_t* on) {
    if (n == 0) return kNegativeInfinity;
    const auto best = first_largest(n, scores);
    on[best] = 1;
    return scores[best];
}

double take_positive(std::int64_t n, const double* scores, std::uint8_t* on) {
    double total = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (scores[i] > 0.0) {
            on[i] = 1;
            total += scores[i];
        }
    }
    return total;
}

// All that is worth something, or else the one that costs least.
double take_any(std::int64_t n, const double* scores, std::uint8_t* on) {
    const double total = take_positive(n, scores, on);
    return total > 0.0 ? total : take_one(n, scores, on);
}

// `take` of the inputs and the output, or nothing.
template <class Take>
double take_with_output(std::int64_t n, const double* scores, std::uint8_t* on, Take&& take) {
    if (n < 2) return 0.0;
    on[n - 1] = 1;
    const double total = take(n - 1, scores, on) + scores[n - 1];
    if (total > 0.0) return total;
    std::fill_n(on, n, std::uint8_t{0});
    return 0.0;
}

// The literals of largest score, at most `limit`.
double take_within_budget(std::int64_t n, const double* scores, double limit, std::uint8_t* on,
                          LogicWorkspace& workspace) {
    if (limit < 0.0) return kNegativeInfinity;
    auto& order = workspace.order;
    order.clear();
    for (std::int64_t i = 0; i < n; ++i) {
        if (scores[i] > 0.0) order.push_back(static_cast<std::int32_t>(i));
    }
    if (limit < static_cast<double>(order.size())) {
        const auto n_taken = static_cast<std::int64_t>(limit);
        std::nth_element(order.begin(), order.begin() + n_taken, order.end(),
                         [&](std::int32_t i, std::int32_t j) {
                             return scores[i] != scores[j] ? scores[i] > scores[j] : i < j;
                         });
        order.resize(static_cast<std::size_t>(n_taken));
    }
    double total = 0.0;
    for (const auto i : order) {
        on[i] = 1;
        total += scores[i];
    }
    return total;
}

}  // namespace

double weight_slack(std::int64_t n, const double* weights) {
    return n == 0 ? 0.0 : kSlack * *std::max_element(weights, weights + n);
}

bool accepts_logic(FactorKind kind, std::int64_t n, const std::uint8_t* on, const double* weights,
                   const Room& room) {
    const auto count = std::count_if(on, on + n, [](std::uint8_t x) { return x != 0; });
    const bool output = n > 0 && on[n - 1] != 0;
    const auto n_inputs = count - (output ? 1 : 0);
    switch (kind) {
        case FactorKind::xor_one:
            return count == 1;
        case FactorKind::at_most_one:
            return count <= 1;
        case FactorKind::or_any:
            return count >= 1;
        case FactorKind::or_out:
            return output == (n_inputs > 0);
        case FactorKind::xor_out:
            return n_inputs == (output ? 1 : 0);
        case FactorKind::budget:
            return static_cast<double>(count) <= room.most();
        case FactorKind::knapsack: {
            double total = 0.0;
            for (std::int64_t i = 0; i < n; ++i) total += on[i] != 0 ? weights[i] : 0.0;
            return total <= room.most();
        }
        case FactorKind::structured:
            break;
    }
    return false;
}

double maximize_logic(FactorKind kind, std::int64_t n, const double* scores, const double* weights,
                      const Room& room, std::uint8_t* on, LogicWorkspace& workspace) {
    std::fill_n(on, n, std::uint8_t{0});
    switch (kind) {
        case FactorKind::xor_one:
            return take_one(n, scores, on);
        case FactorKind::at_most_one: {
            if (n == 0) return 0.0;
            const auto best = first_largest(n, scores);
            if (!(scores[best] > 0.0)) return 0.0;
            on[best] = 1;
            return scores[best];
        }
        case FactorKind::or_any:
            return take_any(n, scores, on);
        case FactorKind::or_out:
            return take_with_output(n, scores, on, take_any);
        case FactorKind::xor_out:
            return take_with_output(n, scores, on, take_one);
        case FactorKind::budget:
            return take_within_budget(n, scores, room.most(), on, workspace);
        case FactorKind::knapsack:
            return take_within_weight(n, scores, weights, room.most(), on, workspace);
        case FactorKind::structured:
            break;
    }
    return kNegativeInfinity;
}

void project_logic(FactorKind kind, std::int64_t n, double* point, const double* weights,
                   const Room& room, LogicWorkspace& workspace) {
    switch (kind) {
        case FactorKind::xor_one:
            return project_xor_one(n, point, workspace);
        case FactorKind::at_most_one:
            return project_at_most_one(n, point, workspace);
        case FactorKind::or_any:
            return project_or_any(n, point, workspace);
        case FactorKind::or_out:
            return project_or_out(n, point, workspace);
        case FactorKind::xor_out:
            return project_xor_out(n, point, workspace);
        case FactorKind::budget:
            return project_knapsack(n, point, nullptr, std::floor(room.most()), workspace);
        case FactorKind::knapsack:
            return project_knapsack(n, point, weights, std::max(room.limit, 0.0), workspace);
        case FactorKind::structured:
            break;
    }
}

}  // namespace trelliswork
