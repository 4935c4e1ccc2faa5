// The arc list that every model and every constraint compiles to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "automata/blocks.hpp"
#include "automata/forest.hpp"

namespace trelliswork {

// A weighted automaton over labels, as flat arrays. S states, A arcs, G steps, P patterns.
//
// Arcs are sorted by (target, label, source). A *step* is a run of arcs that agree in target and
// label: the score of a segment is added once a step, not once an arc.
// An arc fires the patterns whose weights it collects (a transition y′→y is a pattern of length 2).
struct Automaton {
    int n_states = 0;
    int n_labels = 0;
    int n_patterns = 0;
    std::vector<std::int32_t> source, label, target;  // (A,)
    std::vector<std::int64_t> pattern_offsets;        // (A + 1,) into pattern_ids
    std::vector<std::int32_t> pattern_ids;            // patterns fired by each arc
    std::vector<double> initial, final;               // (S,) log weights, −inf = not allowed
    // Arc a may begin a segment only at tokens whose class c has bit c of guards[a] set; empty: at
    // every token. This is how a constraint reads the input.
    std::vector<std::uint64_t> guards;  // (A,) or empty
    int n_classes = 1;
    // States of one context fire the same patterns by the same label; empty: nothing is known. The
    // context of a product's state is its state in the model.
    std::vector<std::int32_t> contexts;  // (S,) or empty
    // The state whose arcs those of a state mostly agree with, −1: none; empty: nothing is known.
    // In the automaton of label patterns: the longest proper suffix (the failure link).
    std::vector<std::int32_t> parents;                  // (S,) or empty
    std::vector<std::int32_t> step_label, step_target;  // (G,)
    std::vector<std::int64_t> step_offsets;             // (G + 1,) into the arcs
    std::vector<std::int64_t> state_offsets;            // (S + 1,) into the steps, by target
    std::vector<std::int32_t> step_port;                // (G,) where the sum of a step is kept
    std::int64_t n_ports = 0;
    // Every state is entered by one step only, as in a chain. Its port and label: those of a state
    // that nothing enters are the port after the last, where every sum is zero, and label 0.
    bool one_step = false;
    std::vector<std::int32_t> state_port, state_label;  // (S,), if so
    std::vector<StateRun> state_runs;                   // if so
    // How many states can be reached by exactly n arcs, for the first few n; the last stands for
    // all that follow. Empty: not known.
    std::vector<std::int64_t> n_reached;
    std::vector<std::int64_t> n_reached_within;  // the same by 1 … n arcs
    double best_final = 0.0;                     // largest of `final`
    double most_fired = 0.0;                     // patterns on one arc
    Blocks blocks;                               // the same arcs, packed for the kernel
    Forest forest;                               // or shared along the parents; not both
    // Complete first order: state 0 is the empty context, state 1 + y follows label y, every state
    // is final, and arc y′→y fires exactly the pattern y′·L + y (start arcs fire none).
    bool is_chain = false;

    std::int64_t n_arcs() const { return static_cast<std::int64_t>(source.size()); }
    std::int64_t n_steps() const { return static_cast<std::int64_t>(step_label.size()); }

    bool is_open(std::int64_t arc, int token_class) const {
        return guards.empty() || ((guards[arc] >> token_class) & 1U) != 0;
    }

    // Fills the derived arrays; throws std::invalid_argument naming the fault.
    void finish();
};

}  // namespace trelliswork
