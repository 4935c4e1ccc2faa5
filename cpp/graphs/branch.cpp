#include "graphs/branch.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/best_first_tree.hpp"

namespace trelliswork {

namespace {

constexpr double kIntegral = 1e-6;  // closer than that to 0 or 1 is no fraction

struct Node {
    double bound = -kNegativeInfinity;
    double magnitude = 0.0;  // of the bound, see Incumbent
    GraphLeaf leaf;
    std::vector<std::int32_t> variables;  // (N',)
    std::vector<float> u;                 // (N',)
    double eta = 0.0;
    std::int32_t branch_variable = -1;
};

class Tree {
  public:
    Tree(const Graph& graph, const GraphStart& start, const GraphOptions& options,
         GraphWatch& watch)
        : graph_(graph),
          start_(start),
          options_(options),
          watch_(watch),
          incumbent_(graph, options.gap),
          shares_(graph.variables.size(), 0.0),
          u_(graph.scores.size(), 0.5) {}

    GraphAnswer run() {
        offer_start(graph_, start_, incumbent_);
        ++watch_.nodes;
        if (incumbent_.propagator.start()) {
            root_mark_ = incumbent_.propagator.mark();
            put(solve_root());
            tree_.run([&](const Node& node) { return is_closed(node); },
                      [&] { return watch_.nodes >= options_.max_nodes || watch_.stopped(); },
                      [&](std::unique_ptr<Node> node) { split(std::move(node)); });
        } else {
            auto root = std::make_unique<Node>();
            root->bound = kNegativeInfinity;
            put(std::move(root));
        }
        finish();
        return std::move(answer_);
    }

  private:
    bool is_closed(const Node& node) const { return incumbent_.closes(node.bound, node.magnitude); }

    void put(std::unique_ptr<Node> node) {
        if (!is_closed(*node)) {
            tree_.open(std::move(node));
        } else if (options_.certify) {
            tree_.close(std::move(node));
        }
    }

    std::unique_ptr<Node> solve_root() {
        auto node = std::make_unique<Node>();
        const Reduced reduced = incumbent_.remainder();
        if (reduced.constant == kNegativeInfinity) {
            node->bound = kNegativeInfinity;
            return node;
        }
        AD3 ad3(reduced, options_.ad3);
        if (start_.shares != nullptr) {
            ad3.start_from(shares_at(reduced, start_.shares).data(), nullptr, 0.0);
        }
        solve(*node, reduced, ad3, options_.max_iterations);
        answer_.relaxed = relaxed_values(reduced, ad3.u(), incumbent_.propagator.values());
        return node;
    }

    void split(std::unique_ptr<Node> node) {
        watch_.elsewhere = tree_.is_empty() ? kNegativeInfinity : tree_.highest().bound;
        watch_.inherited = node->bound;
        std::vector<std::unique_ptr<Node>> children;
        for (const bool value : {true, false}) {
            children.push_back(solve_child(*node, {node->branch_variable, value}));
            if (watch_.stopped()) {  // its halves are not both bounded: the whole stays open
                tree_.open(std::move(node));
                return;
            }
            watch_.elsewhere = std::max(watch_.elsewhere, children.back()->bound);
        }
        for (auto& child : children) put(std::move(child));
    }

    std::unique_ptr<Node> solve_child(const Node& parent, const GraphFixing& decision) {
        auto node = std::make_unique<Node>();
        node->leaf.decisions = parent.leaf.decisions;
        node->leaf.decisions.push_back(decision);
        node->bound = parent.bound;
        node->magnitude = parent.magnitude;
        ++watch_.nodes;
        Propagator& propagator = incumbent_.propagator;
        propagator.undo(root_mark_);
        for (const GraphFixing& fixing : node->leaf.decisions) {
            if (!propagator.assign(fixing.variable, fixing.value)) {
                node->bound = kNegativeInfinity;
                return node;
            }
        }
        const Reduced reduced = incumbent_.remainder();
        if (reduced.constant == kNegativeInfinity) {
            node->bound = kNegativeInfinity;
            return node;
        }
        scatter(parent);
        AD3 ad3(reduced, options_.ad3);
        std::vector<double> u;
        for (const auto j : reduced.variable_of) u.push_back(u_[static_cast<std::size_t>(j)]);
        ad3.start_from(shares_at(reduced, shares_.data()).data(), u.data(), parent.eta);
        solve(*node, reduced, ad3, options_.node_iterations);
        if (ad3.bound() > parent.bound) {  // the parent's shares prove more
            node->leaf.links = parent.leaf.links;
            node->leaf.shares = parent.leaf.shares;
        }
        return node;
    }

