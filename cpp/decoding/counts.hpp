// Linear constraints on counts: the counts of a path, and the penalties it pays.
//
// Arcs fire patterns, and a pattern may stand for an *event* at a token: "an author begins here,
// and in it a person". An event counts for some *quantities*, the names in rules: n_m(y) of
// quantity m. Row i of the constraints is
//
//   r_i(y) = Σ_m c_im n_m(y) − b_i,      v_i(y) = max(0, r_i(y)),
//
// and a labelling pays ρ_i v_i; ρ_i = ∞ forbids v_i > 0. E events, M quantities, R rows, P
// patterns.
#pragma once

#include <cstdint>
#include <vector>

namespace trelliswork {

// How often an event counts for a quantity, or the coefficient of a quantity in a row.
struct Count {
    std::int32_t quantity;
    std::int64_t times;
};

struct CountRows {
    int n_rows = 0;
    int n_events = 0;
    int n_quantities = 0;
    // Events that patterns stand for, (P,), −1: none; those of the first segment by its label, (L,)
    // or empty, where no arc from the start fires a pattern, as in a chain.
    std::vector<std::int32_t> pattern_event, start_event;
    std::vector<std::int64_t> event_offsets;  // (E + 1,) into event_counts
    std::vector<Count> event_counts;
    std::vector<std::int64_t> row_offsets;  // (R + 1,) into row_counts
    std::vector<Count> row_counts;          // c_im
    std::vector<double> bound;              // (R,) b
    std::vector<double> penalty;            // (R,) ρ, ∞: hard
    std::vector<double> least, most;        // (R,) range of one segment's part: least ≤ 0 ≤ most

    // Fills `least` and `most`.
    void finish();

    // r (R,) of counts (M,).
    void excess(const std::vector<std::int64_t>& counts, std::vector<double>& found) const;

    // ρ_i v_i − λ r_i ≥ 0: the cost of an excess r that the price λ ∈ [0, ρ_i] misses.
    double slack(int row, double price, double excess) const {
        if (excess <= 0.0) return price == 0.0 ? 0.0 : -price * excess;
        return price == penalty[row] ? 0.0 : (penalty[row] - price) * excess;
    }
};

}  // namespace trelliswork
