// Arcs that states share with their parents, done once.
//
// In the automaton of label patterns a state is a context, its parent the longest proper suffix
// that is a state too. A label leads both to the same state, firing the same patterns, unless a
// pattern looks further back than the parent does: most arcs of a state are those of its parent
// (Takhanov and Kolmogorov, 2013). An arc that differs is a *node* of its state. The sum over arcs
// then follows the nodes, which are about as many as the patterns, and not states × labels:
//
//   pooled[s] = α[s] ⊕ (⊕ over children c of s  pooled[c])
//   mass[n]   = α[s] ⊕ (⊕ over children c of s without a node, or a gap, for the label  pooled[c])
//   enter[g]  = ⊕ over nodes n that lead to step g  w[n] ⊗ mass[n]
//
// for the nodes n of state s. Nothing is ever subtracted, so this holds in every semiring, and
// sums keep all their digits. A label for which a state has a node, or no arc at all, has a node in
// every parent above it that has such an arc: only so may `pooled` stand for a whole subtree.
#pragma once

#include <cstdint>
#include <vector>

#include "forest_kernels.hpp"

namespace trelliswork {

struct Automaton;

struct Forest {
    std::vector<Family> families;  // children before parents
    std::vector<std::int32_t> children;
    std::vector<std::uint8_t> masks;
    std::vector<std::int32_t> place;                  // (S,)
    std::vector<std::int32_t> node_state, node_port;  // (N,)
    std::int64_t first_single = 0;
    std::vector<PortRun> runs;  // the ports of each label

    Forest() = default;
    // Leaves the forest empty where it would save little: where two arcs of a state have one label,
    // or where most arcs are nodes. Otherwise ports and slots of the automaton's blocks are set: a
    // slot is a node, and the ports of one label lie side by side.
    explicit Forest(Automaton& automaton);

    bool empty() const { return node_state.empty(); }
    std::int64_t n_nodes() const { return static_cast<std::int64_t>(node_state.size()); }
    ForestView view() const {
        return {static_cast<std::int64_t>(place.size()),
                static_cast<std::int64_t>(families.size()),
                families.data(),
                children.data(),
                masks.data(),
                place.data(),
                n_nodes(),
                first_single,
                node_state.data(),
                node_port.data()};
    }

  private:
    void lay_ports(Automaton& automaton);
    void lay_nodes(Automaton& automaton, const std::vector<std::int64_t>& arc_of,
                   const std::vector<std::uint8_t>& is_node);
    void add_masks(const Automaton& automaton, const std::vector<std::int64_t>& arc_of,
                   const std::vector<std::uint8_t>& is_node, Family& family);
};

}  // namespace trelliswork
