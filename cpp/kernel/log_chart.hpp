// The recursion of chart.hpp in logarithms, for sequences that scaled probabilities cannot hold.
//
//   α[t, s] = log Σ exp(α[u, source(a)] + w[a] + φ)   over arcs a and durations d into s, u = t − d
//
// A logarithm is a sum of two doubles, 31 digits, and is relative to nothing: scores of 1e17 that
// no path takes, or that a path takes and gives back, cost the others no digits. Where terms are so
// large that 31 digits may be too few, the sums are computed once more with bounds on their errors:
// the true logarithm lies in [value − below, value + above]. log Z is NaN if these are not within
// kTrusted of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "automata/automaton.hpp"
#include "base/double_double.hpp"
#include "kernel/paths.hpp"
#include "kernel/posterior_sink.hpp"
#include "kernel/rows.hpp"
#include "kernel/scores.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

// Largest error of log Z, and of the logarithm of a probability.
inline constexpr double kTrusted = 1e-6;

// log w of the arcs of every token class, from constant pattern weights; −inf: closed.
struct LogWeights {
    std::vector<std::vector<DoubleDouble>> of_class;  // (A,) each

    void load(const Automaton& automaton, const double* patterns);
};

// Numbers given by their logarithms.
inline bool is_zero(const DoubleDouble& x) {
    return x.hi == kNegativeInfinity;
}

// x y, as a logarithm: the largest double where it would be larger.
inline DoubleDouble product(const DoubleDouble& x, const DoubleDouble& y) {
    const double rough = x.hi + y.hi;
    if (std::isfinite(rough)) return x + y;
    if (is_zero(x) || is_zero(y)) return {kNegativeInfinity, 0.0};
    return {std::copysign(std::numeric_limits<double>::max(), rough), 0.0};
}

// log (x / y), y not 0.
inline double log_ratio(const DoubleDouble& x, const DoubleDouble& y) {
    return (x.hi - y.hi) + (x.lo - y.lo);
}

// exp, and 0 at once where that is all that is left.
inline double exp_or_zero(double x) {
    return x < -746.0 ? 0.0 : std::exp(x);
}

// x / y, y not 0.
inline double ratio(const DoubleDouble& x, const DoubleDouble& y) {
    return is_zero(x) ? 0.0 : exp_or_zero(log_ratio(x, y));
}

// A sum of such numbers, relative to the largest so far.
class LogSum {
  public:
    void add(const DoubleDouble& x) {
        if (is_zero(x)) return;
        const double difference = log_ratio(x, largest_);
        if (difference > 0.0) {
            mass_ = mass_ * exp_or_zero(-difference) + 1.0;
            largest_ = x;
        } else {
            mass_ += exp_or_zero(difference);
        }
    }
    DoubleDouble value() const {
        return mass_ > 0.0 ? largest_ + std::log(mass_) : DoubleDouble{kNegativeInfinity, 0.0};
    }

  private:
    DoubleDouble largest_{kNegativeInfinity, 0.0};
    double mass_ = 0.0;
};

class LogChart {
  public:
    LogChart(const Automaton& automaton, const LogWeights& weights, std::size_t memory_limit)
        : automaton_(automaton), constant_(weights), memory_limit_(memory_limit) {}

    void forward(const SequenceScores& scores);

    // log Z: −inf without a path, NaN where its error may exceed kTrusted.
    double log_total() const { return total_.value.hi; }
    // What rounding took from it.
    double log_total_rest() const { return total_.value.lo; }

    // As those of Chart. Only where log Z is finite.
    void posteriors(const PosteriorSink& sink);

    const Automaton& automaton() const { return automaton_; }
    std::int64_t length() const { return scores_.length; }
    int n_durations() const { return scores_.n_durations; }
    void seek(std::int64_t t) {
        rows_.seek(t, [this] { return fill_block(); });
    }

    // P(a path ends in state s).
    double end_value(std::int64_t s) const;

    // Calls visit(arc, duration, p) for every way into state s of row t, p its probability given
    // that a path is in s at t. The rows must be readable.
    template <class Visit>
    void for_each_way(std::int64_t t, std::int64_t s, Visit&& visit) const {
        const auto here = alpha(t, s);
        for (auto g = automaton_.state_offsets[s]; g < automaton_.state_offsets[s + 1]; ++g) {
            const auto y = automaton_.step_label[g];
            for (std::int64_t d = 1; d <= std::min(longest(y), t); ++d) {
                const auto u = t - d;
                for (auto a = automaton_.step_offsets[g]; a < automaton_.step_offsets[g + 1]; ++a) {
                    const double p = ratio(product(alpha(u, automaton_.source[a]),
                                                   product(weight(u, a), phi(t, d, y))),
                                           here);
                    if (p > 0.0) visit(a, static_cast<int>(d), p);
                }
            }
        }
    }

  private:
    // A logarithm with bounds on its error, which are 0 unless asked for.
    struct Bounded {
        DoubleDouble value{kNegativeInfinity, 0.0};
        double below = 0.0;
        double above = 0.0;
    };

    std::int64_t n_states() const { return automaton_.n_states; }
    DoubleDouble phi(std::int64_t t, std::int64_t d, std::int64_t y) const {
        const auto place = ((t - 1) * n_durations() + d - 1) * automaton_.n_labels + y;
        return {scores_.phi[place], scores_.phi_rest == nullptr ? 0.0 : scores_.phi_rest[place]};
    }
    std::int64_t longest(std::int64_t y) const {
        return scores_.longest == nullptr ? n_durations() : scores_.longest[y];
    }
    // log w of an arc into a segment that begins at token u.
    DoubleDouble weight(std::int64_t u, std::int64_t arc) const;
    DoubleDouble alpha(std::int64_t t, std::int64_t s) const {
        return {rows_[t][s], rows_[t][n_states() + s]};
    }
    Bounded bounded_alpha(std::int64_t t, std::int64_t s) const;

    // The sum at hand: terms x ⊗ y are added one by one, until `finish_sum`.
    void add_product(const Bounded& x, const DoubleDouble& y);
    Bounded finish_sum();
    Bounded bounded_sum(const DoubleDouble& value) const;

    void run();
    bool fill_block();
    void compute_enter(std::int64_t u);
    void add_arc(std::int64_t u, std::int64_t arc, double p, const PosteriorSink& sink) const;

    const Automaton& automaton_;
    const LogWeights& constant_;
    std::size_t memory_limit_;
    SequenceScores scores_;
    Rows rows_;                   // (T + 1, 2 S or 4 S): hi, lo, below and above of α
    std::vector<Bounded> enter_;  // (D, G): Σ α w over the arcs of a step, a ring over starts
    LogSum sum_;
    std::vector<Bounded> terms_;  // of that sum, if bounds are wanted
    Bounded total_;
    double largest_ = 0.0;  // size of a term
    bool bounds_ = false;
};

// The ways into a state, for readers of paths: given the state, their values are probabilities.
template <class Visit>
void for_each_arrival(LogChart& chart, std::int64_t t, std::int64_t s, Visit&& visit) {
    chart.for_each_way(t, s, [&](std::int64_t arc, int duration, double p) {
        visit(Arrival{arc, duration, p, p});
    });
}

}  // namespace trelliswork
