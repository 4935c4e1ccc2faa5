// Readers of a finished forward pass: the best path, the k best, and samples.
//
// All walk from row T back to row 0 over the arcs into a state; C is Chart<S> or Chain<S>. A path
// is written as a label a token and a mark on the first token of each segment.
//
// Ties: the lowest final state wins, then, at every state going backwards, the first arc in the
// order (label, duration, source). On a chain that is the lowest label, last position first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <set>
#include <stdexcept>
#include <vector>

#include "automata/automaton.hpp"
#include "base/random.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

// A segment on the way into a state: its arc, its duration, and ⊗ of all that leads there.
struct Arrival {
    std::int64_t arc;
    int duration;
    double gain;   // w ⊗ φ
    double value;  // α ⊗ w ⊗ φ
};

// Calls visit(Arrival) for every way into state s of row t. The rows must be readable.
template <class C, class Visit>
void for_each_arrival(C& chart, std::int64_t t, std::int64_t s, Visit&& visit) {
    using S = typename C::Semiring;
    const Automaton& automaton = chart.automaton();
    const auto longest = static_cast<int>(std::min<std::int64_t>(chart.n_durations(), t));
    for (auto g = automaton.state_offsets[s]; g < automaton.state_offsets[s + 1]; ++g) {
        for (int d = 1; d <= longest; ++d) {
            const double phi = chart.emission(t, d, automaton.step_label[g]);
            if (phi == S::zero) continue;
            const auto& weight = chart.arc_weights(t - d);
            for (auto a = automaton.step_offsets[g]; a < automaton.step_offsets[g + 1]; ++a) {
                const double before = chart.alpha(t - d, automaton.source[a]);
                const double gain = S::times(weight[a], phi);
                const double value = S::times(before, gain);
                if (value != S::zero) visit(Arrival{a, d, gain, value});
            }
        }
    }
}

inline void write_segment(std::int64_t t, int duration, std::int32_t label, std::int32_t* labels,
                          std::uint8_t* begins) {
    std::fill_n(labels + t - duration, duration, label);
    begins[t - duration] = 1;
}

// Calls visit(t, Arrival) for every segment of the best path, last first; t is the row it ends in.
// Not at all where there is no path.
template <class C, class Visit>
void walk_best_path(C& chart, Visit&& visit) {
    auto t = chart.length();
    if (chart.log_total() == kNegativeInfinity) return;
    const Automaton& automaton = chart.automaton();
    chart.seek(t);
    std::int64_t state = 0;
    double best = kNegativeInfinity;
    for (std::int64_t s = 0; s < automaton.n_states; ++s) {
        const double value = chart.end_value(s);
        if (value > best) {
            best = value;
            state = s;
        }
    }
    while (t > 0) {
        chart.seek(t);
        Arrival last{-1, 1, 0.0, kNegativeInfinity};
        for_each_arrival(chart, t, state, [&](const Arrival& arrival) {
            if (arrival.value > last.value) last = arrival;
        });
        visit(t, last);
        t -= last.duration;
        state = automaton.source[last.arc];
    }
}

// labels (T,), begins (T,) zeroed by the caller; labels become −1 when there is no path.
template <class C>
void read_best_path(C& chart, std::int32_t* labels, std::uint8_t* begins) {
    if (chart.log_total() == kNegativeInfinity) std::fill_n(labels, chart.length(), -1);
    const auto& label = chart.automaton().label;
    walk_best_path(chart, [&](std::int64_t t, const Arrival& last) {
        write_segment(t, last.duration, label[last.arc], labels, begins);
    });
}

