// When to stop working on a graph: its time limit and its callback.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/deadline.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

struct GraphProgress {
    std::int64_t graph = 0;  // of the batch
    std::int64_t iterations = 0;
    std::int64_t nodes = 0;
    double score = kNegativeInfinity;
    double bound = -kNegativeInfinity;
    double primal_residual = 0.0;
    double dual_residual = 0.0;
};

// True: stop, with the best that was found.
using GraphCallback = std::function<bool(const GraphProgress&)>;

class GraphWatch {
  public:
    GraphWatch(std::int64_t graph, double seconds, const GraphCallback& callback)
        : deadline_(seconds), callback_(callback) {
        progress_.graph = graph;
    }

    std::int64_t iterations = 0;            // in all
    std::int64_t nodes = 0;                 // in all
    double elsewhere = kNegativeInfinity;   // the largest bound of open nodes but this one
    double inherited = -kNegativeInfinity;  // bound inherited by this node

    // After some iterations at a node. True: stop; it stays so.
    bool stops(double score, double bound, double primal_residual, double dual_residual) {
        if (stopped_) return true;
        stopped_ = deadline_.passed();
        if (callback_ != nullptr) {
            progress_.iterations = iterations;
            progress_.nodes = nodes;
            progress_.score = score;
            progress_.bound = std::max({score, elsewhere, std::min(bound, inherited)});
            progress_.primal_residual = primal_residual;
            progress_.dual_residual = dual_residual;
            if (callback_(progress_)) stopped_ = true;
        }
        return stopped_;
    }
    bool stopped() const { return stopped_; }
    // The time limit alone.
    bool late() {
        stopped_ = stopped_ || deadline_.passed();
        return stopped_;
    }

  private:
    Deadline deadline_;
    const GraphCallback& callback_;
    GraphProgress progress_;
    bool stopped_ = false;
};

}  // namespace trelliswork
