#include "kernel/log_chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trelliswork {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DoubleDouble kZero{kNegativeInfinity, 0.0};
// A bound on the relative error of a sum of two logarithms.
constexpr double kRounding = 0x1p-100;

// log Σ exp(x_i) with x_i = value(i), n of them, in single doubles; −inf for an empty sum.
template <class Value>
double log_sum(std::size_t n, Value&& value) {
    double largest = kNegativeInfinity;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, value(i));
    if (!std::isfinite(largest)) return largest;
    double mass = 0.0;
    for (std::size_t i = 0; i < n; ++i) mass += std::exp(value(i) - largest);
    return largest + std::log(mass);
}

double entropy_term(double p) {
    return p > 0.0 ? -p * std::log(p) : 0.0;
}

}  // namespace

void LogWeights::load(const Automaton& automaton, const double* patterns) {
    of_class.assign(static_cast<std::size_t>(automaton.n_classes), {});
    for (int c = 0; c < automaton.n_classes; ++c) {
        auto& weights = of_class[c];
        weights.assign(static_cast<std::size_t>(automaton.n_arcs()), kZero);
        for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
            if (!automaton.is_open(a, c)) continue;
            weights[a] = DoubleDouble{};
            if (patterns == nullptr) continue;
            const auto end = automaton.pattern_offsets[a + 1];
            for (auto k = automaton.pattern_offsets[a]; k < end; ++k) {
                weights[a] = product(weights[a], {patterns[automaton.pattern_ids[k]], 0.0});
            }
        }
    }
}

DoubleDouble LogChart::weight(std::int64_t u, std::int64_t arc) const {
    auto total = constant_.of_class[scores_.classes == nullptr ? 0 : scores_.classes[u]][arc];
    if (scores_.positional == nullptr) return total;
    const double* positional = scores_.positional + u * scores_.n_positional;
    for (auto k = automaton_.pattern_offsets[arc]; k < automaton_.pattern_offsets[arc + 1]; ++k) {
        const auto pattern = automaton_.pattern_ids[k];
        if (pattern < scores_.n_positional) total = product(total, {positional[pattern], 0.0});
    }
    return total;
}

void LogChart::forward(const SequenceScores& scores) {
    scores_ = scores;
    bounds_ = false;
    run();
    // A path is a sum of at most two terms a token, one for the start and one for the end.
    const double n_terms = 2.0 * static_cast<double>(scores_.length) + 2.0;
    bounds_ = !(largest_ * n_terms * kRounding < 1e-3 * kTrusted);
    if (!bounds_) return;
    run();
    if (!is_zero(total_.value) && !(std::max(total_.below, total_.above) <= kTrusted)) {
        total_.value = {std::numeric_limits<double>::quiet_NaN(), 0.0};
    }
}

void LogChart::run() {
    const auto n = n_states();
    const auto width = (bounds_ ? 4 : 2) * n;
    rows_.plan(scores_.length, n_durations(), width,
               sizeof(double) * static_cast<std::size_t>(width), memory_limit_);
    enter_.assign(static_cast<std::size_t>(n_durations() * automaton_.n_steps()), Bounded{});
    largest_ = 0.0;
    std::fill_n(rows_[0], width, 0.0);
    for (std::int64_t s = 0; s < n; ++s) {
        rows_[0][s] = automaton_.initial[s];
        if (!std::isinf(rows_[0][s])) largest_ = std::max(largest_, std::abs(rows_[0][s]));
    }
    rows_.run([this] { return fill_block(); });
    for (std::int64_t s = 0; s < n; ++s) {
        add_product(bounded_alpha(scores_.length, s), {automaton_.final[s], 0.0});
    }
    total_ = finish_sum();
}

