#include "spans/solver.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/best_first_tree.hpp"
#include "base/deadline.hpp"
#include "base/polyak.hpp"
#include "base/threads.hpp"

namespace trelliswork {

namespace {

constexpr std::int64_t kNodeIterations = 12;  // of the dual, at a node that is not the root
constexpr int kPatience = 3;  // iterations without a lower bound before steps get shorter
constexpr std::int64_t kNodesAnAsk = 256;  // whether to stop
constexpr std::ptrdiff_t kBlock = 8;       // problems that a thread takes at a time
constexpr double kSmallestFactor = 1e-3;
constexpr double kEnough = 1e-3;  // of the gap: a bound that falls by less is not lower

struct Node {
    std::vector<SpanDecision> decisions;
    std::vector<double> prices;
    double bound = -kNegativeInfinity;
    SpanChoice split{-1, -1};
};

class Solver {
  public:
    Solver(const SpanProblem& problem, const SpanOptions& options)
        : problem_(problem),
          options_(options),
          deadline_(options.seconds),
          dual_(problem),
          excess_(problem.rules().bound.size(), 0.0),
          least_(problem.least()) {}

    SpanAnswer run() {
        auto root = std::make_unique<Node>();
        root->prices.assign(problem_.rules().bound.size(), 0.0);
        put(std::move(root));
        const auto settled = [&](const Node& node) { return is_settled(node.bound); };
        const auto stops = [&] {
            const bool spent = options_.max_nodes > 0 && answer_.nodes >= options_.max_nodes;
            return spent || deadline_.passed() || is_stopped();
        };
        const auto split = [&](std::unique_ptr<Node> node) {
            for (const bool taken : {true, false}) {
                auto child = std::make_unique<Node>(*node);
                child->decisions.push_back({node->split, taken});
                put(std::move(child));
            }
        };
        finish(tree_.run(settled, stops, split));
        return std::move(answer_);
    }

  private:
    bool is_stopped() const {
        return options_.stop && answer_.nodes % kNodesAnAsk == 1 && options_.stop();
    }
    double allowance() const {
        const double value = answer_.best.payoff;
        return std::isfinite(value) ? options_.tolerance * (1.0 + std::abs(value)) : 0.0;
    }
    // Nothing better is below this bound; while no assignment is known: nothing at all.
    bool is_settled(double bound) const {
        if (std::isfinite(answer_.best.payoff)) return bound <= answer_.best.payoff + allowance();
        return bound < least_ - options_.tolerance * (1.0 + std::abs(least_));
    }
    // The target of Polyak's steps; while no assignment is known, below the least value.
    double target() const {
        if (std::isfinite(answer_.best.payoff)) return answer_.best.payoff;
        return least_ - (1.0 + std::abs(least_));
    }

    void offer(const SpanAssignment& found) {
        if (found.payoff > answer_.best.payoff) answer_.best = found;
    }

    void put(std::unique_ptr<Node> node) {
        ++answer_.nodes;
        if (settle(*node)) {
            tree_.close(std::move(node));
        } else {
            tree_.open(std::move(node));
        }
    }

    // Lowers the bound of a node until it is proven to hold nothing better; false: it has to be
    // split.
    bool settle(Node& node) {
        if (!dual_.open(node.decisions)) {
            node.bound = kNegativeInfinity;
            return true;
        }
        if (lower(node, node.decisions.empty() ? options_.max_iterations : kNodeIterations)) {
            return true;
        }
        choose(node);
        if (node.split.interval >= 0) return false;
        // Nothing is open: the decisions are the assignment.
        dual_.evaluate(node.prices);
        dual_.read(found_, excess_);
        offer(found_);
        node.bound = found_.payoff;
        return true;
    }

    // Projected subgradients with Polyak's step.
    bool lower(Node& node, std::int64_t max_iterations) {
        const SpanRules& rules = problem_.rules();
        std::vector<double> prices = node.prices;
        SpanAssignment& found = found_;
        PolyakSteps steps(kPatience, kSmallestFactor);
        for (std::int64_t iteration = 1;; ++iteration) {
            const double value = dual_.evaluate(prices);
            dual_.read(found, excess_);
            const double gap = node.bound - target();
            const bool is_lower = value < node.bound - kEnough * gap;
            if (value < node.bound) {
                node.bound = value;
                node.prices = prices;
            }
            if (found.payoff == kNegativeInfinity) dual_.repair(found);
            offer(found);
            if (is_settled(node.bound)) return true;
            if (iteration >= max_iterations) return false;
            const double norm = squared_norm(prices, excess_, rules.penalty);
            if (norm == 0.0 || !steps.go_on(is_lower)) return false;
            move_prices(prices, excess_, rules.penalty, steps.length(value - target(), norm));
        }
    }

    // The choice of the best assignment under prices that is worth most, of a role that is filled
    // more than once before others; else the best that is open. None: everything is decided.
    void choose(Node& node) {
        dual_.evaluate(node.prices);
        SpanAssignment& found = found_;
        dual_.read(found, excess_);
        node.split = {-1, -1};
        bool is_repeated = false;
        double most = kNegativeInfinity;
        for (std::size_t k = dual_.spans().taken.size(); k < found.choices.size(); ++k) {
            const SpanChoice& choice = found.choices[k];
            const bool repeats = found.counts[choice.role] > 1;
            const double gain = problem_.gains_of(choice.interval)[choice.role];
            if (std::pair(repeats, gain) <= std::pair(is_repeated, most)) continue;
            is_repeated = repeats;
            most = gain;
            node.split = choice;
        }
        if (node.split.interval >= 0) return;
        for (int i = 0; i < problem_.n_intervals(); ++i) {
            for (int r = 0; r < problem_.n_roles; ++r) {
                const double gain =
                    dual_.spans().gains[static_cast<std::size_t>(i) * problem_.n_roles + r];
                if (gain > most) {
                    most = gain;
                    node.split = {i, r};
                }
            }
        }
    }

    void finish(bool proven) {
        const bool has_answer = std::isfinite(answer_.best.payoff);
        answer_.bound = answer_.best.payoff;
        if (!proven) answer_.bound = std::max(answer_.bound, tree_.highest().bound);
        for (auto& node : tree_.take_leaves()) {
            answer_.leaves.push_back({std::move(node->decisions), std::move(node->prices)});
        }
        answer_.status = status_of(proven, has_answer);
        answer_.iterations = dual_.n_evaluations();
    }

    const SpanProblem& problem_;
    const SpanOptions& options_;
    Deadline deadline_;
    SpanDual dual_;
    SpanAssignment found_;
    std::vector<double> excess_;
    double least_;  // no assignment that satisfies the hard rules is worth less
    SpanAnswer answer_;
    BestFirstTree<Node> tree_;
};

}  // namespace

SpanAnswer solve_spans(const SpanProblem& problem, const SpanOptions& options) {
    return Solver(problem, options).run();
}

std::vector<SpanAnswer> solve_spans(const std::vector<const SpanProblem*>& problems,
                                    const SpanOptions& options, int n_workers) {
    std::vector<SpanAnswer> answers(problems.size());
    parallel_for(n_workers, std::ssize(problems), kBlock,
                 [&](int, std::ptrdiff_t b) { answers[b] = solve_spans(*problems[b], options); });
    return answers;
}

}  // namespace trelliswork
