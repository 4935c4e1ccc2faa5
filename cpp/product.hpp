// The product of a model automaton and a language: the model, on the labellings of the language.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "automaton.hpp"

namespace trelliswork {

// An automaton without weights over letters. A letter is a label at a token of some class:
// letter = class · L + label.
struct Language {
    int n_states = 0;
    int n_classes = 1;
    std::vector<std::int32_t> source, letter, target;  // in any order
    std::vector<std::uint8_t> initial, final;          // (S,)
};

// States are pairs (model state, language state) that lie on a path from the start to the end. Arc
// k came from model arc model_arc[k] (the *arc map*), and may be taken at tokens of the classes in
// guard[k]. Sorted by (target, label, source).
struct Product {
    std::vector<std::int32_t> model_state, language_state;       // (S,)
    std::vector<std::int32_t> source, label, target, model_arc;  // (A,)
    std::vector<std::uint64_t> guard;                            // (A,)
};

struct ProductTooLarge : std::length_error {
    using std::length_error::length_error;
};

// Throws ProductTooLarge when more than max_arcs arcs are reachable.
Product product(const Automaton& model, const Language& language, std::int64_t max_arcs);

}  // namespace trelliswork
