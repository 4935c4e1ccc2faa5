// The arcs of an automaton, packed for vector loops.
//
// Steps that leave the same set of m source states form a *block*: an m × n matrix of arc weights,
// so that one pass over the block computes the n sums Σ_m α[source m] · W[m, n] side by side. In
// the product of a chain and a language, all labels that may follow a language state share their
// sources, and nearly all arcs lie in blocks. The remaining, *narrow*, steps are done one by one.
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

#include "block_kernels.hpp"

namespace trelliswork {

struct Blocks {
    std::vector<Block> wide;
    std::vector<std::int32_t> sources;         // source states of the wide blocks
    std::vector<std::int32_t> rows;            // the row of the table that each source has
    std::vector<std::int64_t> narrow_offsets;  // (narrow steps + 1,) into narrow_sources
    std::vector<std::int32_t> narrow_sources;
    std::int64_t first_narrow_port = 0;
    std::int64_t first_narrow_slot = 0;
    std::int64_t n_ports = 0;
    std::int64_t n_slots = 0;             // tables, then narrow arcs
    std::int64_t n_transposed = 0;        // entries of the transposed tables
    std::int32_t most_sources = 0;        // of any wide block
    std::int32_t most_rows = 0;           // of any table, padded
    std::vector<std::int32_t> port;       // (G,)
    std::vector<std::int64_t> slot;       // (A,)
    std::vector<std::int64_t> transpose;  // (A,) place in the transposed tables, −1: narrow
    std::vector<std::int64_t> slot_arc;   // (slots,) an arc of each slot, −1: padding

    Blocks() = default;
    // Arcs step_offsets[g] … step_offsets[g + 1] are those of step g, sorted by source. contexts
    // (S,), or empty: states of one context weigh their arcs of one label alike.
    Blocks(const std::vector<std::int64_t>& step_offsets,
           const std::vector<std::int32_t>& step_label, const std::vector<std::int32_t>& source,
           const std::vector<std::int32_t>& contexts);

    BlockView view() const {
        return {static_cast<std::int64_t>(wide.size()),
                wide.data(),
                sources.data(),
                rows.data(),
                static_cast<std::int64_t>(narrow_offsets.size()) - 1,
                narrow_offsets.data(),
                narrow_sources.data(),
                first_narrow_port,
                first_narrow_slot};
    }
};

}  // namespace trelliswork
