#include "decoding/search.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_set>

namespace trelliswork {

namespace {

// A suffix: tokens t … T − 1 are labelled, state `state` comes before.
struct Node {
    double bound;   // of G over all labellings that end so
    double suffix;  // its own part of the score under prices
    std::int64_t t;
    std::int32_t state;
    std::int32_t step;    // the segment it begins with, −1: none
    std::int64_t counts;  // where its counts of the quantities in Q are kept
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

constexpr std::size_t kMostCounts = std::size_t{1} << 27;  // a gigabyte

enum class Outcome { proven, grow, gave_up };

// One search with a fixed set of counted rows.
template <class C>
class Search {
  public:
    Search(Lagrangian& lagrangian, C& chart, const std::vector<std::int32_t>& quantities,
           const SolverOptions& options, const Deadline& deadline, Answer& answer)
        : lagrangian_(lagrangian),
          rows_(lagrangian.rows()),
          chart_(chart),
          n_quantities_(quantities.size()),
          options_(options),
          deadline_(deadline),
          answer_(answer),
          constant_(lagrangian.constant(answer.prices)) {
        place_.assign(static_cast<std::size_t>(rows_.n_quantities), -1);
        for (std::size_t k = 0; k < n_quantities_; ++k) place_[quantities[k]] = static_cast<int>(k);
        for (int i = 0; i < rows_.n_rows; ++i) {
            if (answer.counted[i] != 0) counted_.push_back(i);
        }
    }

    Outcome run() {
        start();
        std::int64_t n_popped = 0;
        while (!queue_.empty()) {
            const Node node = queue_.top();
            queue_.pop();
            answer_.bound = std::min(answer_.bound, std::max(node.bound, answer_.payoff));
            if (is_settled(node.bound)) return Outcome::proven;
            if (node.t == 0) return finish(node);
            if (!visit(node)) continue;
            if (++n_popped > options_.max_states || counts_.size() > kMostCounts ||
                deadline_.passed()) {
                return Outcome::gave_up;
            }
            expand(node);
        }
        answer_.bound = answer_.payoff;  // all else was left out as no better
        return Outcome::proven;
    }

    // r (R,) of the labelling whose G is the largest, after `grow`.
    const std::vector<double>& excess() const { return found_.excess; }

  private:
    bool is_settled(double bound) const {
        return bound <= answer_.payoff + allowance(options_, answer_.payoff);
    }

    void start() {
        counts_.assign(n_quantities_, 0);
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
        key_.insert(key_.end(), counts, counts + n_quantities_);
        return visited_.insert(key_).second;
    }

