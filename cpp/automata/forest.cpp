#include "automata/forest.hpp"

#include <algorithm>
#include <numeric>

#include "automata/automaton.hpp"
#include "simd/chain_kernels.hpp"

namespace trelliswork {

namespace {

constexpr std::int64_t kNoArc = -1;
// Cells of the tables, an arc: beyond, the tables of blocks.hpp are faster.
constexpr std::int64_t kMostWork = 4;

bool same_patterns(const Automaton& a, std::int64_t i, std::int64_t j) {
    const auto* ids = a.pattern_ids.data();
    return std::equal(ids + a.pattern_offsets[i], ids + a.pattern_offsets[i + 1],
                      ids + a.pattern_offsets[j], ids + a.pattern_offsets[j + 1]);
}

// Whether two arcs lead to the same state, fire the same patterns and have the same guard.
bool agree(const Automaton& a, std::int64_t i, std::int64_t j) {
    return a.target[i] == a.target[j] && (a.guards.empty() || a.guards[i] == a.guards[j]) &&
           same_patterns(a, i, j);
}

// The least pattern that one of two arcs fires and the other does not.
std::int32_t first_difference(const Automaton& a, std::int64_t i, std::int64_t j) {
    const auto sorted = [&](std::int64_t arc) {
        std::vector<std::int32_t> ids(a.pattern_ids.begin() + a.pattern_offsets[arc],
                                      a.pattern_ids.begin() + a.pattern_offsets[arc + 1]);
        std::sort(ids.begin(), ids.end());
        return ids;
    };
    const auto mine = sorted(i);
    const auto other = sorted(j);
    const auto [p, q] = std::mismatch(mine.begin(), mine.end(), other.begin(), other.end());
    auto least = std::numeric_limits<std::int32_t>::max();
    if (p != mine.end()) least = std::min(least, *p);
    if (q != other.end()) least = std::min(least, *q);
    return least;
}

}  // namespace

// The arcs of an automaton by (state, label), and which of them are nodes.
struct Forest::Arcs {
    explicit Arcs(const Automaton& automaton)
        : a(automaton),
          n_labels(static_cast<std::size_t>(a.n_labels)),
          arc_of(static_cast<std::size_t>(a.n_states) * n_labels, kNoArc),
          is_node(arc_of.size(), 0),
          children(static_cast<std::size_t>(a.n_states)) {
        for (std::int64_t i = 0; i < a.n_arcs(); ++i) {
            auto& arc = arc_of[cell(a.source[i], a.label[i])];
            deterministic &= arc == kNoArc;
            arc = i;
        }
        std::vector<std::int32_t> depth(children.size(), 0);
        for (std::int32_t s = 0; s < a.n_states; ++s) {
            if (a.parents[s] >= 0) children[a.parents[s]].push_back(s);
            for (auto above = a.parents[s]; above >= 0; above = a.parents[above]) ++depth[s];
        }
        order.resize(children.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](auto s, auto t) { return depth[s] > depth[t]; });
    }

    std::size_t cell(std::int32_t state, std::size_t label) const {
        return static_cast<std::size_t>(state) * n_labels + label;
    }

    // The arc that state s takes by label y in the table of its parent, or of its own where it is
    // `p` itself; kNoArc: none.
    std::int64_t entry(std::int32_t p, std::int32_t s, std::size_t y) const {
        const auto own = arc_of[cell(s, y)];
        return s != p && (own == kNoArc || is_node[cell(s, y)]) ? kNoArc : own;
    }

    void find_nodes() {
        for (const auto s : order) {
            for (std::size_t y = 0; y < n_labels; ++y) {
                const auto arc = arc_of[cell(s, y)];
                const auto above = a.parents[s];
                const auto shared = above < 0 ? kNoArc : arc_of[cell(above, y)];
                const bool differs = arc != kNoArc && (shared == kNoArc || !agree(a, arc, shared));
                const bool merges = differs && shared != kNoArc && children[s].empty() &&
                                    a.parents[above] >= 0 && a.target[arc] == a.target[shared];
                auto& node = is_node[cell(s, y)];
                if (differs && !merges) node = 1;
                // A state that differs from its parent may not hide in the parent's pool.
                if (shared != kNoArc && (node || differs || arc == kNoArc)) {
                    is_node[cell(above, y)] = 1;
                }
            }
        }
    }

    const Automaton& a;
    std::size_t n_labels;
    std::vector<std::int64_t> arc_of;                 // (S, L)
    std::vector<std::uint8_t> is_node;                // (S, L)
    std::vector<std::vector<std::int32_t>> children;  // (S,)
    std::vector<std::int32_t> order;                  // the states, children before parents
    bool deterministic = true;
};

Forest::Forest(Automaton& a) {
    lay_ports(a);
    const auto n_children =
        std::count_if(a.parents.begin(), a.parents.end(), [](auto parent) { return parent >= 0; });
    if (2 * n_children < a.n_states) return;
    Arcs arcs(a);
    if (!arcs.deterministic) return;
    arcs.find_nodes();
    std::int64_t work = 0;
    for (const auto s : arcs.order) {
        const auto* first = arcs.is_node.data() + arcs.cell(s, 0);
        const auto n_nodes = static_cast<int>(std::count(first, first + a.n_labels, 1));
        work += (1 + std::ssize(arcs.children[s])) * padded(n_nodes);
    }
    if (work > kMostWork * a.n_arcs()) return;
    n_states = a.n_states;
    a.step_port = port;
    lay_families(a, arcs);
}

