// The inner loops over packed arcs (blocks.hpp), compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace trelliswork {

// One m × n matrix of arc weights.
struct Block {
    std::int64_t first_source;  // into Blocks::sources
    std::int64_t first_port;
    std::int64_t first_slot;
    std::int32_t n_sources;  // m
    std::int32_t stride;     // n, padded
};

// The arrays of a Blocks, as raw pointers; see blocks.hpp.
struct BlockView {
    std::int64_t n_wide;
    const Block* wide;
    const std::int32_t* sources;
    std::int64_t n_narrow;
    const std::int64_t* narrow_offsets;
    const std::int32_t* narrow_sources;
    std::int64_t first_narrow_port;
    std::int64_t first_narrow_slot;
};

// Sums are indexed by port, weights and counts by slot, α and β by state. `scratch` holds at least
// as many numbers as the widest block has sources, times the rows of `count`.
struct BlockKernels {
    // out[n] = Σ_m α[m] W[m, n]
    void (*sum_forward)(const BlockView& blocks, const double* weights, const double* alpha,
                        double* scratch, double* out);

    // out[n] = max_m (α[m] + W[m, n])
    void (*best_forward)(const BlockView& blocks, const double* weights, const double* alpha,
                         double* scratch, double* out);

    // β[m] += Σ_n W[m, n] ahead[n]
    void (*sum_backward)(const BlockView& blocks, const double* weights, const double* ahead,
                         double* beta);

    // counts[m, n] += W[m, n] Σ_k α_k[m] ahead_k[n] over `n_rows` pairs of rows
    void (*count)(const BlockView& blocks, const double* weights, std::int64_t n_rows,
                  const double* const* alpha, const double* const* ahead, double* scratch,
                  double* counts);

    // Smallest and largest of n numbers, n ≥ 1.
    void (*range)(const double* values, std::int64_t n, double* smallest, double* largest);
};

const BlockKernels& block_kernels();

}  // namespace trelliswork
