// The product of a model automaton and a language: the model, on the labellings of the language.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "automata/algebra.hpp"
#include "automata/automaton.hpp"

namespace trelliswork {

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

// The letters of the language are labels at tokens of some class: letter = class · L + label.
// Throws ProductTooLarge when more than max_arcs arcs are reachable.
Product product(const Automaton& model, const Language& language, int n_classes,
                std::int64_t max_arcs);

}  // namespace trelliswork
