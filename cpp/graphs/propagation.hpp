// Propagation: the values that fixed variables force.
//
// A factor alone forces a literal where none of its configurations has the other value. Logic
// factors are propagated so to a fixpoint, with counters: O(1) a link that becomes fixed.
// Structures force nothing here; a contradiction with one of them shows in its `maximize`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graphs/factor_graph.hpp"

namespace trelliswork {

// Which links a variable has: offsets (N + 1,) into links (K,); factors (K,) of links.
struct Incidence {
    explicit Incidence(const Graph& graph);
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> links;
    std::vector<std::int32_t> factors;
};

class Propagator {
  public:
    explicit Propagator(const Graph& graph);

    // Fixes the variables that the graph fixes, and the consequences. False: a contradiction.
    bool start();
    // Fixes a variable, and the consequences. False: a contradiction, to be undone.
    bool assign(std::int32_t variable, bool value);
    std::size_t mark() const { return trail_.size(); }
    void undo(std::size_t mark);

    const Graph& graph() const { return graph_; }
    const Incidence& incidence() const { return incidence_; }
    // (N,) −1: free.
    const std::vector<std::int8_t>& values() const { return values_; }

  private:
    bool propagate();
    bool examine(std::int32_t factor, bool turned_on);
    bool examine_or_out(std::int32_t factor);
    bool examine_knapsack(std::int32_t factor);
    void count(std::int32_t variable, int direction);
    void set(std::int64_t link, bool literal);
    void set_free(std::int32_t factor, bool literal);
    std::int8_t literal(std::int64_t link) const;

    const Graph& graph_;
    Incidence incidence_;
    std::vector<std::uint8_t> flipped_;  // (K,) negated; the output of xor_out once more
    std::vector<std::int8_t> values_;
    std::vector<std::int32_t> trail_;  // variables, as they were fixed
    std::size_t n_counted_ = 0;        // of the trail
    // (M,) of literals without the output of or_out: that are on, that are free, weight that is on.
    std::vector<std::int64_t> n_on_, n_free_;
    std::vector<double> used_;
};

}  // namespace trelliswork
