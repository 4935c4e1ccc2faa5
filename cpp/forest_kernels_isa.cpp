// Compiled several times, with TRELLISWORK_ISA naming the instruction set. Only plain loops over
// raw pointers and vector types: nothing here may be shared with code compiled for another set.
#include <cstdint>

#include "forest_kernels.hpp"
#include "lanes_isa.hpp"
#include "row_sums_isa.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

// A byte as eight numbers, `set` where its bit is one: 16 KB, which stay in the nearest cache.
struct Expansion {
    alignas(64) double lanes[256][kLanes];

    constexpr Expansion(double set, double clear) : lanes{} {
        for (int byte = 0; byte < 256; ++byte) {
            for (int k = 0; k < kLanes; ++k) lanes[byte][k] = (byte >> k & 1) != 0 ? set : clear;
        }
    }
    Vec operator[](std::uint8_t byte) const { return load(lanes[byte]); }
};

constexpr Expansion kOneOrZero(1.0, 0.0);
constexpr Expansion kZeroOrNothing(0.0, -__builtin_inf());

// mass over the nodes of one family, V vectors of them from column `first` on.
template <int V>
inline void sum_family(const Family& family, const std::int32_t* children,
                       const std::uint8_t* masks, int first, double own, const double* pooled,
                       double* mass) {
    Vec sums[V];
    for (int v = 0; v < V; ++v) sums[v] = Vec{} + own;
    for (int c = 0; c < family.n_children; ++c) {
        const double below = pooled[children[c]];
        const std::uint8_t* row = masks + std::int64_t{c} * family.n_columns + first;
        for (int v = 0; v < V; ++v) sums[v] += below * kOneOrZero[row[v]];
    }
    for (int v = 0; v < V; ++v) store(mass + (first + v) * kLanes, sums[v]);
}

template <int V>
inline void best_family(const Family& family, const std::int32_t* children,
                        const std::uint8_t* masks, int first, double own, const double* pooled,
                        double* mass) {
    Vec best[V];
    for (int v = 0; v < V; ++v) best[v] = Vec{} + own;
    for (int c = 0; c < family.n_children; ++c) {
        const double below = pooled[children[c]];
        const std::uint8_t* row = masks + std::int64_t{c} * family.n_columns + first;
        for (int v = 0; v < V; ++v) best[v] = larger(best[v], below + kZeroOrNothing[row[v]]);
    }
    for (int v = 0; v < V; ++v) store(mass + (first + v) * kLanes, best[v]);
}

void sum_masses(const ForestView& forest, const double* __restrict alpha, double* __restrict pooled,
                double* __restrict mass) {
    for (std::int64_t s = 0; s < forest.n_states; ++s) pooled[s] = alpha[s];
    for (std::int64_t f = 0; f < forest.n_families; ++f) {
        const Family& family = forest.families[f];
        const std::int32_t* children = forest.children + family.first_child;
        const double own = alpha[family.state];
        over_columns(family.n_columns * kLanes, [&]<int V>(int n) {
            sum_family<V>(family, children, forest.masks + family.node_masks, n / kLanes, own,
                          pooled, mass + family.first_node);
        });
        double all = own;
        for (int c = 0; c < family.n_children; ++c) all += pooled[children[c]];
        pooled[family.state] = all;
    }
    for (auto n = forest.first_single; n < forest.n_nodes; ++n) {
        mass[n] = alpha[forest.node_state[n]];
    }
}

void best_masses(const ForestView& forest, const double* __restrict alpha,
                 double* __restrict pooled, double* __restrict mass) {
    for (std::int64_t s = 0; s < forest.n_states; ++s) pooled[s] = alpha[s];
    for (std::int64_t f = 0; f < forest.n_families; ++f) {
        const Family& family = forest.families[f];
        const std::int32_t* children = forest.children + family.first_child;
        const double own = alpha[family.state];
        over_columns(family.n_columns * kLanes, [&]<int V>(int n) {
            best_family<V>(family, children, forest.masks + family.node_masks, n / kLanes, own,
                           pooled, mass + family.first_node);
        });
        double best = own;
        for (int c = 0; c < family.n_children; ++c) {
            const double below = pooled[children[c]];
            best = below > best ? below : best;
        }
        pooled[family.state] = best;
    }
    for (auto n = forest.first_single; n < forest.n_nodes; ++n) {
        mass[n] = alpha[forest.node_state[n]];
    }
}

void sum_enter(const ForestView& forest, std::int64_t n_ports, const double* __restrict weights,
               const double* __restrict mass, double* __restrict enter) {
    for (std::int64_t p = 0; p < n_ports; ++p) enter[p] = 0.0;
    for (std::int64_t n = 0; n < forest.n_nodes; ++n) {
        enter[forest.node_port[n]] += weights[n] * mass[n];
    }
}

void best_enter(const ForestView& forest, std::int64_t n_ports, const double* __restrict weights,
                const double* __restrict mass, double* __restrict enter) {
    for (std::int64_t p = 0; p < n_ports; ++p) enter[p] = -__builtin_inf();
    for (std::int64_t n = 0; n < forest.n_nodes; ++n) {
        const double value = weights[n] + mass[n];
        double& best = enter[forest.node_port[n]];
        best = value > best ? value : best;
    }
}

