#include "forest.hpp"

#include <algorithm>
#include <numeric>

#include "automaton.hpp"
#include "chain_kernels.hpp"

namespace trelliswork {

namespace {

// Beyond this share of nodes among the arcs the tables of blocks.hpp are faster.
constexpr double kMostNodes = 0.75;
constexpr std::int64_t kNoArc = -1;

// Whether two arcs lead to the same state, fire the same patterns and have the same guard.
bool agree(const Automaton& a, std::int64_t i, std::int64_t j) {
    const auto* ids = a.pattern_ids.data();
    return a.target[i] == a.target[j] && (a.guards.empty() || a.guards[i] == a.guards[j]) &&
           std::equal(ids + a.pattern_offsets[i], ids + a.pattern_offsets[i + 1],
                      ids + a.pattern_offsets[j], ids + a.pattern_offsets[j + 1]);
}

// The states, children before parents.
std::vector<std::int32_t> children_first(const Automaton& a) {
    std::vector<std::int32_t> depth(static_cast<std::size_t>(a.n_states), 0);
    for (std::size_t s = 0; s < depth.size(); ++s) {
        for (auto above = a.parents[s]; above >= 0; above = a.parents[above]) ++depth[s];
    }
    std::vector<std::int32_t> order(depth.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto s, auto t) { return depth[s] > depth[t]; });
    return order;
}

}  // namespace

Forest::Forest(Automaton& a) {
    if (a.parents.empty()) return;
    const auto n_labels = static_cast<std::size_t>(a.n_labels);
    const auto n_cells = static_cast<std::size_t>(a.n_states) * n_labels;
    std::vector<std::int64_t> arc_of(n_cells, kNoArc);  // (S, L)
    for (std::int64_t i = 0; i < a.n_arcs(); ++i) {
        auto& arc = arc_of[static_cast<std::size_t>(a.source[i]) * n_labels + a.label[i]];
        if (arc != kNoArc) return;
        arc = i;
    }
    std::vector<std::uint8_t> is_node(n_cells, 0);
    std::int64_t n_own = 0;
    for (const auto s : children_first(a)) {
        const auto above = a.parents[s];
        for (std::size_t y = 0; y < n_labels; ++y) {
            const auto cell = static_cast<std::size_t>(s) * n_labels + y;
            const auto arc = arc_of[cell];
            const auto parent = static_cast<std::size_t>(std::max(above, 0)) * n_labels + y;
            const auto shared = above < 0 ? kNoArc : arc_of[parent];
            if (arc != kNoArc && (shared == kNoArc || !agree(a, arc, shared))) is_node[cell] = 1;
            // A state that differs from its parent may not hide in what the parent shares above.
            if (shared != kNoArc && (is_node[cell] || arc == kNoArc)) is_node[parent] = 1;
            n_own += is_node[cell];
        }
    }
    if (static_cast<double>(n_own) > kMostNodes * static_cast<double>(a.n_arcs())) return;
    lay_ports(a);
    lay_nodes(a, arc_of, is_node);
}

void Forest::lay_ports(Automaton& a) {
    std::vector<std::size_t> steps(static_cast<std::size_t>(a.n_steps()));
    std::iota(steps.begin(), steps.end(), 0);
    std::stable_sort(steps.begin(), steps.end(),
                     [&](auto g, auto h) { return a.step_label[g] < a.step_label[h]; });
    a.blocks.port.resize(steps.size());
    std::int32_t n_ports = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto label = a.step_label[steps[i]];
        if (i == 0 || label != a.step_label[steps[i - 1]]) {
            n_ports = padded(n_ports);
            runs.push_back({n_ports, n_ports, label});
        }
        a.blocks.port[steps[i]] = n_ports++;
        runs.back().last = padded(n_ports);
    }
    a.blocks.n_ports = padded(n_ports);
}

