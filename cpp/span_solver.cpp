#include "span_solver.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>
#include <utility>

#include "deadline.hpp"
#include "span_search.hpp"
#include "threads.hpp"

namespace trelliswork {

namespace {

constexpr std::int64_t kFirstIterations = 20;  // of the dual, before the first search
constexpr std::int64_t kNodeIterations = 12;   // at a node that is not the root
// What a search may make, the first, second and third time at the root.
constexpr std::int64_t kStates[] = {500, 5'000, 30'000};
constexpr int kPatience = 3;          // iterations without a lower bound before steps get shorter
constexpr std::ptrdiff_t kBlock = 8;  // problems that a thread takes at a time
constexpr double kSmallestFactor = 1e-3;
constexpr double kEnough = 1e-3;    // of the gap: a bound that falls by less is not lower
constexpr double kFirstStep = 1.0;  // while no assignment is known

struct Node {
    std::vector<SpanDecision> decisions;
    std::vector<double> prices;
    std::vector<std::uint8_t> tracked;
    double bound = -kNegativeInfinity;
    std::int64_t max_states = kStates[0];
    SpanChoice split{-1, -1};
};

struct Lower {
    bool operator()(const std::unique_ptr<Node>& a, const std::unique_ptr<Node>& b) const {
        return a->bound < b->bound;
    }
};

class Solver {
  public:
    Solver(const SpanProblem& problem, const SpanOptions& options)
        : problem_(problem),
          options_(options),
          deadline_(options.seconds),
          dual_(problem),
          search_(dual_),
          excess_(problem.rules().kind.size(), 0.0) {}

    SpanAnswer run() {
        auto root = std::make_unique<Node>();
        root->prices.assign(problem_.rules().kind.size(), 0.0);
        root->tracked.assign(static_cast<std::size_t>(problem_.n_roles), 0);
        bool proven = true;
        put(std::move(root));
        while (!open_.empty()) {
            if (is_settled(open_.top()->bound)) break;
            const bool spent = options_.max_nodes > 0 && answer_.nodes >= options_.max_nodes;
            if (spent || deadline_.passed()) {
                proven = false;
                break;
            }
            auto node = std::move(const_cast<std::unique_ptr<Node>&>(open_.top()));
            open_.pop();
            for (const bool taken : {true, false}) {
                auto child = std::make_unique<Node>(*node);
                child->decisions.push_back({node->split, taken});
                put(std::move(child));
            }
        }
        finish(proven);
        return std::move(answer_);
    }

  private:
    double allowance() const {
        const double value = answer_.best.payoff;
        return std::isfinite(value) ? options_.tolerance * (1.0 + std::abs(value)) : 0.0;
    }
    bool is_settled(double bound) const { return bound <= answer_.best.payoff + allowance(); }

    void offer(const SpanAssignment& found) {
        if (found.payoff > answer_.best.payoff) answer_.best = found;
    }

    void put(std::unique_ptr<Node> node) {
        ++answer_.nodes;
        if (settle(*node)) {
            answer_.leaves.push_back(
                {std::move(node->decisions), std::move(node->tracked), std::move(node->prices)});
        } else {
            open_.push(std::move(node));
        }
    }

    // Lowers the bound of a node until it is proven to hold nothing better; false: it has to be
    // split.
    bool settle(Node& node) {
        dual_.open(node.decisions);
        const bool is_root = node.decisions.empty();
        if (lower(node, is_root ? kFirstIterations : kNodeIterations)) return true;
        if (count(node)) return true;
        if (is_root) {
            if (lower(node, options_.max_iterations)) return true;
            for (const auto max_states : {kStates[1], kStates[2]}) {
                node.max_states = max_states;
                if (count(node)) return true;
            }
        }
        choose(node);
        return node.split.interval < 0;
    }