void leave(const ForestView& forest, const double* __restrict weights,
           const double* __restrict ahead, double* __restrict through, double* __restrict gamma,
           double* __restrict beta) {
    for (std::int64_t n = 0; n < forest.n_nodes; ++n) {
        through[n] = weights[n] * ahead[forest.node_port[n]];
    }
    // Parents before children: what a state shares with its parent is known by then.
    for (auto f = forest.n_families; f-- > 0;) {
        const Family& family = forest.families[f];
        const double* own = through + family.first_node;
        const int n_nodes = family.n_columns * kLanes;
        const auto place = forest.place[family.state];
        const double shared = place < 0 ? 0.0 : gamma[place];
        const int n_vectors = padded(family.n_children) / kLanes;
        const std::uint8_t* masks = forest.masks + family.child_masks;
        double* below = gamma + family.first_child;
        over_columns(n_vectors * kLanes, [&]<int V>(int c) {
            Vec sums[V];
            for (int v = 0; v < V; ++v) sums[v] = Vec{} + shared;
            const std::uint8_t* column = masks + c / kLanes;
            for (int n = 0; n < n_nodes; ++n, column += n_vectors) {
                const double x = own[n];
                for (int v = 0; v < V; ++v) sums[v] += x * kOneOrZero[column[v]];
            }
            for (int v = 0; v < V; ++v) store(below + c + kLanes * v, sums[v]);
        });
        double total = shared;
        for (int n = 0; n < n_nodes; ++n) total += own[n];
        beta[family.state] = total;
        // Children with children of their own are written again when their turn comes.
        for (int c = 0; c < family.n_children; ++c) {
            beta[forest.children[family.first_child + c]] = below[c];
        }
    }
    for (auto n = forest.first_single; n < forest.n_nodes; ++n) {
        beta[forest.node_state[n]] += through[n];
    }
}

void count(const ForestView& forest, const double* __restrict mass, const double* __restrict ahead,
           double* __restrict sums) {
    for (std::int64_t n = 0; n < forest.n_nodes; ++n) {
        sums[n] += mass[n] * ahead[forest.node_port[n]];
    }
}

// Calls piece<V>(run, first port) over the ports of every run.
template <class Piece>
inline void over_runs(std::int64_t n_runs, const PortRun* runs, Piece&& piece) {
    for (std::int64_t r = 0; r < n_runs; ++r) {
        const PortRun& run = runs[r];
        over_columns(run.last - run.first,
                     [&]<int V>(int p) { piece.template operator()<V>(run, run.first + p); });
    }
}

void enter_segments(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                    const std::int32_t* longest, const double* const* enter,
                    const double* __restrict e, double* __restrict out) {
    over_runs(n_runs, runs, [&]<int V>(const PortRun& run, int first) {
        Vec sums[V] = {};
        const int last = longest[run.label] < n_durations ? longest[run.label] : n_durations;
        for (int d = 0; d < last; ++d) {
            const double gain = e[d * n_labels + run.label];
            for (int v = 0; v < V; ++v) sums[v] += gain * load(enter[d] + first + kLanes * v);
        }
        for (int v = 0; v < V; ++v) store(out + first + kLanes * v, sums[v]);
    });
}

void best_segments(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                   const std::int32_t* longest, const double* const* enter,
                   const double* __restrict e, double* __restrict out) {
    over_runs(n_runs, runs, [&]<int V>(const PortRun& run, int first) {
        Vec best[V];
        for (int v = 0; v < V; ++v) best[v] = Vec{} - __builtin_inf();
        const int last = longest[run.label] < n_durations ? longest[run.label] : n_durations;
        for (int d = 0; d < last; ++d) {
            const double gain = e[d * n_labels + run.label];
            for (int v = 0; v < V; ++v) {
                best[v] = larger(best[v], gain + load(enter[d] + first + kLanes * v));
            }
        }
        for (int v = 0; v < V; ++v) store(out + first + kLanes * v, best[v]);
    });
}

void leave_segments(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                    const std::int32_t* longest, const double* const* enter,
                    const double* __restrict e, const double* __restrict v, double* const* pending,
                    double* __restrict posterior) {
    over_runs(n_runs, runs, [&]<int V>(const PortRun& run, int first) {
        Vec after[V];
        for (int k = 0; k < V; ++k) after[k] = load(v + first + kLanes * k);
        const int last = longest[run.label] < n_durations ? longest[run.label] : n_durations;
        for (int d = 0; d < last; ++d) {
            const double gain = e[d * n_labels + run.label];
            if (gain == 0.0) continue;
            Vec dot = {};
            double* into = pending[d] + first;
            for (int k = 0; k < V; ++k) {
                dot += after[k] * load(enter[d] + first + kLanes * k);
                store(into + kLanes * k, load(into + kLanes * k) + gain * after[k]);
            }
            double total = 0.0;
            for (int k = 0; k < kLanes; ++k) total += dot[k];
            posterior[d * n_labels + run.label] += gain * total;
        }
    });
}

}  // namespace

extern const ForestKernels forest_kernels;
const ForestKernels forest_kernels = {sum_masses,     best_masses,   sum_enter,
                                      best_enter,     leave,         count,
                                      enter_segments, best_segments, leave_segments};

}  // namespace trelliswork::TRELLISWORK_ISA
