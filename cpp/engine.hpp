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
    bool dense;              // the chain path applies: complete, first order, duration 1
    ChainWeights<Real> chain_real;
    ChainWeights<Max> chain_max;
    ArcWeights<Real> real;
    ArcWeights<Log> log;
    ArcWeights<Max> max;

    // `arcs_wanted`: posteriors of single arcs, which only the sparse path has.
    Weights(const Automaton& automaton_, const double* patterns_, int n_durations,
            bool arcs_wanted = false)
        : automaton(automaton_),
          patterns(patterns_),
          dense(automaton_.is_chain && n_durations == 1 && !arcs_wanted) {
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

    // log Z. Label posteriors (T, D, L) are written, pattern_counts (P,) added to; position_counts
    // (T, P) and arcs (T, A; not on the dense path) are written and *entropy is set where not null.
    // All are zero where no path exists.
    double posteriors(const SequenceScores& scores, double* segments, double* pattern_counts,
                      double* position_counts, double* arcs, double* entropy) {
        if (entropy != nullptr) *entropy = 0.0;
        if (weights_.dense && chain_real_.forward(scores)) {
            chain_real_.posteriors(segments, pattern_counts, position_counts, entropy);
            return chain_real_.log_total();
        }
        const Automaton& automaton = weights_.automaton;
        std::fill_n(segments, scores.length * scores.n_durations * automaton.n_labels, 0.0);
        if (position_counts != nullptr && arcs == nullptr) {
            arcs_.resize(static_cast<std::size_t>(scores.length * automaton.n_arcs()));
            arcs = arcs_.data();
        }
        if (arcs != nullptr) std::fill_n(arcs, scores.length * automaton.n_arcs(), 0.0);
        arc_counts_.assign(static_cast<std::size_t>(automaton.n_arcs()), 0.0);
        const PosteriorSink sink{segments, arc_counts_.data(), arcs, entropy};
        double log_z = 0.0;
        if (!weights_.dense && real_.forward(scores)) {
            real_.posteriors(sink);
            log_z = real_.log_total();
        } else {
            log_.forward(scores);
            log_.posteriors(sink);
            log_z = log_.log_total();
        }
        add_fired_patterns(arc_counts_.data(), pattern_counts);
        for (std::int64_t t = 0; position_counts != nullptr && t < scores.length; ++t) {
            double* row = position_counts + t * automaton.n_patterns;
            std::fill_n(row, automaton.n_patterns, 0.0);
            add_fired_patterns(arcs + t * automaton.n_arcs(), row);
        }
        return log_z;
    }

  private:
    // pattern_counts[z] += Σ arc_counts[a] over the arcs a that fire z.
    void add_fired_patterns(const double* arc_counts, double* pattern_counts) const {
        const Automaton& automaton = weights_.automaton;
        for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
            for (auto k = automaton.pattern_offsets[a]; k < automaton.pattern_offsets[a + 1]; ++k) {
                pattern_counts[automaton.pattern_ids[k]] += arc_counts[a];
            }
        }
    }

    const Weights& weights_;
    Chain<Real> chain_real_;
    Chain<Max> chain_max_;
    Chart<Real> real_;
    Chart<Log> log_;
    Chart<Max> max_;
    std::vector<double> arc_counts_;  // (A,)
    std::vector<double> arcs_;        // (T, A)
};

}  // namespace trelliswork
