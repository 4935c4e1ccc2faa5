// Arcs that states share with their parents, done once.
//
// In the automaton of label patterns a state is a context, its parent the longest proper suffix
// that is a state too. A label leads both to the same state, firing the same patterns, unless a
// pattern looks further back than the parent does: most arcs of a state are those of its parent
// (Takhanov and Kolmogorov, 2013). An arc that differs from the parent's is a *node* of its state.
// The sum over arcs then follows the nodes, and not states × labels:
//
//   pooled[s] = α[s] ⊕ (⊕ over children c of s  pooled[c])
//   sum[n]    = w[n] ⊗ α[s] ⊕ (⊕ over children c of s that take the arc of n  w[n] ⊗ pooled[c])
//   enter[g]  = ⊕ over nodes n that lead to step g  sum[n]
//
// for the nodes n of state s. A state without children whose arc differs from its parent's in
// weight alone needs no node: its row of the parent's table has a weight of its own there (roots
// excepted, so that a table has one weight a node for patterns as short as transitions). The table
// of a state, its own row and those of its children by its nodes, is a block of blocks.hpp.
//
// Nothing is ever subtracted, so this holds in every semiring, and sums keep all their digits. A
// label for which a state has a node, or no arc at all, has a node in every parent above it that
// has such an arc: only so may `pooled` stand for a whole subtree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "simd/segment_kernels.hpp"

namespace trelliswork {

struct Automaton;

struct Forest {
    // A sum of the blocks, the port that it goes to, and the arc of the state itself.
    struct Node {
        std::int32_t sum, port;
        std::int64_t arc;
    };

    // A port for every step, those of one label side by side; also where the forest is empty.
    std::int64_t n_ports = 0;
    std::vector<std::int32_t> port;  // (G,)
    std::vector<PortRun> runs;       // the ports of each label

    std::int64_t n_states = 0;
    std::vector<Node> nodes;
    std::vector<std::int32_t> inner;          // states with children, these first
    std::vector<std::int64_t> child_offsets;  // (inner + 1,) into children
    std::vector<std::int32_t> children;
    std::vector<std::int32_t> down, above;  // states with parents, parents first

    Forest() = default;
    // Leaves the forest empty where it would save little: where few states have parents, two arcs
    // of a state have one label, or most arcs are nodes. Otherwise the automaton's blocks are set:
    // their sources are the states and then their pools, 2S in all, and its ports are those of the
    // forest.
    explicit Forest(Automaton& automaton);

    bool empty() const { return nodes.empty(); }

    // sources (2S,): α, then `pooled`, which is filled in.
    template <class S>
    void pool(double* sources) const {
        double* pooled = sources + n_states;
        std::copy_n(sources, n_states, pooled);
        for (std::size_t i = 0; i < inner.size(); ++i) {
            typename S::Sum even, odd;  // two, so that one addition need not wait for the other
            even.add(sources[inner[i]]);
            auto k = child_offsets[i];
            for (; k + 1 < child_offsets[i + 1]; k += 2) {
                even.add(pooled[children[k]]);
                odd.add(pooled[children[k + 1]]);
            }
            if (k < child_offsets[i + 1]) even.add(pooled[children[k]]);
            odd.add(even.value());
            pooled[inner[i]] = odd.value();
        }
    }

    // enter (ports + 1,) from the sums of the blocks.
    template <class S>
    void enter(const double* sums, double* enter) const {
        for (std::int64_t p = 0; p <= n_ports; ++p) enter[p] = S::zero;
        for (const auto& node : nodes) {
            typename S::Sum sum{enter[node.port]};
            sum.add(sums[node.sum]);
            enter[node.port] = sum.value();
        }
    }

    // β (S,) from that of the sources (2S,): an arc to a pool goes to all states below it.
    void spread(double* sources, double* beta) const {
        double* pooled = sources + n_states;
        for (std::size_t i = 0; i < down.size(); ++i) pooled[down[i]] += pooled[above[i]];
        for (std::int64_t s = 0; s < n_states; ++s) beta[s] = sources[s] + pooled[s];
    }

    // Weights of single tokens, where they touch the first patterns only, are the same for all rows
    // of a table: a factor a node. This holds below this pattern.
    std::int32_t first_varying = std::numeric_limits<std::int32_t>::max();

  private:
    struct Arcs;

    void lay_ports(const Automaton& automaton);
    void lay_families(Automaton& automaton, const Arcs& arcs);
    void add_table(Automaton& automaton, const Arcs& arcs, std::int32_t state);
    void add_block(Automaton& automaton, const Arcs& arcs, const std::vector<std::int32_t>& rows,
                   const std::vector<std::size_t>& labels);
    void add_node(const Automaton& automaton, std::int64_t sum, std::int64_t arc);
    void set_slot(Automaton& automaton, std::int64_t place, std::int64_t arc, std::int64_t own);
};

}  // namespace trelliswork
