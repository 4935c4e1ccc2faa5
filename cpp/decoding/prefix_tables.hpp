// Violation automata and precomputed tables for the search over prefixes.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/inference.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

// How badly prefixes break a term: complete and deterministic. S states, Y letters, where
// letter c · L + y is label y on a token of class c.
struct ViolationAutomaton {
    std::int64_t empty = 0;  // v(ε)
    std::int32_t start = 0;
    std::int64_t n_states = 0, n_letters = 0;
    std::vector<std::int32_t> next;  // (S, Y)
    std::vector<std::int64_t> step;  // (S, Y): by how much the violation changes
};

// A term of a batch.
struct SearchTerm {
    const ViolationAutomaton* automaton = nullptr;
    double penalty = 0.0;                   // ρ; infinite: hard
    const std::uint8_t* classes = nullptr;  // (N,) or null: all 0

    bool is_hard() const { return penalty == -kNegativeInfinity; }
};

// Tables shared by all sequences of a batch: arcs by their source, and the least further change of
// terms that do not read tokens.
struct PrefixTables {
    const Batch& batch;
    const std::vector<SearchTerm>& terms;
    std::vector<std::int64_t> out_offsets;              // (S + 1,) into out_arcs
    std::vector<std::int32_t> out_arcs;                 // (A,)
    std::vector<double> weight;                         // (A,) without positional weights
    std::vector<std::vector<std::int64_t>> least_left;  // by term: (T + 1, S) by tokens left

    PrefixTables(const Batch& batch, const std::vector<SearchTerm>& terms);
};

// By how much the violation of a term can change at least over the last k of T tokens, from every
// state: table (T + 1, S) by k. Letters are those of the classes of the tokens, (T,) or null.
void fill_least(const ViolationAutomaton& term, const std::uint8_t* classes, std::int64_t length,
                int n_labels, int n_durations, std::vector<std::int64_t>& table);

}  // namespace trelliswork
