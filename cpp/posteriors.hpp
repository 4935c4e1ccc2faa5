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

// Sums arc counts over several tokens at a time: counts[a] += w[a] Σ_u α[u, source(a)] ahead[u, a].
// Weights are those of one token class; rows of α must stay readable until `flush`.
class ArcCounter {
  public:
    ArcCounter(const Automaton& automaton, double* scratch)
        : automaton_(automaton),
          scratch_(scratch),
          rows_(static_cast<std::size_t>(kCountedRows * automaton.blocks.n_ports)) {}

    void add(const double* alpha, const std::vector<double>& ahead, double weight,
             const double* weights, double* counts) {
        alpha_[n_rows_] = alpha;
        double* row = rows_.data() + n_rows_ * automaton_.blocks.n_ports;
        for (std::size_t i = 0; i < ahead.size(); ++i) row[i] = weight * ahead[i];
        if (++n_rows_ == kCountedRows) flush(weights, counts);
    }

    void flush(const double* weights, double* counts) {
        if (n_rows_ == 0) return;
        const double* ahead[kCountedRows] = {};
        for (std::int64_t k = 0; k < n_rows_; ++k) {
            ahead[k] = rows_.data() + k * automaton_.blocks.n_ports;
        }
        block_kernels().count(automaton_.blocks.view(), weights, n_rows_, alpha_, ahead, scratch_,
                              counts);
        n_rows_ = 0;
    }

  private:
    const Automaton& automaton_;
    double* scratch_;
    std::vector<double> rows_;  // (kCountedRows, ports)
    const double* alpha_[kCountedRows] = {};
    std::int64_t n_rows_ = 0;
};

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
    std::vector<typename S::Sum> pending(static_cast<std::size_t>(n_durations_ * n_ports));
    std::vector<typename S::Sum> gathered(static_cast<std::size_t>(arc_by_arc ? n_states() : 0));
    std::vector<double> ahead(static_cast<std::size_t>(n_ports), S::zero);
    std::vector<double> beta(static_cast<std::size_t>(n_states()));
    std::vector<ArcCounter> counters(
        static_cast<std::size_t>(arc_by_arc ? 0 : automaton_.n_classes),
        ArcCounter(automaton_, scratch_.data()));
    for (std::int64_t s = 0; s < n_states(); ++s) beta[s] = S::divide(final_weight(s), total_);
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
            expect(S::to_probability(S::times(alpha(t, s), beta[s])), weight[s] - shift);
        }
    };
    const auto flush = [&] {
        for (std::size_t c = 0; c < counters.size(); ++c) {
            counters[c].flush(constant_.of_class[c].packed.data(), sink.packed_counts);
        }
    };

    // The ring must hold enter[u] for the D starts before row T.
    seek(scores_.length);
    expect_states(scores_.length, automaton_.final, final_shift());
    auto oldest = scores_.length;
    for (auto t = scores_.length; t >= 1; --t) {
        seek(t);
        for (std::int64_t s = 0; s < n_states(); ++s) {
            if (alpha(t, s) == S::zero) beta[s] = S::zero;
        }
        while (oldest > std::max<std::int64_t>(0, t - n_durations_)) {
            --oldest;
            compute_enter(oldest, weights_at(oldest));
            std::fill_n(pending.begin() + (oldest % n_durations_) * n_ports, n_ports,
                        typename S::Sum{});
        }
        double behind = -growth_[t];  // C_{t−d} − C_t
        for (std::int64_t d = 1; d <= std::min(n_durations_, t); behind -= growth_[t - d], ++d) {
            const double* enter = enter_row(t - d);
            auto* into = pending.data() + ((t - d) % n_durations_) * n_ports;
            double* segments = sink.segments == nullptr
                                   ? nullptr
                                   : sink.segments + ((t - 1) * n_durations_ + d - 1) * n_labels();
            for (std::int64_t g = 0; g < n_steps; ++g) {
                const auto y = automaton_.step_label[g];
                const double next = S::times(
                    S::times(emission(t, static_cast<int>(d), y), beta[automaton_.step_target[g]]),
                    rescale_[t]);
                into[port[g]].add(next);
                const double p = S::to_probability(S::times(enter[port[g]], next));
                if (segments != nullptr) segments[y] += p;
                if (entropy_wanted) {
                    expect(p, phi_row(t)[(d - 1) * n_labels() + y] + (behind + shift_[t - d]));
                }
            }
        }
        // Row u = t − 1 has now received everything that begins there.
        const auto u = t - 1;
        const auto* complete = pending.data() + (u % n_durations_) * n_ports;
        for (std::int64_t i = 0; i < n_ports; ++i) ahead[i] = complete[i].value();
        const auto& weights = weights_at(u);
        if (!arc_by_arc) {
            std::fill(beta.begin(), beta.end(), 0.0);
            block_kernels().sum_backward(automaton_.blocks.view(), weights.packed.data(),
                                         ahead.data(), beta.data());
            const auto c = static_cast<std::size_t>(class_at(u));
            counters[c].add(rows_[u], ahead, sink.weight, weights.packed.data(),
                            sink.packed_counts);
            // Local weights, and rows that are about to be replaced, cannot wait.
            if (scores_.positional != nullptr) {
                counters[c].flush(weights.packed.data(), sink.packed_counts);
            } else if (u == rows_.block_start()) {
                flush();
            }
            continue;
        }
        std::fill(gathered.begin(), gathered.end(), typename S::Sum{});
        for (std::int64_t g = 0; g < n_steps; ++g) {
            const double next = ahead[port[g]];
            if (next == S::zero) continue;
            for (auto a = automaton_.step_offsets[g]; a < automaton_.step_offsets[g + 1]; ++a) {
                const double through = S::times(weights.weight[a], next);
                gathered[automaton_.source[a]].add(through);
                const double p =
                    S::to_probability(S::times(alpha(u, automaton_.source[a]), through));
                if (entropy_wanted) expect(p, weights.log_weight[a] - weights.shift);
                if (sink.arc_counts != nullptr) sink.arc_counts[a] += sink.weight * p;
                if (sink.arcs != nullptr) sink.arcs[u * automaton_.n_arcs() + a] += p;
            }
        }
        for (std::int64_t s = 0; s < n_states(); ++s) beta[s] = gathered[s].value();
    }
    seek(0);
    expect_states(0, automaton_.initial, growth_[0]);
    if (!entropy_wanted) return;
    if (!arc_by_arc) {  // the counts are of this sequence alone, with weight 1
        const auto& weights = constant_.of_class[0];
        for (std::int64_t a = 0; a < automaton_.n_arcs(); ++a) {
            expect(sink.packed_counts[automaton_.blocks.slot[a]],
                   weights.log_weight[a] - weights.shift);
        }
    }
    *sink.entropy = std::max(S::to_log(total_) - expected, 0.0);
}

}  // namespace trelliswork
