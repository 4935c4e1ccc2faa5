// The chain of intervals with the counts of some roles beside each position, as far as bounds
// allow: what prices on the rules about these roles miss is settled by counting.
#pragma once

#include <cstdint>
#include <vector>

#include "span_dual.hpp"

namespace trelliswork {

enum class SpanSearchEnd { proven, limit };

class SpanSearch {
  public:
    explicit SpanSearch(SpanDual& dual) : dual_(dual) {}

    // Finds the best assignment under
    //
    //   G(y) = gain(y) − Σ_{c counted} ρ_c v_c(y) − Σ_{c not} λ_c r_c(y)  ≥  P(y)
    //
    // where the rules whose roles are all `tracked` (R,) are counted, among those with G above
    // `floor`. Roles whose counts do not fit a state are taken off `tracked`. Returns `limit` after
    // `max_states` states. `best` is that assignment; no choices and a value of −inf: there is none
    // above the floor.
    SpanSearchEnd run(const std::vector<double>& prices, std::vector<std::uint8_t>& tracked,
                      double floor, std::int64_t max_states);

    double value() const { return value_; }
    const SpanAssignment& best() const { return best_; }
    std::int64_t n_states() const { return n_states_; }

  private:
    struct State {
        std::uint64_t counts;
        double value;         // g − prices, of what was chosen
        std::int32_t parent;  // −1: none
        SpanChoice choice;    // the last
    };
    void keep_best_of_each(std::vector<std::int32_t>& states) const;
    void place_roles(std::vector<std::uint8_t>& tracked);
    std::int32_t count(std::uint64_t counts, int role) const {
        return static_cast<std::int32_t>(counts >> shift_[role] & mask_[role]);
    }
    void finish(const std::vector<double>& prices, const std::vector<std::uint8_t>& tracked,
                double floor);
    void counts_of(const State& state, std::vector<std::int32_t>& counts) const;

    SpanDual& dual_;
    std::vector<State> states_;
    std::vector<std::vector<std::int32_t>> at_;  // (T + 1,) states at each token
    std::vector<int> shift_;                     // (R,)
    std::vector<std::uint64_t> mask_;            // (R,) 0: not tracked
    double value_ = kNegativeInfinity;
    SpanAssignment best_;
    std::int64_t n_states_ = 0;
};

}  // namespace trelliswork
