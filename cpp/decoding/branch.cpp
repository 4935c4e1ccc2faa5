#include "decoding/branch.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/best_first_tree.hpp"

namespace trelliswork {

namespace {

struct Node : DualResult {
    std::vector<Decision> decisions;
    // Every token is decided, and a hard row is broken by so much; −1: not so.
    std::int32_t broken_row = -1;
    double broken_by = 0.0;
};

class Tree {
  public:
    Tree(Lagrangian& lagrangian, const SolverOptions& options, const Deadline& deadline,
         Answer& answer)
        : lagrangian_(lagrangian),
          options_(options),
          deadline_(deadline),
          answer_(answer),
          n_letters_(lagrangian.automaton().n_labels) {}

    bool run(const DualResult& root) {
        auto first = std::make_unique<Node>(Node{root, {}});
        if (root.has_path && !is_settled(root.bound)) settle_decided(*first);  // of no tokens
        put(std::move(first));
        std::int64_t n_nodes = 1;
        const auto settled = [&](const Node& node) { return is_settled(node.bound); };
        const auto stops = [&] { return n_nodes >= options_.max_nodes || deadline_.passed(); };
        const auto halve = [&](std::unique_ptr<Node> node) {
            const Decision decision = choose(*node);
            for (const bool inside : {true, false}) {
                put(split(*node, {decision.token, decision.group, inside}));
                ++n_nodes;
            }
        };
        if (!tree_.run(settled, stops, halve)) {
            answer_.bound = std::min(answer_.bound, tree_.highest().bound);
            return false;
        }
        answer_.bound = answer_.payoff;
        if (std::isfinite(answer_.payoff)) {
            for (const auto& node : tree_.take_leaves()) answer_.leaves.push_back(as_leaf(*node));
        }
        return true;
    }

  private:
    bool is_settled(double bound) const {
        return bound <= answer_.payoff + allowance(options_, answer_.payoff);
    }

    Leaf as_leaf(const Node& node) const {
        Leaf leaf{node.decisions, node.prices};
        if (node.broken_row >= 0) {  // dear enough to be no better than the answer
            const double above = std::max(0.0, node.bound - answer_.payoff);
            leaf.prices[static_cast<std::size_t>(node.broken_row)] += above / node.broken_by;
        }
        return leaf;
    }

    void put(std::unique_ptr<Node> node) {
        if (node->broken_row >= 0 || is_settled(node->bound)) {
            tree_.close(std::move(node));
        } else {
            tree_.open(std::move(node));
        }
    }

    std::unique_ptr<Node> split(const Node& parent, const Decision& decision) {
        auto node = std::make_unique<Node>();
        node->decisions = parent.decisions;
        node->decisions.push_back(decision);
        lagrangian_.restrict_to(mask_of(node->decisions));
        static_cast<DualResult&>(*node) = lower_dual(
            lagrangian_, parent.prices, options_.node_iterations, options_, deadline_, answer_);
        if (node->has_path && !is_settled(node->bound)) settle_decided(*node);
        return node;
    }

    // Where every token is decided the counts are known, and with them the best prices.
    void settle_decided(Node& node) {
        const auto n_inside = std::count_if(node.decisions.begin(), node.decisions.end(),
                                            [](const Decision& d) { return d.inside; });
        if (n_inside < lagrangian_.length()) return;
        const CountRows& rows = lagrangian_.rows();
        auto& prices = node.prices;
        Evaluation found;
        lagrangian_.evaluate(prices, found);
        for (int i = 0; i < rows.n_rows; ++i) {
            const bool is_broken = found.excess[i] > 0.0;
            if (is_broken && std::isinf(rows.penalty[i])) {
                node.broken_row = i;
                node.broken_by = found.excess[i];
            } else {
                prices[i] = is_broken ? rows.penalty[i] : 0.0;
            }
        }
        lagrangian_.evaluate(prices, found);
        offer(answer_, found);
        node.bound = found.value;
    }

    // (T, 2, L), as Batch::allowed.
    std::vector<std::uint8_t> mask_of(const std::vector<Decision>& decisions) const {
        const auto n_letters = static_cast<std::size_t>(n_letters_);
        std::vector<std::uint8_t> mask(
            static_cast<std::size_t>(lagrangian_.length()) * 2 * n_letters, 1);
        for (const Decision& decision : decisions) {
            auto* row = mask.data() + static_cast<std::size_t>(decision.token) * 2 * n_letters;
            for (std::size_t tag = 0; tag < 2 * n_letters; ++tag) {
                const bool is_in = options_.group_of_tag[tag] == decision.group;
                if (is_in != decision.inside) row[tag] = 0;
            }
        }
        return mask;
    }

    std::int32_t group_at(const Labelling& path, std::size_t t) const {
        const auto tag = path.labels[t] + (path.begins[t] != 0 ? 0 : n_letters_);
        return options_.group_of_tag[static_cast<std::size_t>(tag)];
    }

    // Where the labellings of the dual differ, first of all at the begin of a segment; else at the
    // first token whose label is still open.
    Decision choose(const Node& node) const {
        const auto length = static_cast<std::size_t>(lagrangian_.length());
        std::vector<std::uint8_t> decided(length, 0);
        for (const Decision& decision : node.decisions) {
            if (decision.inside) decided[static_cast<std::size_t>(decision.token)] = 1;
        }
        const Labelling& path = node.at_best;
        const Labelling& other = node.other;
        std::size_t chosen = length;
        for (std::size_t t = 0; t < length; ++t) {
            if (decided[t] != 0) continue;
            if (!other.labels.empty() && group_at(path, t) != group_at(other, t)) {
                return {static_cast<std::int64_t>(t), group_at(path, t), true};
            }
            if (chosen == length) chosen = t;
        }
        if (chosen == length) throw std::logic_error("branch: every token is decided, and a gap");
        return {static_cast<std::int64_t>(chosen), group_at(path, chosen), true};
    }

    Lagrangian& lagrangian_;
    const SolverOptions& options_;
    const Deadline& deadline_;
    Answer& answer_;
    std::int32_t n_letters_;
    BestFirstTree<Node> tree_;
};

}  // namespace

bool branch(Lagrangian& lagrangian, const DualResult& root, const SolverOptions& options,
            const Deadline& deadline, Answer& answer) {
    const bool proven = Tree(lagrangian, options, deadline, answer).run(root);
    lagrangian.restrict_to({});
    return proven;
}

}  // namespace trelliswork
