// Exact decoding under linear constraints on counts, hard and soft, with a proof.
//
//   max_y P(y),   P(y) = score(y) − Σ_i ρ_i v_i(y)
//
// Three ways to it: prices on counts (dual.hpp), a search that counts the rows that prices cannot
// settle (search.hpp), and branch and bound over labels of tokens (branch.hpp). See counts.hpp for
// rows and lagrangian.hpp for prices.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/deadline.hpp"
#include "base/status.hpp"
#include "decoding/counts.hpp"
#include "decoding/lagrangian.hpp"
#include "kernel/inference.hpp"

namespace trelliswork {

// "Token `token` has a label of group `group`", or not. See SolverOptions::group_of_tag.
struct Decision {
    std::int64_t token;
    std::int32_t group;
    bool inside;
};

// All labellings that obey some decisions pay at most D under these prices.
struct Leaf {
    std::vector<Decision> decisions;
    std::vector<double> prices;  // (R,)
};

enum class SolverMethod : int {
    dual = 0,  // prices alone
    // No prices: rows that the best labelling breaks are counted, until none is new. Where that
    // takes too long, as `best`.
    search = 1,
    branch = 2,  // prices, then branch and bound
    best = 3     // prices, then the search, then branch and bound where that takes too long
};

struct SolverOptions {
    SolverMethod method = SolverMethod::best;
    std::int64_t max_iterations = 100;  // of the dual, at the root
    std::int64_t node_iterations = 20;  // at the other nodes
    double step = 0.0;                  // η_t = step / √t; 0: Polyak's, from the gap
    double tolerance = 1e-9;            // of a gap, relative to 1 + |score|
    double seconds = 0.0;               // a sequence, 0: no limit
    std::int64_t max_states = 100'000;  // of the search
    std::int64_t max_nodes = 100'000;   // of branch and bound
    // (2 L): tags of one group have the same token label. Tag y begins a segment of letter y,
    // tag L + y goes on with one.
    std::vector<std::int32_t> group_of_tag;
};

// The answer to one sequence.
struct Answer {
    Status status = Status::unsolved;
    SolverMethod method = SolverMethod::dual;  // the last that was needed
    Labelling path;                            // where there is none: the last one that was tried
    double payoff = kNegativeInfinity;         // P of it
    std::vector<double> excess;                // (R,) r of it
    double bound = -kNegativeInfinity;         // no labelling pays more
    std::int64_t iterations = 0;               // Viterbi passes
    std::vector<double> prices;                // (R,) of the best bound without decisions
    std::vector<std::uint8_t> counted;         // (R,) rows that the proof counts exactly
    std::vector<Leaf> leaves;                  // of branch and bound; empty: no decisions
};

// Gaps up to this are rounding.
inline double allowance(const SolverOptions& options, double value) {
    return std::isfinite(value) ? options.tolerance * (1.0 + std::abs(value)) : 0.0;
}

// Takes a labelling that pays more than all before it; any is better than none.
void offer(Answer& answer, const Evaluation& found);

// Solves every sequence: answers (B,).
void solve(const Batch& batch, const CountRows& rows, const SolverOptions& options,
           const double* warm_prices, std::vector<Answer>& answers);

}  // namespace trelliswork
