// The arcs of an automaton, packed for vector loops.
//
// Steps that leave the same set of m source states form a *block*: an m × n matrix of arc weights,
// so that one pass over the block computes the n sums Σ_m α[source m] · W[m, n] side by side. In
// the product of a chain and a language, all labels that may follow a language state share their
// sources, and nearly all arcs lie in blocks. The remaining, *narrow*, steps are done one by one.
//
// A step has a *port*, its place among the sums; an arc has a *slot*, its place among the packed
// weights. The columns of a block are padded to a multiple of kLanes, with weights of zero.
#pragma once

#include <cstdint>
#include <vector>

#include "block_kernels.hpp"

namespace trelliswork {

struct Blocks {
    std::vector<Block> wide;
    std::vector<std::int32_t> sources;         // source states of the wide blocks
    std::vector<std::int64_t> narrow_offsets;  // (narrow steps + 1,) into narrow_sources
    std::vector<std::int32_t> narrow_sources;
    std::int64_t first_narrow_port = 0;
    std::int64_t first_narrow_slot = 0;
    std::int64_t n_ports = 0;
    std::int64_t n_slots = 0;
    std::vector<std::int32_t> port;  // (G,)
    std::vector<std::int64_t> slot;  // (A,)

    std::int32_t most_sources = 0;   // of any wide block

    Blocks() = default;
    // Arcs step_offsets[g] … step_offsets[g + 1] are those of step g, sorted by source.
    Blocks(const std::vector<std::int64_t>& step_offsets, const std::vector<std::int32_t>& source);

    BlockView view() const {
        return {static_cast<std::int64_t>(wide.size()), wide.data(), sources.data(),
                static_cast<std::int64_t>(narrow_offsets.size()) - 1, narrow_offsets.data(),
                narrow_sources.data(), first_narrow_port, first_narrow_slot};
    }
};

}  // namespace trelliswork
