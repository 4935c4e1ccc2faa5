#include "knapsack.hpp"

#include <algorithm>

#include "semiring.hpp"

namespace trelliswork {

namespace {

// The search, over literals in the order of their worth.
struct Search {
    const double* scores;
    const double* weights;
    LogicWorkspace& workspace;  // at each place of `order`: the room and the total before, taken

    // Whether what fits of the literals from `place` on, the last in part, can beat `best`.
    bool may_improve(std::size_t place, double room, double total, double best) const {
        for (; place < workspace.order.size(); ++place) {
            const auto i = workspace.order[place];
            if (weights[i] > room) return total + scores[i] * (room / weights[i]) > best;
            room -= weights[i];
            total += scores[i];
        }
        return total > best;
    }

    // Down to the end, taking what fits; then back to the last that was taken, and on without it.
    void run(double room, std::uint8_t* on) const {
        const auto& order = workspace.order;
        auto& taken = workspace.taken;
        double best = kNegativeInfinity, total = 0.0;
        std::size_t place = 0;
        while (true) {
            bool open = may_improve(place, room, total, best);
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
                    open = may_improve(place + 1, room, total, best);
                }
            }
            if (open && total > best) {
                best = total;
                for (std::size_t k = 0; k < order.size(); ++k) on[order[k]] = taken[k];
            }
            while (place > 0 && taken[place - 1] == 0) --place;
            if (place == 0) return;
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
    if (workspace.values.size() < order.size()) workspace.values.resize(order.size());
    if (workspace.weights.size() < order.size()) workspace.weights.resize(order.size());
    Search{scores, weights, workspace}.run(limit, on);
    double total = 0.0;
    for (std::int64_t i = 0; i < n; ++i) total += on[i] != 0 ? scores[i] : 0.0;
    return total;
}

}  // namespace trelliswork
