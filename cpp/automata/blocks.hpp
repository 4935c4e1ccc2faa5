// The arcs of an automaton, packed for vector loops.
//
// Steps that leave the same set of m source states form a *block*: an m × n matrix of arc weights,
// so that one pass over the block computes the n sums Σ_m α[source m] · W[m, n] side by side. In
// the product of a chain and a language, all labels that may follow a language state share their
// sources, and nearly all arcs lie in blocks. The remaining, *narrow*, steps make up *runs*: steps
// one after the other whose sources move on by a state each, which are done side by side as well.
//
// The rows of all blocks are rows of *tables*. States of one *context* (a state of the model, in a
// product) weigh their arcs alike, label by label, so one table of contexts × labels can serve all
// blocks; it stays in the nearest cache while the product may be a hundred times its size. Without
// contexts every block has a table of its own.
//
// A step has a *port*, its place among the sums; an arc has a *slot*, its place in the tables. Rows
// and columns are padded to multiples of kLanes, with weights of zero.
#pragma once

#include <cstdint>
#include <vector>

#include "simd/block_kernels.hpp"

namespace trelliswork {

struct Blocks {
    std::vector<Block> wide;
    std::vector<std::int32_t> sources;      // source states of the wide blocks
    std::vector<std::int32_t> row_numbers;  // the row of the table that each source has,
    std::vector<std::int32_t> rows;         // and where in the table it begins
    std::vector<std::int32_t> columns;      // of the tables, that are steps of each block
    std::vector<Run> runs;
    std::vector<std::int32_t> run_sources;  // sources of the first step of each run
    std::int64_t n_ports = 0;
    std::int64_t n_slots = 0;             // tables, then narrow arcs
    std::int64_t n_transposed = 0;        // entries of the transposed tables
    std::int32_t most_rows = 0;           // of any table, padded
    std::vector<std::int32_t> port;       // (G,)
    std::vector<std::int64_t> slot;       // (A,)
    std::vector<std::int64_t> transpose;  // (slots,) place in the transposed tables, −1: none
    std::vector<std::int64_t> slot_arc;   // (slots,) an arc of each slot, −1: padding

    Blocks() = default;
    // Arcs step_offsets[g] … step_offsets[g + 1] are those of step g, sorted by source. contexts
    // (S,), or empty: states of one context weigh their arcs of one label alike.
    Blocks(const std::vector<std::int64_t>& step_offsets,
           const std::vector<std::int32_t>& step_label, const std::vector<std::int32_t>& source,
           const std::vector<std::int32_t>& contexts);

    BlockView view() const {
        BlockView all{};
        all.n_wide = static_cast<std::int64_t>(wide.size());
        all.wide = wide.data();
        all.sources = sources.data();
        all.row_numbers = row_numbers.data();
        all.rows = rows.data();
        all.columns = columns.data();
        all.n_runs = static_cast<std::int64_t>(runs.size());
        all.runs = runs.data();
        all.run_sources = run_sources.data();
        return all;
    }

  private:
    void add_blocks(const std::vector<std::vector<std::size_t>>& groups,
                    const std::vector<std::int64_t>& step_offsets,
                    const std::vector<std::int32_t>& step_label,
                    const std::vector<std::int32_t>& source,
                    const std::vector<std::int32_t>& contexts);
    void add_runs(const std::vector<std::size_t>& narrow,
                  const std::vector<std::int64_t>& step_offsets,
                  const std::vector<std::int32_t>& source);
};

}  // namespace trelliswork
