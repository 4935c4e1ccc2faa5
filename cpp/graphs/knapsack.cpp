#include "graphs/knapsack.hpp"

#include <algorithm>

#include "simd/semiring.hpp"

namespace trelliswork {

namespace {

// Nodes before the search gives away the least part of the best score for the first time; it
// doubles after as many again, so that there are less than forty rounds.
constexpr std::int64_t kNodes = 4000;
constexpr double kLeast = 1e-10;

// The search, over literals in the order of their worth.
struct Search {
    const double* scores;
    const double* weights;
    std::size_t even_from;      // the place from which on all weights are the same
    LogicWorkspace& workspace;  // at each place of `order`: the room and the total before, taken

    // Whether the literals from `place` on that fit, the last in part, can beat `best`. Of
    // equal weights no part counts: the best of these are exact, and ties at a full knapsack end
    // there.
    bool may_improve(std::size_t place, double room, double total, double best) const {
        const bool is_even = place >= even_from;
        for (; place < workspace.order.size(); ++place) {
            const auto i = workspace.order[place];
            if (weights[i] > room) {
                return total + (is_even ? 0.0 : scores[i] * (room / weights[i])) > best;
            }
            room -= weights[i];
            total += scores[i];
        }
        return total > best;
    }

    // Down to the end, taking literals that fit; then back to the last taken, and on without it.
    // Returns the loss: nothing that was passed over beats the best found by more.
    double run(double room, std::uint8_t* on) const {
        const auto& order = workspace.order;
        auto& taken = workspace.taken;
        double best = kNegativeInfinity, total = 0.0;
        double slack = 0.0;
        std::int64_t n_nodes = 0;
        std::size_t place = 0;
        while (true) {
            if (++n_nodes % kNodes == 0) slack = std::max(2.0 * slack, kLeast * best);
            bool open = may_improve(place, room, total, best + slack);
            for (; open && place < order.size(); ++place) {
                const auto i = order[place];
                const bool fits = weights[i] <= room;
                workspace.values[place] = room;
                workspace.weights[place] = total;
                taken[place] = fits ? 1 : 0;
                if (fits) {
                    room -= weights[i];
                    total += scores[i];
                } else {
                    open = may_improve(place + 1, room, total, best + slack);
                }
            }
            if (open && total > best) {
                best = total;
                for (std::size_t k = 0; k < order.size(); ++k) on[order[k]] = taken[k];
            }
            while (place > 0 && taken[place - 1] == 0) --place;
            if (place == 0) return slack;
            taken[place - 1] = 0;
            room = workspace.values[place - 1];
            total = workspace.weights[place - 1];
        }
    }
};

}  // namespace

double take_within_weight(std::int64_t n, const double* scores, const double* weights, double limit,
                          std::uint8_t* on, LogicWorkspace& workspace) {
    if (limit < 0.0) return kNegativeInfinity;
    auto& order = workspace.order;
    order.clear();
    for (std::int64_t i = 0; i < n; ++i) {
        if (scores[i] > 0.0 && weights[i] <= limit) order.push_back(static_cast<std::int32_t>(i));
    }
    std::sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
        const double left = scores[i] * weights[j], right = scores[j] * weights[i];
        return left != right ? left > right : i < j;
    });
    workspace.taken.resize(order.size());
    auto even_from = order.size();
    while (even_from > 0 && weights[order[even_from - 1]] == weights[order.back()]) --even_from;
    if (workspace.values.size() < order.size()) workspace.values.resize(order.size());
    if (workspace.weights.size() < order.size()) workspace.weights.resize(order.size());
    double total = Search{scores, weights, even_from, workspace}.run(limit, on);
    for (std::int64_t i = 0; i < n; ++i) total += on[i] != 0 ? scores[i] : 0.0;
    return total;
}

}  // namespace trelliswork
