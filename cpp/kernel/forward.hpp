// The forward half of the kernel: every row of α, and the total.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "kernel/chart.hpp"

namespace trelliswork {

template <class S>
bool Chart<S>::forward(const SequenceScores& scores) {
    scores_ = scores;
    const auto positional = scores.survey_positional();
    positional_forbids_ = positional.forbids;
    if (S::scaled && !is_exact(scores, positional.largest, constant_.cancels)) return false;
    by_factors_ = factors_will_do();
    if (by_factors_) plan_factors();
    allocate();
    if (!begin()) return false;
    return rows_.run([this] { return fill_block(); }) && finish_total();
}

template <class S>
void Chart<S>::allocate() {
    const std::int64_t emission_width = S::scaled ? this->emission_width() : 0;
    rows_.plan(scores_.length, n_durations(), row_width(),
               sizeof(double) * static_cast<std::size_t>(row_width() + emission_width),
               memory_limit_);
    emissions_.resize(static_cast<std::size_t>(rows_.block_length() * emission_width));
    enter_.assign(static_cast<std::size_t>(n_durations() * enter_width()), S::zero);
    const auto n_rows = static_cast<std::size_t>(scores_.length) + 1;
    growth_.assign(n_rows, 0.0);
    rescale_.assign(n_rows, S::one);
    shift_.assign(n_rows, 0.0);
    longest_.assign(static_cast<std::size_t>(n_labels()), n_durations());
    if (scores_.longest != nullptr) longest_.assign(scores_.longest, scores_.longest + n_labels());
    if (by_label() || !automaton_.forest.empty()) {
        sources_.resize(2 * static_cast<std::size_t>(n_states()));
        by_node_.assign(static_cast<std::size_t>(automaton_.blocks.n_ports), S::zero);
        by_port_.assign(static_cast<std::size_t>(enter_width()), S::zero);
    }
}

// Row 0: the initial weights.
template <class S>
bool Chart<S>::begin() {
    const auto& initial = automaton_.initial;
    if constexpr (S::scaled) {
        const double largest = *std::max_element(initial.begin(), initial.end());
        if (largest > kNegativeInfinity) growth_[0] = largest;
    }
    for (std::int64_t s = 0; s < n_states(); ++s) {
        rows_[0][s] = S::from_log(initial[s] - growth_[0]);
        const bool lost =
            S::scaled && initial[s] > kNegativeInfinity && rows_[0][s] < kSmallestSafe;
        if (lost) return false;
    }
    return true;
}

template <class S>
bool Chart<S>::fill_block() {
    const auto start = rows_.block_start();
    for (auto u = std::max<std::int64_t>(0, start - n_durations() + 1); u < start; ++u) {
        compute_enter(u);
    }
    for (auto t = start + 1; t <= rows_.block_end(); ++t) {
        shift_[t - 1] = compute_enter(t - 1);
        compute_emissions(t);
        compute_row(t);
        if constexpr (S::scaled) {
            if (!normalise_row(t)) return false;
        }
    }
    return true;
}

// Returns the shift of the arc weights.
template <class S>
double Chart<S>::compute_enter(std::int64_t u) {
    const auto& weights = packed_at(u);
    double* alpha_row = rows_[u];
    double* enter = enter_row(u);
    const auto& kernels = block_kernels();
    const auto forward = S::scaled ? kernels.sum_forward : kernels.best_forward;
    const auto blocks = automaton_.blocks.view();
    const auto& forest = automaton_.forest;
    if (forest.empty()) {
        forward(blocks, weights.packed.data(), alpha_row, by_label() ? by_node_.data() : enter);
        for (std::size_t g = 0; by_label() && g < forest.port.size(); ++g) {
            enter[forest.port[g]] = by_node_[automaton_.step_port[g]];
        }
        return weights.shift;
    }
    forest.template pool<S>(alpha_row);
    forward(blocks, weights.packed.data(), alpha_row, by_node_.data());
    double shift = weights.shift;
    if (by_factors_) {
        shift += compute_factors(u);
        for (std::size_t i = 0; i < forest.nodes.size(); ++i) {
            double& sum = by_node_[forest.nodes[i].sum];
            sum = S::times(sum, factors_[i]);
        }
    }
    forest.template enter<S>(by_node_.data(), enter);
    return shift;
}

// The rows of `enter` that segments which end in row t began with, the shortest first.
template <class S>
const double* const* Chart<S>::enter_rows(std::int64_t t, std::int64_t longest) {
    enter_rows_.clear();
    for (std::int64_t d = 1; d <= longest; ++d) enter_rows_.push_back(enter_row(t - d));
    return enter_rows_.data();
}

// e[d, y] = exp(φ[t−1, d, y] + shift_{t−d} + C_{t−d} − C_{t−1} − best), C_t = C_{t−1} + best.
template <class S>
void Chart<S>::compute_emissions(std::int64_t t) {
    if constexpr (S::scaled) {
        const double* phi = phi_row(t);
        double* e = emission_row(t);
        if (n_durations() == 1) {
            chain_kernels().exponentiate(1, automaton_.n_labels, phi, e, &growth_[t]);
            growth_[t] += shift_[t - 1];
            return;
        }
        const auto longest = std::min<std::int64_t>(n_durations(), t);
        sums_.resize(static_cast<std::size_t>(longest * n_labels()));
        double behind = 0.0;  // C_{t−d} − C_{t−1}
        for (std::int64_t d = 1; d <= longest; behind -= growth_[t - d], ++d) {
            const double* from = phi + (d - 1) * n_labels();
            double* to = sums_.data() + (d - 1) * n_labels();
            const double scale = behind + shift_[t - d];
            for (std::int64_t y = 0; y < n_labels(); ++y) to[y] = from[y] + scale;
        }
        chain_kernels().exponentiate(1, static_cast<int>(sums_.size()), sums_.data(), e,
                                     &growth_[t]);
    }
}

template <class S>
void Chart<S>::compute_row(std::int64_t t) {
    const auto longest = static_cast<int>(std::min<std::int64_t>(n_durations(), t));
    double* out = rows_[t];
    if (automaton_.one_step && n_durations() == 1) {
        const double* enter = enter_row(t - 1);
        const double* e = S::scaled ? emission_row(t) : phi_row(t);
        const auto* port = automaton_.state_port.data();
        if (S::scaled) {
            block_kernels().enter_states(std::ssize(automaton_.state_runs),
                                         automaton_.state_runs.data(), port, enter, e, out);
            return;
        }
        const auto* label = automaton_.state_label.data();
        for (std::int64_t s = 0; s < n_states(); ++s) {
            out[s] = S::times(enter[port[s]], e[label[s]]);
        }
        return;
    }
    if (by_label()) {
        const auto& runs = automaton_.forest.runs;
        const auto& kernels = segment_kernels();
        const auto sum = S::scaled ? kernels.enter_segments : kernels.best_segments;
        sum(std::ssize(runs), runs.data(), longest, automaton_.n_labels, longest_.data(),
            enter_rows(t, longest), S::scaled ? emission_row(t) : phi_row(t), by_port_.data());
        for (std::int64_t s = 0; s < n_states(); ++s) {
            typename S::Sum total;
            for (auto g = automaton_.state_offsets[s]; g < automaton_.state_offsets[s + 1]; ++g) {
                total.add(by_port_[automaton_.forest.port[g]]);
            }
            out[s] = total.value();
        }
        return;
    }
    for (std::int64_t s = 0; s < n_states(); ++s) {
        typename S::Sum sum;
        for (auto g = automaton_.state_offsets[s]; g < automaton_.state_offsets[s + 1]; ++g) {
            for (int d = 1; d <= longest; ++d) {
                sum.add(S::times(enter_row(t - d)[automaton_.step_port[g]],
                                 emission(t, d, automaton_.step_label[g])));
            }
        }
        out[s] = sum.value();
    }
}

template <class S>
bool Chart<S>::normalise_row(std::int64_t t) {
    double* alpha_row = rows_[t];
    double smallest = 0.0;
    double largest = 0.0;
    std::int64_t n_zeros = 0;
    block_kernels().range(alpha_row, n_states(), &smallest, &largest, &n_zeros);
    if (smallest < kSmallestSafe) return false;
    if (n_zeros > unreached(t) && !zeros_are_structural(t)) return false;
    if (largest == 0.0) return true;
    rescale_[t] = S::rescale_factor(largest);
    if (rescale_[t] == 1.0) return true;
    growth_[t] -= std::log(rescale_[t]);
    for (std::int64_t s = 0; s < n_states(); ++s) alpha_row[s] *= rescale_[t];
    return true;
}

// Zeros of row t under any scores: states that no path of t arcs reaches.
template <class S>
std::int64_t Chart<S>::unreached(std::int64_t t) const {
    const auto& counts = n_durations() == 1 ? automaton_.n_reached : automaton_.n_reached_within;
    if (counts.empty()) return 0;
    return n_states() - counts[std::min(static_cast<std::size_t>(t), counts.size() - 1)];
}

// True when no path reaches the zeros of row t. Earlier rows have passed the same test, so a
// zero there is a true zero.
template <class S>
bool Chart<S>::zeros_are_structural(std::int64_t t) {
    const double* alpha_row = rows_[t];
    const auto longest = std::min<std::int64_t>(n_durations(), t);
    const bool all_open = automaton_.guards.empty() && !constant_.forbids && !positional_forbids_;
    for (std::int64_t s = 0; s < n_states(); ++s) {
        if (alpha_row[s] > 0.0) continue;
        for (auto g = automaton_.state_offsets[s]; g < automaton_.state_offsets[s + 1]; ++g) {
            const auto y = automaton_.step_label[g];
            for (std::int64_t d = 1; d <= std::min<std::int64_t>(longest, longest_[y]); ++d) {
                if (phi_row(t)[(d - 1) * n_labels() + y] == kNegativeInfinity) continue;
                const double* before = rows_[t - d];
                for (auto a = automaton_.step_offsets[g]; a < automaton_.step_offsets[g + 1]; ++a) {
                    if (before[automaton_.source[a]] > 0.0 &&
                        (all_open || log_weight(t - d, a) > kNegativeInfinity)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

template <class S>
bool Chart<S>::finish_total() {
    typename S::Sum sum;
    const double* last = rows_[scores_.length];
    bool some_path = false;
    for (std::int64_t s = 0; s < n_states(); ++s) {
        sum.add(S::times(last[s], final_weight(s)));
        some_path |= last[s] > S::zero && automaton_.final[s] > kNegativeInfinity;
    }
    total_ = sum.value();
    if constexpr (S::scaled) {
        log_total_ = kNegativeInfinity;
        if (!some_path) return true;
        if (total_ < kSmallestSafe) return false;
        ScaleSum scale;
        scale.add(final_shift());
        for (const double growth : growth_) scale.add(growth);
        // They are sizes of terms only: the shifts are in the growths.
        for (const double shift : shift_) scale.add_size(shift);
        log_total_ = scale.plus(std::log(total_));
        return scale.is_exact(n_durations());
    }
    log_total_ = some_path ? total_ : kNegativeInfinity;
    return true;
}

}  // namespace trelliswork
