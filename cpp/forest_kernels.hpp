// The inner loops over arcs that are shared along parents (forest.hpp), compiled once for each
// instruction set.
#pragma once

#include <cstdint>

namespace trelliswork {

// A state with children: its nodes and its children, both padded to multiples of kLanes.
struct Family {
    std::int32_t state;
    std::int32_t n_columns;   // vectors of nodes
    std::int32_t n_children;  // without padding
    std::int64_t first_node;
    std::int64_t first_child;  // into children and gamma
    std::int64_t node_masks;   // into masks: (children, n_columns) bytes, a bit a node
    std::int64_t child_masks;  // into masks: (8 n_columns, child vectors) bytes, a bit a child
};

// The arrays of a Forest, as raw pointers; see forest.hpp. S states, N nodes.
struct ForestView {
    std::int64_t n_states;
    std::int64_t n_families;
    const Family* families;        // children before parents
    const std::int32_t* children;  // states, −1: padding
    const std::uint8_t* masks;
    const std::int32_t* place;       // (S,) of a state among the children, −1: a root
    std::int64_t n_nodes;            // N
    std::int64_t first_single;       // nodes from here on belong to states without children
    const std::int32_t* node_state;  // (N,)
    const std::int32_t* node_port;   // (N,)
};

// Ports first … last, all of one label; `last` − `first` is a multiple of kLanes.
struct PortRun {
    std::int32_t first, last, label;
};

struct ForestKernels {
    // mass[n] = Σ of α over the states that take the arc of node n; pooled (S,) is scratch.
    void (*sum_masses)(const ForestView& forest, const double* alpha, double* pooled, double* mass);
    // The same with max.
    void (*best_masses)(const ForestView& forest, const double* alpha, double* pooled,
                        double* mass);
    // enter[port] = Σ over its nodes  w[n] mass[n]; enter (n_ports,) is cleared first.
    void (*sum_enter)(const ForestView& forest, std::int64_t n_ports, const double* weights,
                      const double* mass, double* enter);
    void (*best_enter)(const ForestView& forest, std::int64_t n_ports, const double* weights,
                       const double* mass, double* enter);
    // through[n] = w[n] ahead[port n];  β[s] = Σ over the arcs of s; gamma (children,) is scratch.
    void (*leave)(const ForestView& forest, const double* weights, const double* ahead,
                  double* through, double* gamma, double* beta);
    // sums[n] += mass[n] ahead[port n]
    void (*count)(const ForestView& forest, const double* mass, const double* ahead, double* sums);

    // Durations. out[p] = Σ_d enter_d[p] e[d, label(p)] over d = 1 … longest[label];
    // enter[d − 1] is the row of the segments that began d tokens ago, e (D, L).
    void (*enter_segments)(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                           const std::int32_t* longest, const double* const* enter, const double* e,
                           double* out);
    void (*best_segments)(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                          const std::int32_t* longest, const double* const* enter, const double* e,
                          double* out);
    // With v[p] the β of the state that port p leads to, times the rescaling of the row:
    //   pending_d[p] += e[d, y] v[p],   posterior[d, y] += e[d, y] Σ_p enter_d[p] v[p]
    void (*leave_segments)(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                           const std::int32_t* longest, const double* const* enter, const double* e,
                           const double* v, double* const* pending, double* posterior);
};

const ForestKernels& forest_kernels();

}  // namespace trelliswork
