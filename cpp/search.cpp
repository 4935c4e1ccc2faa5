#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_set>

namespace trelliswork {

namespace {

// What the search knows of a suffix: tokens t … T − 1 are labelled, state `state` comes before.
struct Node {
    double bound;   // of G over all labellings that end so
    double suffix;  // its own part of the score under prices
    std::int64_t t;
    std::int32_t state;
    std::int32_t step;    // the segment it begins with, −1: none
    std::int64_t counts;  // where its counts of the rows in K are kept
};

struct Step {
    std::int64_t arc;
    std::int32_t duration, next;
};

struct HashCounts {
    std::size_t operator()(const std::vector<std::int64_t>& key) const {
        std::uint64_t hash = 0xcbf29ce484222325ULL;
        for (const auto value : key) {
            hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3ULL;
        }
        return static_cast<std::size_t>(hash ^ (hash >> 29));
    }
};

struct Lower {
    bool operator()(const Node& a, const Node& b) const {
        return a.bound != b.bound ? a.bound < b.bound : a.t > b.t;
    }
};

enum class Outcome { proven, grow, gave_up };

// One search with a fixed set of counted rows.
template <class C>
class Search {
  public:
    Search(Lagrangian& lagrangian, C& chart, const std::vector<std::int32_t>& counted,
           const SolverOptions& options, const Deadline& deadline, Answer& answer)
        : lagrangian_(lagrangian),
          rows_(lagrangian.rows()),
          chart_(chart),
          counted_(counted),
          options_(options),
          deadline_(deadline),
          answer_(answer),
          constant_(lagrangian.constant(answer.prices)) {
        place_.assign(static_cast<std::size_t>(rows_.n_rows), -1);
        for (std::size_t k = 0; k < counted_.size(); ++k) {
            place_[counted_[k]] = static_cast<std::int32_t>(k);
        }
    }

    // `excess` (R,) is set to that of the labelling whose G is the largest, with `grow`.
    Outcome run(std::vector<double>& excess) {
        start();
        std::int64_t n_popped = 0;
        while (!queue_.empty()) {
            const Node node = queue_.top();
            queue_.pop();
            answer_.bound = std::min(answer_.bound, std::max(node.bound, answer_.payoff));
            if (is_settled(node.bound)) return Outcome::proven;
            if (node.t == 0) return finish(node, excess);
            if (!visit(node)) continue;
            if (++n_popped > options_.max_states || deadline_.passed()) return Outcome::gave_up;
            expand(node);
        }
        answer_.bound = answer_.payoff;  // all else was left out as no better
        return Outcome::proven;
    }

  private:
    bool is_settled(double bound) const {
        return bound <= answer_.payoff + allowance(options_, answer_.payoff);
    }

    void start() {
        counts_.assign(counted_.size(), 0);
        const auto length = chart_.length();
        chart_.seek(length);
        for (std::int64_t s = 0; s < chart_.automaton().n_states; ++s) {
            const double last = chart_.final_weight(s);
            const double value = chart_.alpha(length, s) + last;
            if (value > kNegativeInfinity) push(value, last, length, s, -1, 0);
        }
    }

    // Whether a node is the first, and so the best, of those with the same future.
    bool visit(const Node& node) {
        key_.assign({node.t, node.state});
        const auto* counts = counts_.data() + node.counts;
        key_.insert(key_.end(), counts, counts + counted_.size());
        return visited_.insert(key_).second;
    }

    void expand(const Node& node) {
        chart_.seek(node.t);
        for_each_arrival(chart_, node.t, node.state, [&](const Arrival& arrival) {
            if (is_settled(arrival.value + node.suffix + constant_)) return;
            const auto counts = static_cast<std::int64_t>(counts_.size());
            counts_.resize(counts_.size() + counted_.size());
            std::copy_n(counts_.begin() + node.counts, counted_.size(), counts_.begin() + counts);
            lagrangian_.for_each_row(arrival.arc, [&](const Term& term) {
                const auto place = place_[term.index];
                if (place >= 0) counts_[counts + place] += term.coefficient;
            });
            const auto next = static_cast<std::int32_t>(steps_.size());
            steps_.push_back({arrival.arc, arrival.duration, node.step});
            if (!push(arrival.value + node.suffix, arrival.gain + node.suffix,
                      node.t - arrival.duration, chart_.automaton().source[arrival.arc], next,
                      counts)) {
                steps_.pop_back();
                counts_.resize(static_cast<std::size_t>(counts));
            }
        });
    }

