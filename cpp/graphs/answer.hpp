// Options and answers of the graph solvers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "graphs/ad3.hpp"
#include "graphs/rounding.hpp"

namespace trelliswork {

struct GraphFixing {
    std::int32_t variable;
    bool value;
};

// D of these shares bounds every solution that agrees with the decisions. Links that are not listed
// have share 0: their factors ask nothing of free variables, or their variables are fixed.
struct GraphLeaf {
    std::vector<GraphFixing> decisions;
    std::vector<std::int64_t> links;
    std::vector<double> shares;
};

struct GraphOptions {
    AD3Options ad3;
    double gap = 1e-9;                   // see Incumbent
    std::int64_t max_iterations = 1000;  // at the root
    std::int64_t node_iterations = 200;  // at the other nodes
    double seconds = 0.0;                // a graph, 0: no limit
    std::int64_t max_nodes = 1'000'000;
    bool certify = true;  // collect leaves
};

struct GraphAnswer {
    Status status = Status::unsolved;
    std::vector<std::uint8_t> values;  // (N,), empty: none
    std::vector<double> relaxed;       // (N,) u of AD³ at the root
    double score = kNegativeInfinity;
    double bound = -kNegativeInfinity;  // no solution scores more; −inf: there is none
    std::int64_t iterations = 0;
    std::int64_t nodes = 0;
    std::int64_t n_solved = 0, n_cached = 0;  // subproblems
    std::vector<GraphLeaf> leaves;
};

// A start: shares (K,) and values (N,), null: none.
struct GraphStart {
    const double* shares = nullptr;
    const std::uint8_t* values = nullptr;
};

// Takes the values to start from, if they are a solution.
void offer_start(const Graph& graph, const GraphStart& start, Incumbent& incumbent);

// Of a graph whose fixed variables contradict its factors; the proof has no decisions.
GraphAnswer infeasible_answer();

// (K',) of shares (K,).
std::vector<double> shares_at(const Reduced& reduced, const double* shares);

// (N,) from u (N',) and the fixed values (N,).
std::vector<double> relaxed_values(const Reduced& reduced, const std::vector<double>& u,
                                   const std::vector<std::int8_t>& fixed);

}  // namespace trelliswork
