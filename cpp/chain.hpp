// The dense, vectorised path: α rows of a complete first-order automaton.
//
// The same recursion and the same scaling as chart.hpp, with one state a label, for S = Real and
// S = Max; readers see the same states as on the sparse path (0 = empty, 1 + y = after label y).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "automaton.hpp"
#include "chain_kernels.hpp"
#include "chart.hpp"
#include "rows.hpp"
#include "scores.hpp"
#include "semiring.hpp"

namespace trelliswork {

// Transition weights as padded matrices, beside the arc weights that path readers use.
template <class S>
struct ChainWeights {
    ArcWeights<S> arcs;
    std::vector<double> matrix;      // (L, K): W[p, y] in S, padding is zero of S
    std::vector<double> transposed;  // (L, K): W[y, p]
    double shift = 0.0;              // W = exp(weight − shift), start arcs left aside

    void load(const Automaton& automaton, const double* patterns) {
        arcs.load(automaton, patterns, nullptr);
        const int n_labels = automaton.n_labels;
        const int stride = padded(n_labels);
        matrix.assign(static_cast<std::size_t>(n_labels) * stride, S::zero);
        transposed = matrix;
        shift = 0.0;
        if constexpr (S::scaled) {
            double largest = kNegativeInfinity;
            for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
                if (automaton.source[a] > 0) largest = std::max(largest, arcs.log_weight[a]);
            }
            if (largest > kNegativeInfinity) shift = largest;
        }
        for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
            const int p = automaton.source[a] - 1;
            const int y = automaton.label[a];
            if (p < 0) continue;
            matrix[p * stride + y] = S::from_log(arcs.log_weight[a] - shift);
            transposed[y * stride + p] = matrix[p * stride + y];
        }
    }
};

template <class S>
class Chain {
  public:
    using Semiring = S;

    Chain(const Automaton& automaton, const ChainWeights<S>& weights, std::size_t memory_limit)
        : automaton_(automaton),
          weights_(weights),
          memory_limit_(memory_limit),
          n_labels_(automaton.n_labels),
          stride_(padded(n_labels_)) {}

    bool forward(const SequenceScores& scores) {
        scores_ = scores;
        rows_.plan(scores.length, 1, stride_,
                   sizeof(double) * static_cast<std::size_t>(stride_) * (S::scaled ? 2 : 1),
                   memory_limit_, S::zero);
        if constexpr (S::scaled) {
            emissions_.resize(static_cast<std::size_t>(rows_.block_length() * stride_));
            best_.resize(static_cast<std::size_t>(scores.length));
            rescale_.resize(static_cast<std::size_t>(scores.length));
        }
        return rows_.run([this] { return fill_block(); }) && finish_total();
    }

    double log_total() const { return log_total_; }

    void seek(std::int64_t t) {
        rows_.seek(t, [this] { fill_block(); });
    }

    double alpha(std::int64_t t, std::int64_t state) const {
        if (t == 0 || state == 0) return t == 0 && state == 0 ? S::one : S::zero;
        return rows_[t][state - 1];
    }

    double emission(std::int64_t t, int, std::int64_t label) const {
        if constexpr (S::scaled) return emission_row(t)[label];
        return scores_.phi[(t - 1) * n_labels_ + label];
    }

    const ArcWeights<S>& weights_at(std::int64_t) const { return weights_.arcs; }
    double final_weight(std::int64_t) const { return S::one; }
    const Automaton& automaton() const { return automaton_; }
    std::int64_t length() const { return scores_.length; }
    int n_durations() const { return 1; }

    // labels (T, L) is written; pair_counts (L, K) is added to: Σ_t α v, still without the factor
    // W.
    void posteriors(double* labels, double* pair_counts) {
        if (log_total_ == kNegativeInfinity || scores_.length == 0) {
            std::fill_n(labels, scores_.length * n_labels_, 0.0);
            return;
        }
        const auto& kernels = chain_kernels();
        beta_.assign(static_cast<std::size_t>(stride_), 0.0);
        std::fill_n(beta_.begin(), n_labels_, 1.0 / total_);
        for (auto end = scores_.length; end > 0; end = rows_.block_start()) {
            seek(end);
            const auto start = rows_.block_start();
            // Token 0 follows the empty state: it has no pair and nothing before it.
            const auto first = std::max<std::int64_t>(start, 1);
            if (end > first) {
                kernels.backward(end - first, n_labels_, weights_.transposed.data(),
                                 rows_[first + 1], rescale_.data() + first, emission_row(first + 1),
                                 beta_.data(), labels + first * n_labels_);
                kernels.count_pairs(end - first, n_labels_, rows_[first + 1],
                                    emission_row(first + 1), pair_counts);
            }
            if (start == 0) {
                for (int y = 0; y < n_labels_; ++y) labels[y] = rows_[1][y] * beta_[y];
            }
        }
    }

