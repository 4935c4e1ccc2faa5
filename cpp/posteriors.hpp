// The backward half of the kernel: posteriors of segments and arcs, and the entropy.
//
// Walks t = T … 1. `pending[u, g]` collects ⊕_d φ ⊗ β̃ over the segments that begin at u by step g;
// when t reaches u it is complete, and β̃[u, ·] and the arc posteriors at u follow from it:
//
//   ahead[g] = ⊕_d φ ⊗ β̃[u + d, target(g)],   β̃[u, s] = ⊕ over arcs a from s  w[a] ⊗ ahead[step(a)]
//   P(arc a at u) = α[u, source(a)] ⊗ w[a] ⊗ ahead[step(a)]
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chart.hpp"

namespace trelliswork {

template <class S>
void Chart<S>::posteriors(const PosteriorSink& sink) {
    if (log_total_ == kNegativeInfinity) return;
    const auto n_steps = automaton_.n_steps();
    const auto n_ports = automaton_.blocks.n_ports;
    const auto& port = automaton_.blocks.port;
    const auto n_durations_ = static_cast<std::int64_t>(n_durations());
    const bool one_weight = scores_.positional == nullptr && automaton_.n_classes == 1;
    const bool entropy_wanted = sink.entropy != nullptr;
    const bool arc_by_arc = !S::packs || sink.packed_counts == nullptr || sink.arcs != nullptr ||
                            (entropy_wanted && !one_weight);
    const bool state_by_state = automaton_.one_step && n_durations_ == 1;
    if (!state_by_state) pending_.resize(static_cast<std::size_t>(n_durations_ * n_ports));
    if (arc_by_arc) gathered_.resize(static_cast<std::size_t>(n_states()));
    ahead_.assign(static_cast<std::size_t>(n_ports) + 1, S::zero);
    beta_.resize(static_cast<std::size_t>(n_states()));
    scratch_.resize(static_cast<std::size_t>(automaton_.blocks.most_rows));
    while (!arc_by_arc && counters_.size() < static_cast<std::size_t>(automaton_.n_classes)) {
        counters_.emplace_back(automaton_.blocks);
    }
    for (std::int64_t s = 0; s < n_states(); ++s) beta_[s] = S::divide(final_weight(s), total_);
    // E[score] − C_T, from terms that are each of moderate size.
    double expected = 0.0;
    // Adds p · x, where x may be −inf if p is 0.
    const auto expect = [&expected](double p, double x) {
        if (p > 0.0) expected += p * x;
    };
    // Adds what states weigh at the start or at the end.
    const auto expect_states = [&](std::int64_t t, const std::vector<double>& weight,
                                   double shift) {
        for (std::int64_t s = 0; s < n_states() && entropy_wanted; ++s) {
            expect(S::to_probability(S::times(alpha(t, s), beta_[s])), weight[s] - shift);
        }
    };

    // Adds p to the counts of the patterns that arc a fires.
    const auto add_fired = [&](std::int64_t a, double p, double* counts) {
        for (auto k = automaton_.pattern_offsets[a]; k < automaton_.pattern_offsets[a + 1]; ++k) {
            counts[automaton_.pattern_ids[k]] += p;
        }
    };

    // The ring must hold enter[u] for the D starts before row T.
    seek(scores_.length);
    expect_states(scores_.length, automaton_.final, final_shift());
    auto oldest = scores_.length;
    for (auto t = scores_.length; t >= 1; --t) {
        seek(t);
        const double* alpha_row = rows_[t];
        const auto u = t - 1;
        const bool vectors = S::can_underflow && state_by_state;
        for (std::int64_t s = 0; s < n_states() && !vectors; ++s) {
            beta_[s] = alpha_row[s] == S::zero ? S::zero : beta_[s];
        }
        if (state_by_state) {
            double* segments = sink.segments + u * n_labels();
            const double* e = emission_row(t);
            const auto* to = automaton_.state_port.data();
            const auto* label = automaton_.state_label.data();
            if (vectors) {
                block_kernels().leave_states(std::ssize(automaton_.state_runs),
                                             automaton_.state_runs.data(), to, e, rescale_[t],
                                             alpha_row, beta_.data(), ahead_.data(), segments);
            }
            for (std::int64_t s = 0; s < n_states() && !vectors; ++s) {
                segments[label[s]] += S::to_probability(S::times(alpha_row[s], beta_[s]));
                ahead_[to[s]] = S::times(S::times(e[label[s]], rescale_[t]), beta_[s]);
            }
            for (std::int64_t y = 0; y < n_labels() && entropy_wanted; ++y) {
                expect(segments[y], phi_row(t)[y] + (shift_[u] - growth_[t]));
            }
        } else {
            while (oldest > std::max<std::int64_t>(0, t - n_durations_)) {
                --oldest;
                compute_enter(oldest, weights_at(oldest));
                std::fill_n(pending_.begin() + (oldest % n_durations_) * n_ports, n_ports,
                            typename S::Sum{});
            }
            double behind = -growth_[t];  // C_{t−d} − C_t
            const auto longest = std::min(n_durations_, t);
            for (std::int64_t d = 1; d <= longest; behind -= growth_[t - d], ++d) {
                const double* enter = enter_row(t - d);
                auto* into = pending_.data() + ((t - d) % n_durations_) * n_ports;
                double* segments = sink.segments + (u * n_durations_ + d - 1) * n_labels();
                for (std::int64_t g = 0; g < n_steps; ++g) {
                    const auto y = automaton_.step_label[g];
                    const double next = S::times(S::times(emission(t, static_cast<int>(d), y),
                                                          beta_[automaton_.step_target[g]]),
                                                 rescale_[t]);
                    into[port[g]].add(next);
                    const double p = S::to_probability(S::times(enter[port[g]], next));
                    segments[y] += p;
                    expect(p, phi_row(t)[(d - 1) * n_labels() + y] + (behind + shift_[t - d]));
                }
            }
            const auto* complete = pending_.data() + (u % n_durations_) * n_ports;
            for (const auto i : port) ahead_[i] = complete[i].value();
        }
        // `ahead` of row u has now received everything that begins there.
        const auto& weights = weights_at(u);
        if (!arc_by_arc) {
            std::fill(beta_.begin(), beta_.end(), 0.0);
            block_kernels().sum_backward(automaton_.blocks.view(), weights.packed.data(),
                                         weights.transposed.data(), ahead_.data(), scratch_.data(),
                                         beta_.data());
            auto& counter = counters_[static_cast<std::size_t>(class_at(u))];
            counter.add(rows_[u], ahead_);
            if (sink.position_counts != nullptr) {
                row_counts_.assign(weights.packed.size(), 0.0);
                counter.settle(weights.packed.data(), 1.0, row_counts_.data());
                double* row = sink.position_counts + u * automaton_.n_patterns;
                for (std::size_t i = 0; i < row_counts_.size(); ++i) {
                    sink.packed_counts[i] += sink.weight * row_counts_[i];
                    const auto a = automaton_.blocks.slot_arc[i];
                    if (a >= 0) add_fired(a, row_counts_[i], row);
                }
            } else if (scores_.positional != nullptr) {
                counter.settle(weights.packed.data(), sink.weight, sink.packed_counts);
            } else if (u == rows_.block_start()) {  // these rows of α are about to be replaced
                for (auto& each : counters_) each.flush();
            }
            continue;
        }
        std::fill(gathered_.begin(), gathered_.end(), typename S::Sum{});
        for (std::int64_t g = 0; g < n_steps; ++g) {
            const double next = ahead_[port[g]];
            if (next == S::zero) continue;
            for (auto a = automaton_.step_offsets[g]; a < automaton_.step_offsets[g + 1]; ++a) {
                const double through = S::times(weights.weight[a], next);
                gathered_[automaton_.source[a]].add(through);
                const double p =
                    S::to_probability(S::times(alpha(u, automaton_.source[a]), through));
                if (entropy_wanted) expect(p, weights.log_weight[a] - weights.shift);
                if (sink.arc_counts != nullptr) sink.arc_counts[a] += sink.weight * p;
                if (sink.arcs != nullptr) sink.arcs[u * automaton_.n_arcs() + a] += p;
                if (sink.position_counts != nullptr) {
                    add_fired(a, p, sink.position_counts + u * automaton_.n_patterns);
                }
            }
        }
        for (std::int64_t s = 0; s < n_states(); ++s) beta_[s] = gathered_[s].value();
    }
    seek(0);
    expect_states(0, automaton_.initial, growth_[0]);
    for (std::size_t c = 0; c < counters_.size() && !arc_by_arc; ++c) {
        counters_[c].settle(constant_.of_class[c].packed.data(), sink.weight, sink.packed_counts);
    }
    if (!entropy_wanted) return;
    if (!arc_by_arc) {  // the counts are of this sequence alone, with weight 1
        const auto& weights = constant_.of_class[0];
        for (std::size_t i = 0; i < automaton_.blocks.slot_arc.size(); ++i) {
            const auto a = automaton_.blocks.slot_arc[i];
            if (a >= 0) expect(sink.packed_counts[i], weights.log_weight[a] - weights.shift);
        }
    }
    *sink.entropy = std::max(S::to_log(total_) - expected, 0.0);
}

}  // namespace trelliswork
