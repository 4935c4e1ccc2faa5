#include "span_search.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace trelliswork {

void SpanSearch::place_roles(std::vector<std::uint8_t>& tracked) {
    const auto n_roles = static_cast<std::size_t>(dual_.problem().n_roles);
    shift_.assign(n_roles, 0);
    mask_.assign(n_roles, 0);
    int used = 0;
    for (std::size_t r = 0; r < n_roles; ++r) {
        if (tracked[r] == 0) continue;
        const auto most = static_cast<unsigned>(std::max(dual_.spans().most[r], 0));
        const int width = std::bit_width(most);
        if (used + width > 64) {
            tracked[r] = 0;
            continue;
        }
        shift_[r] = width == 0 ? 0 : used;
        mask_[r] = (std::uint64_t{1} << width) - 1;
        used += width;
    }
}

// Of states with the same counts only the best can lead to the best assignment.
void SpanSearch::keep_best_of_each(std::vector<std::int32_t>& states) const {
    if (states.size() < 2) return;
    std::sort(states.begin(), states.end(), [&](std::int32_t a, std::int32_t b) {
        const State &one = states_[a], &other = states_[b];
        return one.counts != other.counts ? one.counts < other.counts : one.value > other.value;
    });
    const auto same = [&](std::int32_t a, std::int32_t b) {
        return states_[a].counts == states_[b].counts;
    };
    states.erase(std::unique(states.begin(), states.end(), same), states.end());
}

SpanSearchEnd SpanSearch::run(const std::vector<double>& prices, std::vector<std::uint8_t>& tracked,
                              double floor, std::int64_t max_states) {
    const SpanProblem& problem = dual_.problem();
    const OpenSpans& open = dual_.spans();
    dual_.evaluate(prices);
    place_roles(tracked);
    value_ = kNegativeInfinity;
    best_ = {};
    const auto& rest = dual_.rest();
    const double least = floor - dual_.constant();
    const int n_tokens = problem.n_tokens;
    at_.resize(static_cast<std::size_t>(n_tokens) + 1);
    for (auto& states : at_) states.clear();
    states_.assign(1, State{0, 0.0, -1, {-1, -1}});
    if (rest[0] > least) at_[0].push_back(0);
    for (int t = 0; t < n_tokens; ++t) {
        keep_best_of_each(at_[t]);
        for (const auto index : at_[t]) {
            const State state = states_[index];
            if (state.value + rest[t + 1] > least) at_[t + 1].push_back(index);
            for (int i = problem.first[t]; i < problem.first[t + 1]; ++i) {
                // What a role has to bring for the rest to pass the floor.
                const double wanted = least - state.value - rest[problem.end[i]];
                if (dual_.best()[i] <= wanted) continue;
                const double* gains =
                    open.gains.data() + static_cast<std::size_t>(i) * problem.n_roles;
                for (int r = 0; r < problem.n_roles; ++r) {
                    const double gain = gains[r] - dual_.role_prices()[r];
                    if (gain <= wanted) continue;
                    const bool is_tracked = tracked[r] != 0;
                    if (is_tracked && count(state.counts, r) >= open.most[r]) continue;
                    const auto more = is_tracked ? std::uint64_t{1} << shift_[r] : 0;
                    at_[problem.end[i]].push_back(static_cast<std::int32_t>(states_.size()));
                    states_.push_back({state.counts + more, state.value + gain, index, {i, r}});
                }
            }
            if (std::ssize(states_) > max_states) {
                n_states_ += std::ssize(states_);
                return SpanSearchEnd::limit;
            }
        }
    }
    n_states_ += std::ssize(states_);
    finish(prices, tracked, floor);
    return SpanSearchEnd::proven;
}

void SpanSearch::counts_of(const State& state, std::vector<std::int32_t>& counts) const {
    counts = dual_.spans().counts;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        counts[r] += count(state.counts, static_cast<int>(r));
    }
}

// Replaces prices by costs, for the rules that are counted, and reads the best assignment.
void SpanSearch::finish(const std::vector<double>& prices, const std::vector<std::uint8_t>& tracked,
                        double floor) {
    const SpanRules& rules = dual_.problem().rules();
    std::vector<int> counted;
    for (int c = 0; c < rules.size(); ++c) {
        bool is_counted = true;
        for (auto k = rules.offsets[c]; k < rules.offsets[c + 1]; ++k) {
            is_counted = is_counted && tracked[rules.terms[k].role] != 0;
        }
        if (is_counted) counted.push_back(c);
    }
    auto& last = at_.back();
    keep_best_of_each(last);
    std::int32_t winner = -1;
    std::vector<std::int32_t> counts;
    value_ = floor;
    for (const auto index : last) {
        double value = states_[index].value + dual_.constant();
        if (value <= value_) continue;
        counts_of(states_[index], counts);
        for (const int c : counted) value -= rules.slack(c, prices[c], counts);
        if (value <= value_) continue;
        value_ = value;
        winner = index;
    }
    if (winner < 0) {
        value_ = kNegativeInfinity;
        return;
    }
    const OpenSpans& open = dual_.spans();
    best_.choices = open.taken;
    best_.counts = open.counts;
    double gain = open.gain;
    for (auto index = winner; states_[index].parent >= 0; index = states_[index].parent) {
        const SpanChoice& choice = states_[index].choice;
        best_.choices.push_back(choice);
        ++best_.counts[choice.role];
        gain += dual_.problem().gains_of(choice.interval)[choice.role];
    }
    best_.payoff = gain - rules.cost(best_.counts);
}

}  // namespace trelliswork
