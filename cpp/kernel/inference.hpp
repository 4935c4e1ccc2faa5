// The verbs on ragged batches. Every function fills arrays that the caller owns.
#pragma once

#include <cstdint>

#include "automata/automaton.hpp"
#include "kernel/engine.hpp"

namespace trelliswork {

// B sequences, N tokens in all, one after the other: sequence b is tokens offsets[b] …
// offsets[b+1].
struct Batch {
    const Automaton* automaton = nullptr;
    std::int64_t n_sequences = 0;
    const std::int64_t* offsets = nullptr;  // (B + 1,)
    int n_durations = 1;
    const double* phi = nullptr;    // (N, D, L)
    const double* start = nullptr;  // (L,) or null: added to the first segment's label
    const double* end = nullptr;    // (L,) or null: added to the last segment's label
    // (N, 2, L) or null: labels of segments that may begin at a token, and that may go on there;
    // or (N, 1, L): both.
    const std::uint8_t* allowed = nullptr;
    int n_masks = 1;
    const double* patterns = nullptr;    // (P,) or null
    const double* positional = nullptr;  // (N, P′) or null
    int n_positional = 0;
    const std::uint8_t* classes = nullptr;  // (N,) or null: all 0
    ClassPatterns class_patterns;           // on a chain, for the solver alone
    std::size_t memory_limit = 0;           // bytes of rows, a worker
    int n_workers = 1;
};

// log Z of every sequence, log_z + rest, both (B,). NaN in log_z, here and below: see
// log_chart.hpp.
void log_partition(const Batch& batch, double* log_z, double* rest);

// log_z (B,), segments (N, D, L), pattern_counts (P,) added to, arcs (N, A) or null,
// entropy (B,) or null. Deterministic for a given number of workers.
void posteriors(const Batch& batch, double* log_z, double* segments, double* pattern_counts,
                double* arcs, double* entropy);

// labels (N,), begins (N,) zeroed by the caller, score (B,): −inf and labels −1 where no path is.
void best_path(const Batch& batch, std::int32_t* labels, std::uint8_t* begins, double* score);

// labels (k, N) filled with −1 by the caller, begins (k, N) zeroed, scores (B, k) filled with −inf.
void best_paths(const Batch& batch, std::int64_t k, std::int32_t* labels, std::uint8_t* begins,
                double* scores);

// labels (n, N), begins (n, N) zeroed, log_z (B,).
void sample(const Batch& batch, std::int64_t n, std::uint64_t seed, std::int32_t* labels,
            std::uint8_t* begins, double* log_z);

}  // namespace trelliswork
