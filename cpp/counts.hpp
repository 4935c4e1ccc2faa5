// Linear constraints on counts: what a path counts, and what it pays.
//
// Arcs fire patterns, and a pattern may stand for an *event*: "a title begins here". Row i of the
// constraints is a weighted count of events,
//
//   r_i(y) = Σ_e a_ie n_e(y) − b_i,      v_i(y) = max(0, r_i(y)),
//
// and a labelling pays ρ_i v_i; ρ_i = ∞ forbids v_i > 0. E events, R rows, P patterns.
#pragma once

#include <cstdint>
#include <vector>

namespace trelliswork {

struct Term {
    std::int32_t index;  // of an event, or of a row
    std::int64_t coefficient;
};

struct CountRows {
    int n_rows = 0;
    int n_events = 0;
    // Events that patterns stand for, (P,), −1: none; those of the first segment by its label, (L,)
    // or empty, where no arc from the start fires a pattern, as in a chain.
    std::vector<std::int32_t> pattern_event, start_event;
    std::vector<std::int64_t> row_offsets;    // (R + 1,) into row_terms
    std::vector<Term> row_terms;              // a_ie by row
    std::vector<std::int64_t> event_offsets;  // (E + 1,) into event_terms
    std::vector<Term> event_terms;            // a_ie by event
    std::vector<double> bound;                // (R,) b
    std::vector<double> penalty;              // (R,) ρ, ∞: hard
    std::vector<double> least, most;          // (R,) of a_ie and 0: what one segment can add

    // Fills all that follows from pattern_event, start_event, row_offsets and row_terms.
    void finish();

    // ρ_i v_i − λ r_i ≥ 0: what the price λ ∈ [0, ρ_i] misses of the cost of an excess r.
    double slack(int row, double price, double excess) const {
        if (excess <= 0.0) return price == 0.0 ? 0.0 : -price * excess;
        return price == penalty[row] ? 0.0 : (penalty[row] - price) * excess;
    }
};

}  // namespace trelliswork