bool LogChart::fill_block() {
    const auto n_steps = automaton_.n_steps();
    const auto n = n_states();
    const auto start = rows_.block_start();
    for (auto u = std::max<std::int64_t>(0, start - n_durations() + 1); u < start; ++u) {
        compute_enter(u);
    }
    for (auto t = start + 1; t <= rows_.block_end(); ++t) {
        compute_enter(t - 1);
        double* row = rows_[t];
        for (std::int64_t s = 0; s < n; ++s) {
            for (auto g = automaton_.state_offsets[s]; g < automaton_.state_offsets[s + 1]; ++g) {
                const auto y = automaton_.step_label[g];
                for (std::int64_t d = 1; d <= std::min(longest(y), t); ++d) {
                    add_product(enter_[((t - d) % n_durations()) * n_steps + g], phi(t, d, y));
                }
            }
            const auto found = finish_sum();
            row[s] = found.value.hi;
            row[n + s] = found.value.lo;
            if (!bounds_) continue;
            row[2 * n + s] = found.below;
            row[3 * n + s] = found.above;
        }
    }
    return true;
}

void LogChart::compute_enter(std::int64_t u) {
    for (std::int64_t g = 0; g < automaton_.n_steps(); ++g) {
        for (auto a = automaton_.step_offsets[g]; a < automaton_.step_offsets[g + 1]; ++a) {
            add_product(bounded_alpha(u, automaton_.source[a]), weight(u, a));
        }
        enter_[(u % n_durations()) * automaton_.n_steps() + g] = finish_sum();
    }
}

LogChart::Bounded LogChart::bounded_alpha(std::int64_t t, std::int64_t s) const {
    if (!bounds_) return {alpha(t, s)};
    return {alpha(t, s), rows_[t][2 * n_states() + s], rows_[t][3 * n_states() + s]};
}

void LogChart::add_product(const Bounded& x, const DoubleDouble& y) {
    if (is_zero(x.value) || is_zero(y)) return;
    const double rough = x.value.hi + y.hi;
    largest_ = std::max({largest_, std::abs(rough), std::abs(y.hi)});
    Bounded term{product(x.value, y)};
    sum_.add(term.value);
    if (!bounds_) return;
    const double error = kRounding * (std::abs(x.value.hi) + std::abs(y.hi));
    term.below = rough == kNegativeInfinity ? kInfinity : x.below + error;
    term.above = rough == kInfinity ? kInfinity : x.above + error;
    terms_.push_back(term);
}

LogChart::Bounded LogChart::finish_sum() {
    const auto value = sum_.value();
    sum_ = LogSum{};
    if (!bounds_ || is_zero(value)) return {value};
    const auto found = bounded_sum(value);
    terms_.clear();
    return found;
}

// The bounds of a sum: log Σ exp(x_i ± error_i), relative to it.
LogChart::Bounded LogChart::bounded_sum(const DoubleDouble& value) const {
    const double above = log_sum(terms_.size(), [&](std::size_t i) {
        return log_ratio(terms_[i].value, value) + terms_[i].above;
    });
    const double below = log_sum(terms_.size(), [&](std::size_t i) {
        return log_ratio(terms_[i].value, value) - terms_[i].below;
    });
    return {value, std::max(-below, 0.0), std::max(above, 0.0)};
}

double LogChart::end_value(std::int64_t s) const {
    return ratio(product(alpha(scores_.length, s), {automaton_.final[s], 0.0}), total_.value);
}

