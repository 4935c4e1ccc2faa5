// Log-likelihood and its gradient on padded batches, the shape in which networks give scores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "automata/automaton.hpp"

namespace trelliswork {

// B sequences padded to T positions. Token t of sequence b is row b·sequence_stride +
// t·position_stride of the arrays "by row"; rows that the mask or an ignored tag leaves out are
// skipped, and the sequence is the rest.
struct PaddedBatch {
    const Automaton* automaton = nullptr;
    std::int64_t n_sequences = 0;         // B
    std::int64_t n_positions = 0;         // T
    std::int64_t sequence_stride = 0;     // in rows
    std::int64_t position_stride = 0;     // in rows
    const std::uint8_t* mask = nullptr;   // by row, or null: all are tokens
    const std::int64_t* tags = nullptr;   // by row, or null: log Z alone is wanted
    std::int64_t ignored_tag = 0;         // a token with this tag is left out
    const double* start = nullptr;        // (L,): added to the first label
    const double* end = nullptr;          // (L,): added to the last label
    const double* transitions = nullptr;  // (L, L): rows = label before
    std::size_t memory_limit = 0;         // bytes of rows, a worker
    int n_workers = 1;
};

// ∂ Σ_b weights[b] · f_b, with f_b = log p(tags) where there are tags and log Z otherwise.
template <class Float>
struct LayerGradient {
    const double* weights = nullptr;  // (B,) or null: all are 1
    Float* emissions = nullptr;       // (rows, L), zero where a row is left out
    double* start = nullptr;          // (L,)
    double* end = nullptr;            // (L,)
    double* transitions = nullptr;    // (L, L)
};

// log_z (B,), and gold (B,): the score of the tags, 0 without tags. `gradient` may be null. A
// sequence that has a NaN or +inf among its scores gets NaN everywhere, as in plain tensor code.
// A sequence of which nothing is left counts 0. Throws std::out_of_range for a tag that is no
// label.
template <class Float>
void log_likelihood(const PaddedBatch& batch, const Float* emissions, double* log_z, double* gold,
                    const LayerGradient<Float>* gradient);

}  // namespace trelliswork