void Forest::lay_nodes(Automaton& a, const std::vector<std::int64_t>& arc_of,
                       const std::vector<std::uint8_t>& is_node) {
    const auto n_labels = static_cast<std::size_t>(a.n_labels);
    std::vector<std::int64_t> step_of(static_cast<std::size_t>(a.n_arcs()));
    for (std::int64_t g = 0; g < a.n_steps(); ++g) {
        std::fill(step_of.begin() + a.step_offsets[g], step_of.begin() + a.step_offsets[g + 1], g);
    }
    std::vector<std::vector<std::int32_t>> of_parent(static_cast<std::size_t>(a.n_states));
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        if (a.parents[s] >= 0) of_parent[a.parents[s]].push_back(s);
    }
    auto& slot_arc = a.blocks.slot_arc;
    std::vector<std::int64_t> node_of(arc_of.size(), -1);  // (S, L)
    const auto add_nodes = [&](std::int32_t s) {
        for (std::size_t y = 0; y < n_labels; ++y) {
            const auto cell = static_cast<std::size_t>(s) * n_labels + y;
            if (!is_node[cell]) continue;
            node_of[cell] = n_nodes();
            node_state.push_back(s);
            node_port.push_back(a.blocks.port[step_of[arc_of[cell]]]);
            slot_arc.push_back(arc_of[cell]);
        }
    };
    place.assign(static_cast<std::size_t>(a.n_states), -1);
    const auto order = children_first(a);
    slot_arc.clear();
    for (const auto s : order) {
        const auto& below = of_parent[s];
        if (below.empty()) continue;
        Family family{};
        family.state = s;
        family.first_node = n_nodes();
        add_nodes(s);
        while (n_nodes() % kLanes != 0) {  // padding: nothing enters or leaves by it
            node_state.push_back(s);
            node_port.push_back(static_cast<std::int32_t>(a.blocks.n_ports));
            slot_arc.push_back(-1);
        }
        family.n_columns = static_cast<std::int32_t>((n_nodes() - family.first_node) / kLanes);
        family.n_children = static_cast<std::int32_t>(below.size());
        family.first_child = static_cast<std::int64_t>(children.size());
        for (const auto child : below) {
            place[child] = static_cast<std::int32_t>(children.size());
            children.push_back(child);
        }
        children.resize(static_cast<std::size_t>(family.first_child + padded(family.n_children)),
                        -1);
        add_masks(a, arc_of, is_node, family);
        families.push_back(family);
    }
    first_single = n_nodes();
    for (const auto s : order) {
        if (of_parent[s].empty()) add_nodes(s);
    }
    a.blocks.n_slots = n_nodes();
    a.blocks.slot.resize(static_cast<std::size_t>(a.n_arcs()));
    for (std::int64_t i = 0; i < a.n_arcs(); ++i) {
        auto s = a.source[i];
        const auto cell = [&] { return static_cast<std::size_t>(s) * n_labels + a.label[i]; };
        while (!is_node[cell()]) s = a.parents[s];
        a.blocks.slot[i] = node_of[cell()];
    }
}

// Bits of the children that share a node with their parent: by child, and by node.
void Forest::add_masks(const Automaton& a, const std::vector<std::int64_t>& arc_of,
                       const std::vector<std::uint8_t>& is_node, Family& family) {
    const auto n_labels = static_cast<std::size_t>(a.n_labels);
    const auto n_columns = static_cast<std::size_t>(family.n_columns);
    const auto n_children = static_cast<std::size_t>(family.n_children);
    const auto n_vectors = static_cast<std::size_t>(padded(family.n_children) / kLanes);
    family.node_masks = static_cast<std::int64_t>(masks.size());
    family.child_masks = family.node_masks + static_cast<std::int64_t>(n_children * n_columns);
    masks.resize(static_cast<std::size_t>(family.child_masks) + n_columns * kLanes * n_vectors, 0);
    std::uint8_t* by_child = masks.data() + family.node_masks;
    std::uint8_t* by_node = masks.data() + family.child_masks;
    for (std::size_t n = 0; n < n_columns * kLanes; ++n) {
        const auto arc = a.blocks.slot_arc[static_cast<std::size_t>(family.first_node) + n];
        if (arc < 0) continue;
        for (std::size_t c = 0; c < n_children; ++c) {
            const auto child = static_cast<std::size_t>(
                children[static_cast<std::size_t>(family.first_child) + c]);
            const auto cell = child * n_labels + static_cast<std::size_t>(a.label[arc]);
            if (arc_of[cell] == kNoArc || is_node[cell]) continue;
            by_child[c * n_columns + n / kLanes] |= static_cast<std::uint8_t>(1U << n % kLanes);
            by_node[n * n_vectors + c / kLanes] |= static_cast<std::uint8_t>(1U << c % kLanes);
        }
    }
}

}  // namespace trelliswork