    void expand(const Node& node) {
        chart_.seek(node.t);
        for_each_arrival(chart_, node.t, node.state, [&](const Arrival& arrival) {
            if (is_settled(arrival.value + node.suffix + constant_)) return;
            const auto counts = static_cast<std::int64_t>(counts_.size());
            counts_.resize(counts_.size() + n_quantities_);
            std::copy_n(counts_.begin() + node.counts, n_quantities_, counts_.begin() + counts);
            lagrangian_.for_each_count(arrival.arc, [&](const Count& count) {
                const auto place = place_[count.quantity];
                if (place >= 0) counts_[counts + place] += count.times;
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
        for (const auto row : counted_) {
            bound -= least_slack(row, counts, t);
            if (bound == kNegativeInfinity || is_settled(bound)) return false;
        }
        if (is_settled(bound)) return false;
        queue_.push({bound, suffix, t, static_cast<std::int32_t>(state), step, counts});
        return true;
    }

    // The least of ρ v − λ r over the possible counts of the first t tokens: it is convex in r, and
    // 0 at r = 0.
    double least_slack(std::int32_t row, std::int64_t counts, std::int64_t t) const {
        std::int64_t total = 0;
        for (auto k = rows_.row_offsets[row]; k < rows_.row_offsets[row + 1]; ++k) {
            total +=
                rows_.row_counts[k].times * counts_[counts + place_[rows_.row_counts[k].quantity]];
        }
        const auto tokens = static_cast<double>(t);
        const double excess = static_cast<double>(total) - rows_.bound[row];
        const double from = excess + tokens * rows_.least[row];
        const double to = excess + tokens * rows_.most[row];
        return rows_.slack(row, answer_.prices[row], from > 0.0 ? from : std::min(to, 0.0));
    }

    Outcome finish(const Node& node) {
        found_.path.labels.assign(static_cast<std::size_t>(chart_.length()), -1);
        found_.path.begins.assign(found_.path.labels.size(), 0);
        std::vector<std::int64_t> counts(static_cast<std::size_t>(rows_.n_quantities), 0);
        std::int64_t t = 0;
        for (auto k = node.step; k >= 0; k = steps_[k].next) {
            const Step& step = steps_[k];
            t += step.duration;
            write_segment(t, step.duration, chart_.automaton().label[step.arc],
                          found_.path.labels.data(), found_.path.begins.data());
            lagrangian_.for_each_count(
                step.arc, [&](const Count& count) { counts[count.quantity] += count.times; });
        }
        rows_.excess(counts, found_.excess);
        // G is exact for the rows in K; the others have their prices in it.
        found_.payoff = node.bound;
        for (int i = 0; i < rows_.n_rows; ++i) {
            if (answer_.counted[i] == 0)
                found_.payoff -= rows_.slack(i, answer_.prices[i], found_.excess[i]);
        }
        offer(answer_, found_);
        return is_settled(node.bound) ? Outcome::proven : Outcome::grow;
    }

    Lagrangian& lagrangian_;
    const CountRows& rows_;
    C& chart_;
    std::size_t n_quantities_;  // of Q
    const SolverOptions& options_;
    const Deadline& deadline_;
    Answer& answer_;
    double constant_;
    std::vector<std::int32_t> counted_;  // K: the rows with all quantities in Q
    std::vector<std::int32_t> place_;    // (M,) in Q, −1: not there
    std::vector<std::int64_t> counts_;
    std::vector<Step> steps_;
    std::priority_queue<Node, std::vector<Node>, Lower> queue_;
    std::unordered_set<std::vector<std::int64_t>, HashCounts> visited_;
    std::vector<std::int64_t> key_;
    Evaluation found_;
};

// Adds the quantities of the rows whose prices miss some of the cost of an excess, and marks the
// rows that have no others; says whether a row is new.
bool grow(const CountRows& rows, const std::vector<double>& excess, const SolverOptions& options,
          std::vector<std::int32_t>& quantities, Answer& answer) {
    bool grown = false;
    std::vector<std::uint8_t> there(static_cast<std::size_t>(rows.n_quantities), 0);
    for (const auto quantity : quantities) there[quantity] = 1;
    for (int i = 0; i < rows.n_rows; ++i) {
        if (answer.counted[i] != 0) continue;
        // Many rows may miss a little each: far below what settles a gap.
        if (rows.slack(i, answer.prices[i], excess[i]) <= 1e-4 * options.tolerance) continue;
        grown = true;
        for (auto k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
            const auto quantity = rows.row_counts[k].quantity;
            if (there[quantity] == 0) quantities.push_back(quantity);
            there[quantity] = 1;
        }
    }
    for (int i = 0; i < rows.n_rows; ++i) {
        const auto first = rows.row_counts.begin() + rows.row_offsets[i];
        const auto last = rows.row_counts.begin() + rows.row_offsets[i + 1];
        const bool all =
            std::all_of(first, last, [&](const Count& c) { return there[c.quantity]; });
        answer.counted[i] = all ? 1 : 0;
    }
    return grown;
}

}  // namespace

bool search(Lagrangian& lagrangian, const SolverOptions& options, const Deadline& deadline,
            Answer& answer) {
    const CountRows& rows = lagrangian.rows();
    answer.counted.assign(static_cast<std::size_t>(rows.n_rows), 0);
    Evaluation at_prices;
    std::vector<std::int32_t> quantities;
    Outcome outcome = Outcome::proven;
    lagrangian.with_chart(answer.prices, [&](auto& chart) {
        lagrangian.read_best(chart, answer.prices, at_prices);
        if (at_prices.value == kNegativeInfinity) return;
        offer(answer, at_prices);
        outcome = Outcome::grow;
        grow(rows, at_prices.excess, options, quantities, answer);
        while (outcome == Outcome::grow) {
            using C = std::remove_reference_t<decltype(chart)>;
            Search<C> round(lagrangian, chart, quantities, options, deadline, answer);
            outcome = round.run();
            if (outcome != Outcome::grow) break;
            if (!grow(rows, round.excess(), options, quantities, answer))
                outcome = Outcome::gave_up;
        }
    });
    return outcome == Outcome::proven;
}

}  // namespace trelliswork
