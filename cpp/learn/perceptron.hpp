// The averaged structured perceptron without constraints, sentence by sentence:
//
//     ŷ = argmax_y w·Φ(x, y),    w ← w + a (Φ(x, y*) − Φ(x, ŷ)),    late ← late + s a (Φ(x, y*) −
//     …)
//
// with s the number of sentences seen before; the average of all iterates follows from w and late.
// B sentences, N tokens, F features, L labels, P patterns.
#pragma once

#include <cstdint>

#include "automata/automaton.hpp"
#include "learn/feature_weights.hpp"

namespace trelliswork {

// Labelled sentences that the caller owns.
struct LabelledSentences {
    const std::int64_t* offsets = nullptr;  // (B + 1,)
    TokenFeatures features;
    const std::int32_t* gold = nullptr;             // (N,)
    const std::int64_t* pattern_offsets = nullptr;  // (N + 1,): patterns that end at each token
    const std::int32_t* patterns = nullptr;
    const double* amounts = nullptr;  // (B,): a
};

// The weights, in place.
struct PerceptronTables {
    double* state = nullptr;          // (F, L)
    double* late_state = nullptr;     // (F, L)
    double* patterns = nullptr;       // (P,)
    double* late_patterns = nullptr;  // (P,)
    // Which weights are learned; the others stay as they are. Null: all.
    const std::uint8_t* learned_state = nullptr;     // (F, L)
    const std::uint8_t* learned_patterns = nullptr;  // (P,)
};

struct PerceptronCounts {
    std::int64_t mistakes = 0;
    std::int64_t wrong_tokens = 0;
};

// Learns from the n sentences of `order`, in that order; `step` sentences were seen before.
PerceptronCounts perceptron_pass(const Automaton& automaton, const LabelledSentences& sentences,
                                 const std::int64_t* order, std::int64_t n, std::int64_t step,
                                 const PerceptronTables& tables);

}  // namespace trelliswork