    bool push(double value, double suffix, std::int64_t t, std::int64_t state, std::int32_t step,
              std::int64_t counts) {
        double bound = value + constant_;
        for (std::size_t k = 0; k < counted_.size() && bound > kNegativeInfinity; ++k) {
            bound -= least_slack(counted_[k], counts_[counts + static_cast<std::int64_t>(k)], t);
        }
        if (bound == kNegativeInfinity || is_settled(bound)) return false;
        queue_.push({bound, suffix, t, static_cast<std::int32_t>(state), step, counts});
        return true;
    }

    // The least of ρ v − λ r over what the first t tokens can still count: it is convex in r, and 0
    // at r = 0.
    double least_slack(std::int32_t row, std::int64_t count, std::int64_t t) const {
        const auto tokens = static_cast<double>(t);
        const double from =
            static_cast<double>(count) - rows_.bound[row] + tokens * rows_.least[row];
        const double to = static_cast<double>(count) - rows_.bound[row] + tokens * rows_.most[row];
        const double excess = from > 0.0 ? from : std::min(to, 0.0);
        return rows_.slack(row, answer_.prices[row], excess);
    }

    Outcome finish(const Node& node, std::vector<double>& excess) {
        found_.path.labels.assign(static_cast<std::size_t>(chart_.length()), -1);
        found_.path.begins.assign(found_.path.labels.size(), 0);
        excess.resize(static_cast<std::size_t>(rows_.n_rows));
        for (int i = 0; i < rows_.n_rows; ++i) excess[i] = -rows_.bound[i];
        std::int64_t t = 0;
        for (auto k = node.step; k >= 0; k = steps_[k].next) {
            const Step& step = steps_[k];
            t += step.duration;
            write_segment(t, step.duration, chart_.automaton().label[step.arc],
                          found_.path.labels.data(), found_.path.begins.data());
            lagrangian_.for_each_row(step.arc, [&](const Term& term) {
                excess[term.index] += static_cast<double>(term.coefficient);
            });
        }
        // G is exact for the rows in K; the others have their prices in it.
        found_.payoff = node.bound;
        for (int i = 0; i < rows_.n_rows; ++i) {
            if (place_[i] < 0) found_.payoff -= rows_.slack(i, answer_.prices[i], excess[i]);
        }
        offer(answer_, found_);
        return is_settled(node.bound) ? Outcome::proven : Outcome::grow;
    }

    Lagrangian& lagrangian_;
    const CountRows& rows_;
    C& chart_;
    const std::vector<std::int32_t>& counted_;  // K
    const SolverOptions& options_;
    const Deadline& deadline_;
    Answer& answer_;
    double constant_;
    std::vector<std::int32_t> place_;  // (R,) in K, −1: not there
    std::vector<std::int64_t> counts_;
    std::vector<Step> steps_;
    std::priority_queue<Node, std::vector<Node>, Lower> queue_;
    std::unordered_set<std::vector<std::int64_t>, HashCounts> visited_;
    std::vector<std::int64_t> key_;
    Evaluation found_;
};

// Marks the rows whose prices miss some of the cost of an excess; says whether any is new.
bool mark_missed(const CountRows& rows, const std::vector<double>& excess,
                 const SolverOptions& options, Answer& answer) {
    bool grown = false;
    for (int i = 0; i < rows.n_rows; ++i) {
        const bool missed = rows.slack(i, answer.prices[i], excess[i]) > options.tolerance;
        if (missed && answer.counted[i] == 0) {
            answer.counted[i] = 1;
            grown = true;
        }
    }
    return grown;
}

}  // namespace

bool search(Lagrangian& lagrangian, const SolverOptions& options, const Deadline& deadline,
            Answer& answer) {
    const CountRows& rows = lagrangian.rows();
    answer.counted.assign(static_cast<std::size_t>(rows.n_rows), 0);
    Evaluation at_prices;
    lagrangian.evaluate(answer.prices, at_prices);
    if (at_prices.value == kNegativeInfinity) return true;
    offer(answer, at_prices);
    mark_missed(rows, at_prices.excess, options, answer);
    std::vector<double> excess;
    Outcome outcome = Outcome::grow;
    lagrangian.with_chart(answer.prices, [&](auto& chart) {
        while (outcome == Outcome::grow) {
            std::vector<std::int32_t> counted;
            for (int i = 0; i < rows.n_rows; ++i) {
                if (answer.counted[i] != 0) counted.push_back(i);
            }
            using C = std::remove_reference_t<decltype(chart)>;
            Search<C> round(lagrangian, chart, counted, options, deadline, answer);
            outcome = round.run(excess);
            // Rows that miss less than the tolerance each may miss more together.
            if (outcome == Outcome::grow && !mark_missed(rows, excess, options, answer)) {
                outcome = Outcome::gave_up;
            }
        }
    });
    return outcome == Outcome::proven;
}

}  // namespace trelliswork