  private:
    double* emission_row(std::int64_t t) {
        return emissions_.data() + (t - rows_.block_start() - 1) * stride_;
    }
    const double* emission_row(std::int64_t t) const {
        return emissions_.data() + (t - rows_.block_start() - 1) * stride_;
    }

    bool fill_block() {
        const auto& kernels = chain_kernels();
        const auto start = rows_.block_start();
        const auto end = rows_.block_end();
        if (end == start) return true;
        const double* phi = scores_.phi + start * n_labels_;
        auto next = start + 1;
        if constexpr (S::scaled) {
            kernels.exponentiate(end - start, n_labels_, phi, emissions_.data(),
                                 best_.data() + start);
            if (start == 0) {
                std::copy_n(emissions_.data(), stride_, rows_[1]);
                rescale_[0] = 1.0;
                if (!small_values_are_structural(1)) return false;
                ++next;
            }
            while (next <= end) {
                next +=
                    kernels.forward(end - next + 1, n_labels_, weights_.matrix.data(),
                                    emission_row(next), rows_[next], rescale_.data() + next - 1);
                if (!small_values_are_structural(next - 1)) return false;
            }
        } else {
            if (start == 0) {
                std::copy_n(phi, n_labels_, rows_[1]);
                ++next;
            }
            if (next <= end) {
                kernels.best_forward(end - next + 1, n_labels_, weights_.matrix.data(),
                                     scores_.phi + (next - 1) * n_labels_, rows_[next]);
            }
        }
        return true;
    }

    // As in chart.hpp: true when every value of row t below the safe range is a true zero.
    bool small_values_are_structural(std::int64_t t) const {
        const double* row = rows_[t];
        for (int y = 0; y < n_labels_; ++y) {
            const double unscaled = row[y] / rescale_[t - 1];
            if (unscaled >= kSmallestSafe) continue;
            if (unscaled > 0.0) return false;
            if (scores_.phi[(t - 1) * n_labels_ + y] == kNegativeInfinity) continue;
            if (t == 1) return false;
            // State 1 + y has one step, whose arcs are sorted by source: the empty state, then p.
            const double* log_weight = weights_.arcs.log_weight.data() + y * (n_labels_ + 1) + 1;
            for (int p = 0; p < n_labels_; ++p) {
                if (rows_[t - 1][p] > 0.0 && log_weight[p] > kNegativeInfinity) return false;
            }
        }
        return true;
    }

    bool finish_total() {
        log_total_ = S::scaled ? 0.0 : S::zero;
        if (scores_.length == 0) {
            log_total_ = 0.0;
            return true;
        }
        typename S::Sum sum;
        for (int y = 0; y < n_labels_; ++y) sum.add(rows_[scores_.length][y]);
        total_ = sum.value();
        if constexpr (S::scaled) {
            double log_scale = static_cast<double>(scores_.length - 1) * weights_.shift;
            for (std::int64_t i = 0; i < scores_.length; ++i) {
                log_scale += best_[i];
                if (rescale_[i] != 1.0) log_scale -= std::log2(rescale_[i]) * M_LN2;
            }
            log_total_ = total_ > 0.0 ? std::log(total_) + log_scale : kNegativeInfinity;
        } else {
            log_total_ = total_;
        }
        return true;
    }

    const Automaton& automaton_;
    const ChainWeights<S>& weights_;
    std::size_t memory_limit_;
    int n_labels_;  // L
    int stride_;    // K
    SequenceScores scores_;
    Rows rows_;                      // (T + 1, K): row t follows token t − 1
    std::vector<double> emissions_;  // (block, K); overwritten by the backward pass
    std::vector<double> best_;       // (T,)
    std::vector<double> rescale_;    // (T,)
    std::vector<double> beta_;       // (K,)
    double total_ = S::zero;
    double log_total_ = kNegativeInfinity;
};

}  // namespace trelliswork
