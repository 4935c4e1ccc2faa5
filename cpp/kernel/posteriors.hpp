// The backward half of the kernel: posteriors of segments and arcs, and the entropy.
//
// Walks t = T … 1. `pending[u, g]` collects Σ_d φ β̃ over the segments that begin at u by step g;
// when t reaches u it is complete, and β̃[u, ·] and the arc posteriors at u follow from it:
//
//   ahead[g] = Σ_d φ β̃[u + d, target(g)],   β̃[u, s] = Σ over arcs a from s  w[a] ahead[step(a)]
//   P(arc a at u) = α[u, source(a)] w[a] ahead[step(a)]
//
// All values are probabilities: S is Real.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/chart.hpp"

namespace trelliswork {

template <class S>
void Chart<S>::posteriors(const PosteriorSink& sink) {
    if (log_total_ == kNegativeInfinity) return;
    const auto n_ports = static_cast<std::size_t>(automaton_.n_ports);
    const bool one_weight = scores_.positional == nullptr && automaton_.n_classes == 1;
    const bool arc_by_arc = sink.packed_counts == nullptr || sink.arcs != nullptr ||
                            (sink.entropy != nullptr && !one_weight);
    const bool state_by_state = automaton_.one_step && n_durations() == 1;
    const bool by_ports = by_label();
    const auto n_starts = static_cast<std::size_t>(n_durations());
    if (by_ports) {
        pending_rows_.resize(n_starts * static_cast<std::size_t>(automaton_.forest.n_ports));
    } else if (!state_by_state) {
        pending_.resize(n_starts * n_ports);
    }
    ahead_.assign(n_ports + 1, 0.0);
    beta_.resize(static_cast<std::size_t>(n_states()));
    scratch_.resize(static_cast<std::size_t>(automaton_.blocks.most_rows));
    const auto n_classes = static_cast<std::size_t>(automaton_.n_classes);
    while (!arc_by_arc && counters_.size() < n_classes) {
        counters_.emplace_back(automaton_.blocks);
    }
    expected_ = 0.0;
    // Adds the weights of states at the start or at the end to the expected score.
    const auto expect_states = [&](std::int64_t t, const std::vector<double>& weight,
                                   double shift) {
        for (std::int64_t s = 0; s < n_states() && sink.entropy != nullptr; ++s) {
            expect(alpha(t, s) * beta_[s], weight[s] - shift);
        }
    };

    for (std::int64_t s = 0; s < n_states(); ++s) beta_[s] = final_weight(s) / total_;
    seek(scores_.length);
    expect_states(scores_.length, automaton_.final, final_shift());
    oldest_ = scores_.length;
    for (auto t = scores_.length; t >= 1; --t) {
        seek(t);
        if (state_by_state) {
            leave_states(t, sink);
        } else if (by_ports) {
            leave_ports(t, sink);
        } else {
            leave_segments(t, sink);
        }
        // `ahead` of row t − 1 has now received everything that begins there.
        if (arc_by_arc) {
            pass_arcs(t - 1, sink);
        } else {
            pass_packed(t - 1, sink);
        }
    }
    seek(0);
    expect_states(0, automaton_.initial, growth_[0]);
    for (std::size_t c = 0; c < counters_.size() && !arc_by_arc; ++c) {
        counters_[c].settle(constant_.of_class[c].packed.data(), sink.weight, sink.packed_counts);
    }
    if (sink.entropy == nullptr) return;
    if (!arc_by_arc) {  // the counts are of this sequence alone, with weight 1
        const auto& weights = constant_.of_class[0];
        for (std::size_t i = 0; i < automaton_.blocks.slot_arc.size(); ++i) {
            const auto a = automaton_.blocks.slot_arc[i];
            if (a >= 0) expect(sink.packed_counts[i], weights.log_weight[a] - weights.shift);
        }
    }
    *sink.entropy = std::max(std::log(total_) - expected_, 0.0);
}

// Label posteriors of token t − 1 and `ahead`, where every state is entered by one step and every
// segment is a token: P(state s at t) = α[t, s] β̃[t, s].
template <class S>
void Chart<S>::leave_states(std::int64_t t, const PosteriorSink& sink) {
    const double* alpha_row = rows_[t];
    double* segments = sink.segments + (t - 1) * n_labels();
    const double* e = emission_row(t);
    const auto* to = automaton_.state_port.data();
    block_kernels().leave_states(std::ssize(automaton_.state_runs), automaton_.state_runs.data(),
                                 to, e, rescale_[t], alpha_row, beta_.data(), ahead_.data(),
                                 segments);
    for (std::int64_t y = 0; y < n_labels() && sink.entropy != nullptr; ++y) {
        expect(segments[y], phi_row(t)[y] + (shift_[t - 1] - growth_[t]));
    }
}

// The same for any automaton: all segments that end in row t; `ahead` is of row t − 1.
template <class S>
void Chart<S>::leave_segments(std::int64_t t, const PosteriorSink& sink) {
    const auto n_ports = automaton_.n_ports;
    const auto& port = automaton_.step_port;
    const auto longest = static_cast<std::int64_t>(n_durations());
    const double* alpha_row = rows_[t];
    for (std::int64_t s = 0; s < n_states(); ++s) {
        if (alpha_row[s] == 0.0) beta_[s] = 0.0;
    }
    // The ring must hold enter[u] for the D starts before row t.
    while (oldest_ > std::max<std::int64_t>(0, t - longest)) {
        --oldest_;
        compute_enter(oldest_);
        std::fill_n(pending_.begin() + (oldest_ % longest) * n_ports, n_ports, 0.0);
    }
    double behind = -growth_[t];  // C_{t−d} − C_t
    for (std::int64_t d = 1; d <= std::min(longest, t); behind -= growth_[t - d], ++d) {
        const double* enter = enter_row(t - d);
        auto* into = pending_.data() + ((t - d) % longest) * n_ports;
        double* segments = sink.segments + ((t - 1) * longest + d - 1) * n_labels();
        for (std::int64_t g = 0; g < automaton_.n_steps(); ++g) {
            const auto y = automaton_.step_label[g];
            const double next = emission(t, static_cast<int>(d), y) *
                                beta_[automaton_.step_target[g]] * rescale_[t];
            into[port[g]] += next;
            const double p = enter[port[g]] * next;
            segments[y] += p;
            expect(p, phi_row(t)[(d - 1) * n_labels() + y] + (behind + shift_[t - d]));
        }
    }
    const auto* complete = pending_.data() + ((t - 1) % longest) * n_ports;
    for (const auto i : port) ahead_[i] = complete[i];
}

// The same by the vector loops of simd/segment_kernels.hpp.
template <class S>
void Chart<S>::leave_ports(std::int64_t t, const PosteriorSink& sink) {
    const auto n_ports = automaton_.forest.n_ports;
    const auto& port = automaton_.forest.port;
    const auto longest = std::min<std::int64_t>(n_durations(), t);
    const auto pending_row = [&](std::int64_t u) {
        return pending_rows_.data() + (u % n_durations()) * n_ports;
    };
    const double* alpha_row = rows_[t];
    for (std::int64_t g = 0; g < automaton_.n_steps(); ++g) {
        const auto s = automaton_.step_target[g];
        by_port_[port[g]] = alpha_row[s] == 0.0 ? 0.0 : beta_[s] * rescale_[t];
    }
    // The ring must hold enter[u] for the D starts before row t.
    while (oldest_ > t - longest) {
        --oldest_;
        compute_enter(oldest_);
        std::fill_n(pending_row(oldest_), n_ports, 0.0);
    }
    pending_into_.clear();
    for (std::int64_t d = 1; d <= longest; ++d) pending_into_.push_back(pending_row(t - d));
    double* segments = sink.segments + (t - 1) * n_durations() * n_labels();
    const auto& runs = automaton_.forest.runs;
    segment_kernels().leave_segments(std::ssize(runs), runs.data(), static_cast<int>(longest),
                                     automaton_.n_labels, longest_.data(), enter_rows(t, longest),
                                     emission_row(t), by_port_.data(), pending_into_.data(),
                                     segments);
    double behind = -growth_[t];  // C_{t−d} − C_t
    for (std::int64_t d = 1; d <= longest && sink.entropy != nullptr; ++d) {
        for (auto i = (d - 1) * n_labels(); i < d * n_labels(); ++i) {
            expect(segments[i], phi_row(t)[i] + (behind + shift_[t - d]));
        }
        behind -= growth_[t - d];
    }
    const double* complete = pending_row(t - 1);
    for (std::size_t g = 0; g < port.size(); ++g) {
        ahead_[automaton_.step_port[g]] = complete[port[g]];
    }
}

// From `ahead` of row u to β̃ and to arc counts, by the vector loops.
template <class S>
void Chart<S>::pass_packed(std::int64_t u, const PosteriorSink& sink) {
    const auto& weights = packed_at(u);
    auto& counter = counters_[static_cast<std::size_t>(class_at(u))];
    const auto& forest = automaton_.forest;
    const auto backward = [&](const double* ahead, double* beta) {
        block_kernels().sum_backward(automaton_.blocks.view(), weights.packed.data(),
                                     weights.transposed.data(), ahead, scratch_.data(), beta);
    };
    if (forest.empty()) {
        std::fill(beta_.begin(), beta_.end(), 0.0);
        backward(ahead_.data(), beta_.data());
        counter.add(rows_[u], ahead_.data());
    } else {
        if (by_factors_) {
            if (sink.position_counts != nullptr) {
                count_factors(u, sink);
            } else {
                compute_factors(u);
            }
            for (std::size_t i = 0; i < forest.nodes.size(); ++i) {
                by_node_[forest.nodes[i].sum] = ahead_[forest.nodes[i].port] * factors_[i];
            }
        } else {
            for (const auto& node : forest.nodes) by_node_[node.sum] = ahead_[node.port];
        }
        std::fill(sources_.begin(), sources_.end(), 0.0);
        backward(by_node_.data(), sources_.data());
        forest.spread(sources_.data(), beta_.data());
        counter.add(rows_[u], by_node_.data());
    }
    const bool own_weights = scores_.positional != nullptr && !by_factors_;
    if (own_weights && sink.position_counts != nullptr) {
        row_counts_.assign(static_cast<std::size_t>(automaton_.blocks.n_slots), 0.0);
        counter.settle(weights.packed.data(), 1.0, row_counts_.data());
        for (std::size_t i = 0; i < row_counts_.size(); ++i) {
            sink.packed_counts[i] += sink.weight * row_counts_[i];
            const auto a = automaton_.blocks.slot_arc[i];
            if (a >= 0) add_fired(a, row_counts_[i], sink.position_counts, u);
        }
    } else if (own_weights) {
        counter.settle(weights.packed.data(), sink.weight, sink.packed_counts);
    } else if (u == rows_.block_start()) {  // these rows of α are about to be replaced
        for (auto& each : counters_) each.flush();
    }
}

// The same arc by arc, where single arcs or their entropy are wanted.
template <class S>
void Chart<S>::pass_arcs(std::int64_t u, const PosteriorSink& sink) {
    const auto& weights = weights_at(u);
    std::fill(beta_.begin(), beta_.end(), 0.0);
    for (std::int64_t g = 0; g < automaton_.n_steps(); ++g) {
        const double next = ahead_[automaton_.step_port[g]];
        if (next == 0.0) continue;
        for (auto a = automaton_.step_offsets[g]; a < automaton_.step_offsets[g + 1]; ++a) {
            const double through = weights.weight[a] * next;
            beta_[automaton_.source[a]] += through;
            const double p = alpha(u, automaton_.source[a]) * through;
            if (sink.entropy != nullptr) expect(p, weights.log_weight[a] - weights.shift);
            if (sink.arc_counts != nullptr) sink.arc_counts[a] += sink.weight * p;
            if (sink.arcs != nullptr) sink.arcs[u * automaton_.n_arcs() + a] += p;
            if (sink.position_counts != nullptr) add_fired(a, p, sink.position_counts, u);
        }
    }
}

// Adds p to row u of counts (T, P′), for the patterns that arc a fires.
template <class S>
void Chart<S>::add_fired(std::int64_t a, double p, double* counts, std::int64_t u) const {
    double* row = counts + u * scores_.n_positional;
    for_positional(a, [&](std::int32_t pattern) { row[pattern] += p; });
}

}  // namespace trelliswork