void Forest::lay_ports(const Automaton& a) {
    std::vector<std::size_t> steps(static_cast<std::size_t>(a.n_steps()));
    std::iota(steps.begin(), steps.end(), 0);
    std::stable_sort(steps.begin(), steps.end(),
                     [&](auto g, auto h) { return a.step_label[g] < a.step_label[h]; });
    port.resize(steps.size());
    std::int32_t next = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto label = a.step_label[steps[i]];
        if (i == 0 || label != a.step_label[steps[i - 1]]) {
            next = padded(next);
            runs.push_back({next, next, label});
        }
        port[steps[i]] = next++;
        runs.back().last = padded(next);
    }
    n_ports = padded(next);
}

void Forest::lay_families(Automaton& a, const Arcs& arcs) {
    auto& slot = a.blocks.slot;
    slot.assign(static_cast<std::size_t>(a.n_arcs()), -1);
    child_offsets.push_back(0);
    for (const auto s : arcs.order) {
        add_table(a, arcs, s);
        const auto& below = arcs.children[s];
        if (below.empty()) continue;
        inner.push_back(s);
        children.insert(children.end(), below.begin(), below.end());
        child_offsets.push_back(std::ssize(children));
    }
    for (auto s = arcs.order.rbegin(); s != arcs.order.rend(); ++s) {
        if (a.parents[*s] < 0) continue;
        down.push_back(*s);
        above.push_back(a.parents[*s]);
    }
    // An arc that is nobody's own has the weight of the parent's.
    for (auto s = arcs.order.rbegin(); s != arcs.order.rend(); ++s) {
        for (std::size_t y = 0; y < arcs.n_labels; ++y) {
            const auto arc = arcs.arc_of[arcs.cell(*s, y)];
            if (arc != kNoArc && slot[arc] < 0) {
                slot[arc] = slot[arcs.arc_of[arcs.cell(a.parents[*s], y)]];
            }
        }
    }
}

// The table of one state: rows are the state itself and its children, columns its nodes.
void Forest::add_table(Automaton& a, const Arcs& arcs, std::int32_t state) {
    std::vector<std::size_t> labels;
    for (std::size_t y = 0; y < arcs.n_labels; ++y) {
        if (arcs.is_node[arcs.cell(state, y)]) labels.push_back(y);
    }
    if (labels.empty()) return;
    std::vector<std::int32_t> rows{state};
    for (const auto child : arcs.children[state]) {
        const bool takes_part = std::any_of(labels.begin(), labels.end(), [&](auto y) {
            return arcs.entry(state, child, y) != kNoArc;
        });
        if (takes_part) rows.push_back(child);
    }
    add_block(a, arcs, rows, labels);
}

void Forest::add_node(const Automaton& a, std::int64_t sum, std::int64_t arc) {
    const auto step = std::upper_bound(a.step_offsets.begin(), a.step_offsets.end(), arc) -
                      a.step_offsets.begin() - 1;
    nodes.push_back({static_cast<std::int32_t>(sum), a.step_port[step], arc});
}

// Notes that a slot holds the weight of an arc, in the column of the arc `own`.
void Forest::set_slot(Automaton& a, std::int64_t place, std::int64_t arc, std::int64_t own) {
    a.blocks.slot_arc[place] = arc;
    a.blocks.slot[arc] = place;
    first_varying = std::min(first_varying, first_difference(a, arc, own));
}

void Forest::add_block(Automaton& a, const Arcs& arcs, const std::vector<std::int32_t>& rows,
                       const std::vector<std::size_t>& labels) {
    auto& blocks = a.blocks;
    Block block{};
    block.first_source = std::ssize(blocks.sources);
    block.first_port = blocks.n_ports;
    block.table = blocks.n_slots;
    block.transposed = blocks.n_transposed;
    block.n_sources = static_cast<std::int32_t>(rows.size());
    block.stride = padded(static_cast<int>(labels.size()));
    block.padded_rows = padded(block.n_sources);
    block.first_column = std::ssize(blocks.columns);
    block.n_columns = static_cast<std::int32_t>(labels.size());
    const auto n_cells = static_cast<std::size_t>(block.n_sources) * block.stride;
    blocks.slot_arc.resize(blocks.slot_arc.size() + n_cells, kNoArc);
    blocks.transpose.resize(blocks.slot_arc.size(), -1);
    for (std::size_t k = 0; k < labels.size(); ++k) {
        const auto column = static_cast<std::int32_t>(k);
        blocks.columns.push_back(column);
        add_node(a, blocks.n_ports + column, arcs.arc_of[arcs.cell(rows.front(), labels[k])]);
    }
    for (std::size_t m = 0; m < rows.size(); ++m) {
        const auto row = static_cast<std::int32_t>(m);
        blocks.sources.push_back(m == 0 ? rows[m] : a.n_states + rows[m]);
        blocks.row_numbers.push_back(row);
        blocks.rows.push_back(row * block.stride);
        for (std::size_t k = 0; k < labels.size(); ++k) {
            const auto arc = arcs.entry(rows.front(), rows[m], labels[k]);
            if (arc == kNoArc) continue;
            const auto column = static_cast<std::int64_t>(k);
            const auto place = block.table + std::int64_t{row} * block.stride + column;
            set_slot(a, place, arc, arcs.arc_of[arcs.cell(rows.front(), labels[k])]);
            blocks.transpose[place] = block.transposed + column * block.padded_rows + row;
        }
    }
    blocks.most_rows = std::max(blocks.most_rows, block.padded_rows);
    blocks.n_ports += block.stride;
    blocks.n_slots += static_cast<std::int64_t>(n_cells);
    blocks.n_transposed += std::int64_t{block.padded_rows} * block.stride;
    blocks.wide.push_back(block);
}

}  // namespace trelliswork
