// One sequence, one worker: chooses dense or sparse, scaled or logarithmic, and keeps the buffers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "automaton.hpp"
#include "chain.hpp"
#include "chart.hpp"
#include "paths.hpp"
#include "scores.hpp"

namespace trelliswork {

inline constexpr std::size_t kNoMemoryLimit = ~std::size_t{0};

// Pattern weights turned into arc weights once, shared by all workers.
struct Weights {
    const Automaton& automaton;
    const double* patterns;  // (P,) or null
    bool dense;              // the chain path applies: complete, first order, constant, duration 1
    ChainWeights<Real> chain_real;
    ChainWeights<Max> chain_max;
    ArcWeights<Real> real;
    ArcWeights<Log> log;
    ArcWeights<Max> max;

    Weights(const Automaton& automaton_, const double* patterns_, int n_durations, bool positional)
        : automaton(automaton_),
          patterns(patterns_),
          dense(automaton_.is_chain && n_durations == 1 && !positional) {
        reload();
    }

    // Reads `patterns` again: training changes them in place.
    void reload() {
        if (dense) {
            chain_real.load(automaton, patterns);
            chain_max.load(automaton, patterns);
        } else {
            real.load(automaton, patterns, nullptr);
            max.load(automaton, patterns, nullptr);
        }
        log.load(automaton, patterns, nullptr);
    }
};

class Engine {
  public:
    Engine(const Weights& weights, std::size_t memory_limit)
        : weights_(weights),
          chain_real_(weights.automaton, weights.chain_real, memory_limit),
          chain_max_(weights.automaton, weights.chain_max, memory_limit),
          real_(weights.automaton, weights.real, weights.patterns, memory_limit),
          log_(weights.automaton, weights.log, weights.patterns, memory_limit),
          max_(weights.automaton, weights.max, weights.patterns, memory_limit) {}

    // Runs the sum-product forward pass and calls use(chart) on the chart that holds it.
    template <class Use>
    auto with_sums(const SequenceScores& scores, Use&& use) {
        if (weights_.dense) {
            if (chain_real_.forward(scores)) return use(chain_real_);
        } else if (real_.forward(scores)) {
            return use(real_);
        }
        log_.forward(scores);
        return use(log_);
    }

    // Runs the max-sum forward pass.
    template <class Use>
    auto with_best(const SequenceScores& scores, Use&& use) {
        if (weights_.dense) {
            chain_max_.forward(scores);
            return use(chain_max_);
        }
        max_.forward(scores);
        return use(max_);
    }

    // log Z. Label posteriors are written, pattern_counts (P,) and arcs (T, A) are added to where
    // given; *expected_score is set if not null. Nothing is added where no path exists.
    double posteriors(const SequenceScores& scores, double* segments, double* pattern_counts,
                      double* arcs, double* expected_score) {
        const Automaton& automaton = weights_.automaton;
        if (weights_.dense && arcs == nullptr && chain_real_.forward(scores)) {
            chain_posteriors(scores, segments, pattern_counts, expected_score);
            return chain_real_.log_total();
        }
        std::fill_n(segments, scores.length * scores.n_durations * automaton.n_labels, 0.0);
        arc_counts_.assign(static_cast<std::size_t>(automaton.n_arcs()), 0.0);
        if (expected_score != nullptr) *expected_score = 0.0;
        const PosteriorSink sink{segments, arc_counts_.data(), arcs, expected_score};
        double log_z = 0.0;
        if (!weights_.dense && real_.forward(scores)) {
            real_.posteriors(sink);
            log_z = real_.log_total();
        } else {
            log_.forward(scores);
            log_.posteriors(sink);
            log_z = log_.log_total();
        }
        if (pattern_counts != nullptr) add_fired_patterns(pattern_counts);
        return log_z;
    }

  private:
    void chain_posteriors(const SequenceScores& scores, double* labels, double* pattern_counts,
                          double* expected_score) {
        const int n_labels = weights_.automaton.n_labels;
        const int stride = padded(n_labels);
        pair_counts_.assign(static_cast<std::size_t>(n_labels) * stride, 0.0);
        chain_real_.posteriors(labels, pair_counts_.data());
        double expected = 0.0;
        for (std::int64_t i = 0; expected_score != nullptr && i < scores.length * n_labels; ++i) {
            if (labels[i] > 0.0) expected += labels[i] * scores.phi[i];
        }
        for (int p = 0; p < n_labels; ++p) {
            for (int y = 0; y < n_labels; ++y) {
                const double count =
                    pair_counts_[p * stride + y] * weights_.chain_real.matrix[p * stride + y];
                if (count > 0.0 && weights_.patterns != nullptr) {
                    expected += count * weights_.patterns[p * n_labels + y];
                }
                if (pattern_counts != nullptr) pattern_counts[p * n_labels + y] += count;
            }
        }
        if (expected_score != nullptr) *expected_score = expected;
    }

    void add_fired_patterns(double* pattern_counts) const {
        const Automaton& automaton = weights_.automaton;
        for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
            for (auto k = automaton.pattern_offsets[a]; k < automaton.pattern_offsets[a + 1]; ++k) {
                pattern_counts[automaton.pattern_ids[k]] += arc_counts_[a];
            }
        }
    }

    const Weights& weights_;
    Chain<Real> chain_real_;
    Chain<Max> chain_max_;
    Chart<Real> real_;
    Chart<Log> log_;
    Chart<Max> max_;
    std::vector<double> arc_counts_;   // (A,)
    std::vector<double> pair_counts_;  // (L, K)
};

}  // namespace trelliswork
