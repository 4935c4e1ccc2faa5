// The inner loops over packed arcs (automata/blocks.hpp), compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace trelliswork {

// One m × n matrix of arc weights: some rows of a table.
struct Block {
    std::int64_t first_source;  // into Blocks::sources, row_numbers and rows
    std::int64_t first_port;
    std::int64_t table;         // first slot of its table, (rows, stride)
    std::int64_t transposed;    // first entry of the transposed table, (stride, padded_rows)
    std::int32_t n_sources;     // m
    std::int32_t stride;        // n, padded
    std::int32_t padded_rows;   // of the table
    std::int64_t first_column;  // into Blocks::columns
    std::int32_t n_columns;     // columns that are steps, of `stride`
};

// n narrow steps: source i of step k is state source_i + k, its weight has slot first + i · n + k.
struct Run {
    std::int64_t first_source;  // into Blocks::run_sources
    std::int64_t first_port;
    std::int64_t first_slot;
    std::int32_t n_sources;
    std::int32_t n_steps;
};

// States first … last, all entered by one label; their ports from `port` on, −1: anywhere.
struct StateRun {
    std::int32_t first, last, label, port;
};

// The arrays of a Blocks, as raw pointers; see automata/blocks.hpp.
struct BlockView {
    std::int64_t n_wide;
    const Block* wide;
    const std::int32_t* sources;
    const std::int32_t* row_numbers;
    const std::int32_t* rows;
    const std::int32_t* columns;
    std::int64_t n_runs;
    const Run* runs;
    const std::int32_t* run_sources;
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

    // sums[row(m), n] += Σ_k α_k[m] ahead_k[n] over `n_rows` pairs of rows
    void (*add_outer)(const BlockView& blocks, std::int64_t n_rows, const double* const* alpha,
                      const double* const* ahead, double* sums);

    // α[s] = enter[port[s]] e[label(s)]
    void (*enter_states)(std::int64_t n_runs, const StateRun* runs, const std::int32_t* port,
                         const double* enter, const double* e, double* alpha);

    // With β[s] taken as 0 where α[s] is:
    //   ahead[port[s]] = e[label(s)] factor β[s],   posterior[label(s)] += α[s] β[s]
    void (*leave_states)(std::int64_t n_runs, const StateRun* runs, const std::int32_t* port,
                         const double* e, double factor, const double* alpha, const double* beta,
                         double* ahead, double* posterior);

    // Of n numbers ≥ 0: the largest, the smallest that is not 0 (inf: none), and how many are 0.
    void (*range)(const double* values, std::int64_t n, double* smallest, double* largest,
                  std::int64_t* n_zeros);
};

const BlockKernels& block_kernels();

}  // namespace trelliswork