    void solve(Node& node, const Reduced& reduced, AD3& ad3, std::int64_t max_iterations) {
        incumbent_.enter(reduced);
        const AD3Stop stop = ad3.run(max_iterations, true, incumbent_, watch_);
        if (ad3.bound() <= node.bound) {
            node.bound = ad3.bound();
            node.magnitude = ad3.magnitude();
        }
        if (stop == AD3Stop::infeasible) node.bound = kNegativeInfinity;
        answer_.n_solved += ad3.n_solved();
        answer_.n_cached += ad3.n_cached();
        node.leaf.links = reduced.link_of;
        node.leaf.shares = ad3.dual().best_shares();
        if (is_closed(node)) return;
        const auto chosen = choose(ad3);
        if (chosen == ad3.u().size()) {  // no factor is left, and the best of the node was offered
            node.bound = std::min(node.bound, incumbent_.score);
            return;
        }
        node.variables = reduced.variable_of;
        node.u.assign(ad3.u().begin(), ad3.u().end());
        node.eta = ad3.eta();
        node.branch_variable = reduced.variable_of[chosen];
    }

    // The most fractional variable. Where none is: the one whose factors differ most over it.
    std::size_t choose(AD3& ad3) const {
        const Incidence& incidence = ad3.incidence();
        const auto& u = ad3.u();
        std::size_t chosen = u.size(), least_settled = u.size();
        double most = kIntegral, most_unsettled = -1.0;
        for (std::size_t j = 0; j < u.size(); ++j) {
            const auto first = incidence.offsets[j], end = incidence.offsets[j + 1];
            if (!ad3.factors().is_free(j) || first == end) continue;
            const double fraction = std::min(u[j], 1.0 - u[j]);
            if (fraction > most) {
                most = fraction;
                chosen = j;
            }
            double n_on = 0.0;
            for (auto i = first; i < end; ++i) n_on += ad3.is_on(incidence.links[i]) ? 1.0 : 0.0;
            const double unsettled = std::min(n_on, static_cast<double>(end - first) - n_on);
            if (unsettled > most_unsettled) {
                most_unsettled = unsettled;
                least_settled = j;
            }
        }
        return chosen < u.size() ? chosen : least_settled;
    }

    void scatter(const Node& node) {
        std::fill(shares_.begin(), shares_.end(), 0.0);
        for (std::size_t i = 0; i < node.leaf.links.size(); ++i) {
            shares_[static_cast<std::size_t>(node.leaf.links[i])] = node.leaf.shares[i];
        }
        for (std::size_t i = 0; i < node.variables.size(); ++i) {
            u_[static_cast<std::size_t>(node.variables[i])] = node.u[i];
        }
    }

    void finish() {
        const bool has_solution = incumbent_.score > kNegativeInfinity;
        const bool proven = tree_.is_empty() || is_closed(tree_.highest());
        answer_.status = status_of(proven, has_solution);
        answer_.bound = proven ? incumbent_.score : tree_.highest().bound;
        answer_.score = incumbent_.score;
        answer_.values = std::move(incumbent_.values);
        answer_.iterations = watch_.iterations;
        answer_.nodes = watch_.nodes;
        if (!options_.certify) return;
        for (auto& node : tree_.take_leaves()) answer_.leaves.push_back(std::move(node->leaf));
    }

    const Graph& graph_;
    const GraphStart& start_;
    const GraphOptions& options_;
    GraphWatch& watch_;
    Incumbent incumbent_;
    GraphAnswer answer_;
    std::size_t root_mark_ = 0;
    std::vector<double> shares_;  // (K,) of the node that is split
    std::vector<double> u_;       // (N,)
    BestFirstTree<Node> tree_;
};

}  // namespace

GraphAnswer solve_by_branching(const Graph& graph, const GraphStart& start,
                               const GraphOptions& options, GraphWatch& watch) {
    return Tree(graph, start, options, watch).run();
}

}  // namespace trelliswork