// Draws n paths from the distribution that the forward pass defines: at each state going backwards,
// an arrival with probability α ⊗ w ⊗ φ over their sum. labels (n, stride) and begins likewise.
template <class C>
void draw_paths(C& chart, RandomStream& random, std::int64_t n, std::int64_t stride,
                std::int32_t* labels, std::uint8_t* begins) {
    const auto length = chart.length();
    const Automaton& automaton = chart.automaton();
    if (chart.log_total() == kNegativeInfinity) {
        for (std::int64_t i = 0; i < n; ++i) std::fill_n(labels + i * stride, length, -1);
        return;
    }
    // Picks index i with probability value(i) / Σ value, out of n_options.
    std::vector<double> options;
    const auto pick = [&]() -> std::size_t {
        double sum = 0.0;
        for (const double x : options) sum += x;
        double left = random.uniform();
        std::size_t chosen = 0;
        for (std::size_t i = 0; i < options.size(); ++i) {
            const double p = options[i] / sum;
            if (p > 0.0) chosen = i;
            left -= p;
            if (left < 0.0) break;
        }
        return chosen;
    };
    struct Walker {
        std::int64_t t, state;
    };
    std::vector<Walker> walkers(static_cast<std::size_t>(n));
    chart.seek(length);
    for (auto& walker : walkers) {
        options.clear();
        for (std::int64_t s = 0; s < automaton.n_states; ++s) {
            options.push_back(chart.end_value(s));
        }
        walker = {length, static_cast<std::int64_t>(pick())};
    }
    std::vector<Arrival> arrivals;
    for (auto t = length; t > 0; --t) {
        chart.seek(t);
        for (std::int64_t i = 0; i < n; ++i) {
            auto& walker = walkers[static_cast<std::size_t>(i)];
            if (walker.t != t) continue;
            arrivals.clear();
            options.clear();
            for_each_arrival(chart, t, walker.state, [&](const Arrival& arrival) {
                arrivals.push_back(arrival);
                options.push_back(arrival.value);
            });
            if (arrivals.empty()) throw std::logic_error("sample: a reachable state has no way in");
            const Arrival& last = arrivals[pick()];
            write_segment(t, last.duration, automaton.label[last.arc], labels + i * stride,
                          begins + i * stride);
            walker = {t - last.duration, automaton.source[last.arc]};
        }
    }
}

// The k best distinct paths, best first, exactly: A* from the end, where α is the exact score of
// the best completion. A popped item is completed at once along best arrivals; every state passed
// leaves one item behind, its next-best arrival, so that a path costs T items at any number of
// arcs. Needs every row in memory. scores (k,); labels (k, stride), begins likewise. Returns how
// many.
template <class C>
std::int64_t read_best_paths(C& chart, std::int64_t k, std::int64_t stride, double* scores,
                             std::int32_t* labels, std::uint8_t* begins) {
    struct Item {
        double bound;   // score of the best path through this item
        double suffix;  // score of the path after row t
        std::int64_t t, state;
        std::int32_t rank;   // which arrival, 0 = best
        std::int32_t node;   // the path after row t
        std::int64_t order;  // first come, first served among equals
    };
    struct Node {
        std::int32_t label, duration, next;
    };
    const auto later = [](const Item& a, const Item& b) {
        return a.bound != b.bound ? a.bound < b.bound : a.order > b.order;
    };
    const Automaton& automaton = chart.automaton();
    std::priority_queue<Item, std::vector<Item>, decltype(later)> queue(later);
    std::vector<Node> nodes;
    std::set<std::vector<std::int32_t>> seen;
    std::vector<Arrival> arrivals;
    std::int64_t order = 0;
    const auto gather = [&](std::int64_t t, std::int64_t state) {
        arrivals.clear();
        for_each_arrival(chart, t, state,
                         [&](const Arrival& arrival) { arrivals.push_back(arrival); });
        std::stable_sort(arrivals.begin(), arrivals.end(),
                         [](const Arrival& a, const Arrival& b) { return a.value > b.value; });
    };
    for (std::int64_t s = 0; s < automaton.n_states; ++s) {
        const double last = chart.final_weight(s);
        const double bound = chart.alpha(chart.length(), s) + last;
        if (bound > kNegativeInfinity) {
            queue.push({bound, last, chart.length(), s, 0, -1, order++});
        }
    }
    std::int64_t found = 0;
    std::vector<std::int32_t> key;
    while (found < k && !queue.empty()) {
        Item item = queue.top();
        queue.pop();
        const double score = item.bound;
        while (item.t > 0) {
            gather(item.t, item.state);
            const auto rank = static_cast<std::size_t>(item.rank);
            if (rank + 1 < arrivals.size()) {
                Item sibling = item;
                sibling.rank += 1;
                sibling.bound = arrivals[rank + 1].value + item.suffix;
                sibling.order = order++;
                queue.push(sibling);
            }
            const Arrival& last = arrivals[rank];
            nodes.push_back({automaton.label[last.arc], last.duration, item.node});
            item = {0.0,
                    last.gain + item.suffix,
                    item.t - last.duration,
                    automaton.source[last.arc],
                    0,
                    static_cast<std::int32_t>(nodes.size() - 1),
                    0};
        }
        key.clear();
        for (auto node = item.node; node >= 0; node = nodes[node].next) {
            key.push_back(nodes[node].label);
            key.push_back(nodes[node].duration);
        }
        if (!seen.insert(key).second) continue;
        scores[found] = score;
        std::int64_t t = 0;
        for (auto node = item.node; node >= 0; node = nodes[node].next) {
            t += nodes[node].duration;
            write_segment(t, nodes[node].duration, nodes[node].label, labels + found * stride,
                          begins + found * stride);
        }
        ++found;
    }
    return found;
}

}  // namespace trelliswork