    // Projected subgradients with Polyak's step.
    bool lower(Node& node, std::int64_t max_iterations) {
        const SpanRules& rules = problem_.rules();
        std::vector<double> prices = node.prices;
        SpanAssignment found;
        double factor = 1.0;
        int since_better = 0;
        for (std::int64_t iteration = 1;; ++iteration) {
            const double value = dual_.evaluate(prices);
            dual_.read(found, excess_);
            const double gap = node.bound - answer_.best.payoff;
            since_better = value < node.bound - kEnough * gap ? 0 : since_better + 1;
            if (value < node.bound) {
                node.bound = value;
                node.prices = prices;
            }
            if (found.payoff == kNegativeInfinity) dual_.repair(found);
            offer(found);
            if (is_settled(node.bound)) return true;
            if (iteration >= max_iterations) return false;
            double norm = 0.0;
            for (int c = 0; c < rules.size(); ++c) {
                const bool can_move =
                    excess_[c] < 0.0 ? prices[c] > 0.0 : prices[c] < rules.penalty[c];
                if (can_move) norm += excess_[c] * excess_[c];
            }
            if (norm == 0.0) return false;
            if (since_better >= kPatience) {
                factor *= 0.5;
                since_better = 0;
                if (factor < kSmallestFactor) return false;
            }
            const double above = value - answer_.best.payoff;
            const double step = factor * (std::isfinite(above) ? above : kFirstStep) / norm;
            for (int c = 0; c < rules.size(); ++c) {
                prices[c] = std::clamp(prices[c] + step * excess_[c], 0.0, rules.penalty[c]);
            }
        }
    }

    // Counts the roles of rules that prices miss, one more set at a time.
    bool count(Node& node) {
        const SpanRules& rules = problem_.rules();
        if (!options_.search) return false;
        dual_.evaluate(node.prices);
        SpanAssignment found;
        dual_.read(found, excess_);
        for (;;) {
            bool is_new = false;
            for (int c = 0; c < rules.size(); ++c) {
                if (rules.slack(c, node.prices[c], found.counts) <= 0.0) continue;
                for (auto k = rules.offsets[c]; k < rules.offsets[c + 1]; ++k) {
                    auto& role = node.tracked[rules.terms[k].role];
                    is_new = is_new || role == 0;
                    role = 1;
                }
            }
            if (!is_new) return false;
            const double floor = answer_.best.payoff + allowance();
            if (search_.run(node.prices, node.tracked, floor, node.max_states) ==
                SpanSearchEnd::limit) {
                return false;
            }
            if (search_.value() == kNegativeInfinity) {
                node.bound = std::min(node.bound, floor);
                return true;
            }
            node.bound = std::min(node.bound, search_.value());
            found = search_.best();
            offer(found);
            if (is_settled(node.bound)) return true;
        }
    }

    // The choice of the best assignment under prices that is worth most, of a role that is filled
    // more than once before others; else the best that is open. None: everything is decided.
    void choose(Node& node) {
        dual_.evaluate(node.prices);
        SpanAssignment found;
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
        if (!proven) answer_.bound = std::max(answer_.bound, open_.top()->bound);
        for (; !open_.empty(); open_.pop()) {
            const Node& node = *open_.top();
            answer_.leaves.push_back({node.decisions, node.tracked, node.prices});
        }
        answer_.status = proven ? (has_answer ? SpanStatus::optimal : SpanStatus::infeasible)
                                : (has_answer ? SpanStatus::feasible : SpanStatus::unknown);
        answer_.iterations = dual_.n_evaluations();
        answer_.states = search_.n_states();
    }

    const SpanProblem& problem_;
    const SpanOptions& options_;
    Deadline deadline_;
    SpanDual dual_;
    SpanSearch search_;
    std::vector<double> excess_;
    SpanAnswer answer_;
    std::priority_queue<std::unique_ptr<Node>, std::vector<std::unique_ptr<Node>>, Lower> open_;
};

}  // namespace

SpanAnswer solve_spans(const SpanProblem& problem, const SpanOptions& options) {
    return Solver(problem, options).run();
}

void solve_spans(const std::vector<SpanProblem>& problems, const SpanOptions& options,
                 int n_workers, std::vector<SpanAnswer>& answers) {
    answers.assign(problems.size(), {});
    parallel_for(n_workers, std::ssize(problems), kBlock,
                 [&](int, std::ptrdiff_t b) { answers[b] = solve_spans(problems[b], options); });
}

}  // namespace trelliswork
