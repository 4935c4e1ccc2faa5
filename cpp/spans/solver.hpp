// The best assignment of roles to spans under rules, with a proof: prices, and branch and bound
// over single choices where these leave a gap.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "spans/dual.hpp"

namespace trelliswork {

struct SpanOptions {
    std::int64_t max_iterations = 200;  // of the dual at the root
    double tolerance = 1e-9;            // of a gap, relative to 1 + |score|
    double seconds = 0.0;               // a problem, 0: no limit
    std::int64_t max_nodes = 0;         // of branch and bound, 0: no limit
    std::function<bool()> stop;         // asked now and then, on every thread; empty: never stops
};

// The value of every assignment that obeys some decisions is at most D under these prices; if the
// decisions leave nothing open, D is that value.
struct SpanLeaf {
    std::vector<SpanDecision> decisions;
    std::vector<double> prices;  // (C,)
};

struct SpanAnswer {
    Status status = Status::unsolved;
    SpanAssignment best;
    double bound = -kNegativeInfinity;
    std::int64_t iterations = 0, nodes = 0;
    std::vector<SpanLeaf> leaves;
};

SpanAnswer solve_spans(const SpanProblem& problem, const SpanOptions& options);

// Solves every problem.
std::vector<SpanAnswer> solve_spans(const std::vector<const SpanProblem*>& problems,
                                    const SpanOptions& options, int n_workers);

}  // namespace trelliswork