// Walks u = T − 1 … 0, with β[t, s] the logarithm of all that may follow state s in row t:
//
//   ahead[g] = log Σ_d exp(φ + β[u + d, target(g)])
//   P(arc a at u) = exp(α[u, source(a)] + w[a] + ahead[step(a)] − log Z)
//   P(segment of d tokens by step g from u) = P(g at u) exp(φ + β[u + d, target(g)] − ahead[g])
//   β[u, s] = log P(s at u) + log Z − α[u, s],    P(s at u) = Σ over arcs a from s  P(arc a at u)
//
// A state of probability 0 gets β = −inf: nothing is lost with it. The entropy is that of the first
// state, and then of each choice given the state or the step, H = Σ_s P(s) log P(s) − Σ_a P(a) log
// P(a): terms of moderate size, whatever the scores.
void LogChart::posteriors(const PosteriorSink& sink) {
    if (!std::isfinite(total_.value.hi)) return;
    const auto n = n_states();
    const auto n_steps = automaton_.n_steps();
    const auto n_rows = static_cast<std::int64_t>(n_durations()) + 1;
    const auto width = static_cast<std::int64_t>(n_durations()) * automaton_.n_labels;
    std::vector<DoubleDouble> beta(static_cast<std::size_t>(n_rows * n), kZero);
    std::vector<double> of_state(static_cast<std::size_t>(n));
    const auto beta_row = [&](std::int64_t t) { return beta.data() + (t % n_rows) * n; };
    for (std::int64_t s = 0; s < n; ++s) beta_row(scores_.length)[s] = {automaton_.final[s], 0.0};
    double entropy = 0.0;
    for (std::int64_t s = 0; s < n && scores_.length == 0; ++s) {
        entropy += entropy_term(end_value(s));
    }
    for (auto u = scores_.length - 1; u >= 0; --u) {
        seek(u);
        std::fill(of_state.begin(), of_state.end(), 0.0);
        for (std::int64_t g = 0; g < n_steps; ++g) {
            const auto y = automaton_.step_label[g];
            const auto target = automaton_.step_target[g];
            const auto most = std::min(longest(y), scores_.length - u);
            LogSum sum;
            for (std::int64_t d = 1; d <= most; ++d) {
                sum.add(product(phi(u + d, d, y), beta_row(u + d)[target]));
            }
            const auto ahead = sum.value();
            if (is_zero(ahead)) continue;
            double of_step = 0.0;
            for (auto a = automaton_.step_offsets[g]; a < automaton_.step_offsets[g + 1]; ++a) {
                const auto s = automaton_.source[a];
                const auto through = product(alpha(u, s), product(weight(u, a), ahead));
                if (is_zero(through)) continue;
                const double log_p = std::min(log_ratio(through, total_.value), 0.0);
                const double p = exp_or_zero(log_p);
                if (p == 0.0) continue;
                of_step += p;
                of_state[s] += p;
                entropy -= p * log_p;
                add_arc(u, a, p, sink);
            }
            for (std::int64_t d = 1; d <= most && of_step > 0.0; ++d) {
                const auto next = product(phi(u + d, d, y), beta_row(u + d)[target]);
                const double share = std::min(ratio(next, ahead), 1.0);
                sink.segments[(u + d - 1) * width + (d - 1) * automaton_.n_labels + y] +=
                    of_step * share;
                entropy += of_step * entropy_term(share);
            }
        }
        for (std::int64_t s = 0; s < n; ++s) {
            const double p = of_state[s];
            beta_row(u)[s] = p > 0.0 ? total_.value - alpha(u, s) + std::log(p) : kZero;
            if (u > 0) entropy -= entropy_term(p);
        }
    }
    if (sink.entropy != nullptr) *sink.entropy = std::max(entropy, 0.0);
}

// Counts an arc that is taken into a segment that begins at token u, with probability p.
void LogChart::add_arc(std::int64_t u, std::int64_t arc, double p,
                       const PosteriorSink& sink) const {
    if (sink.arc_counts != nullptr) sink.arc_counts[arc] += sink.weight * p;
    if (sink.arcs != nullptr) sink.arcs[u * automaton_.n_arcs() + arc] += p;
    if (sink.position_counts == nullptr) return;
    double* row = sink.position_counts + u * scores_.n_positional;
    for (auto k = automaton_.pattern_offsets[arc]; k < automaton_.pattern_offsets[arc + 1]; ++k) {
        const auto pattern = automaton_.pattern_ids[k];
        if (pattern < scores_.n_positional) row[pattern] += p;
    }
}

}  // namespace trelliswork
