// Best-first branch and bound: the open node with the highest bound is split until none can hold
// anything better. Nodes that were never split are the leaves of the proof.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace trelliswork {

// A Node has `bound`: no answer below it is worth more.
template <class Node>
class BestFirstTree {
  public:
    using Held = std::unique_ptr<Node>;

    // A node to be split.
    void open(Held node) {
        open_.push_back(std::move(node));
        std::push_heap(open_.begin(), open_.end(), is_lower);
    }
    // A node that holds nothing better.
    void close(Held node) { closed_.push_back(std::move(node)); }

    bool is_empty() const { return open_.empty(); }  // of open nodes
    const Node& highest() const { return *open_.front(); }

    // Takes out the highest node and has it split, again and again. True: is_settled(node) said of
    // the highest that it holds nothing better, or none is left. False: stops() said so.
    template <class Settled, class Stops, class Split>
    bool run(Settled&& is_settled, Stops&& stops, Split&& split) {
        while (!open_.empty()) {
            if (is_settled(highest())) return true;
            if (stops()) return false;
            split(take_highest());
        }
        return true;
    }

    // Those closed, in order, then those open, from the highest down. Empties the tree.
    std::vector<Held> take_leaves() {
        while (!open_.empty()) closed_.push_back(take_highest());
        return std::exchange(closed_, {});
    }

  private:
    static bool is_lower(const Held& a, const Held& b) { return a->bound < b->bound; }

    Held take_highest() {
        std::pop_heap(open_.begin(), open_.end(), is_lower);
        Held node = std::move(open_.back());
        open_.pop_back();
        return node;
    }

    std::vector<Held> open_;  // a heap
    std::vector<Held> closed_;
};

}  // namespace trelliswork
