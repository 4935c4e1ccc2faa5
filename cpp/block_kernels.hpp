// The inner loops over packed arcs (blocks.hpp), compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace trelliswork {

// One m × n matrix of arc weights: some rows of a table.
struct Block {
    std::int64_t first_source;  // into Blocks::sources and Blocks::rows
    std::int64_t first_port;
    std::int64_t table;        // first slot of its table, (rows, stride)
    std::int64_t transposed;   // first entry of the transposed table, (stride, padded_rows)
    std::int32_t n_sources;    // m
    std::int32_t stride;       // n, padded
    std::int32_t padded_rows;  // of the table
};

// The arrays of a Blocks, as raw pointers; see blocks.hpp.
struct BlockView {
    std::int64_t n_wide;
    const Block* wide;
    const std::int32_t* sources;
    const std::int32_t* rows;
    std::int64_t n_narrow;
    const std::int64_t* narrow_offsets;
    const std::int32_t* narrow_sources;
    std::int64_t first_narrow_port;
    std::int64_t first_narrow_slot;
};

// Sums are indexed by port, weights and counts by slot, α and β by state. row(m) is the row of the
// table that source m of a block has.
struct BlockKernels {
    // out[n] = Σ_m α[m] W[row(m), n]
    void (*sum_forward)(const BlockView& blocks, const double* weights, const double* alpha,
                        double* out);

    // out[n] = max_m (α[m] + W[row(m), n])
    void (*best_forward)(const BlockView& blocks, const double* weights, const double* alpha,
                         double* out);

    // β[m] += Σ_n W[row(m), n] ahead[n]; scratch (most rows,)
    void (*sum_backward)(const BlockView& blocks, const double* weights, const double* transposed,
                         const double* ahead, double* scratch, double* beta);

    // sums[row(m), n] += Σ_k α_k[m] ahead_k[n] over `n_rows` pairs of rows; scratch (n_rows, most
    // sources)
    void (*add_outer)(const BlockView& blocks, std::int64_t n_rows, const double* const* alpha,
                      const double* const* ahead, double* scratch, double* sums);

    // Smallest and largest of n numbers, n ≥ 1.
    void (*range)(const double* values, std::int64_t n, double* smallest, double* largest);
};

const BlockKernels& block_kernels();

}  // namespace trelliswork
