// One sequence, one worker: chooses dense or sparse, scaled or logarithmic, and keeps the buffers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "automata/automaton.hpp"
#include "kernel/chain.hpp"
#include "kernel/chart.hpp"
#include "kernel/forward.hpp"
#include "kernel/node_weights.hpp"
#include "kernel/paths.hpp"
#include "kernel/posteriors.hpp"
#include "kernel/scores.hpp"

namespace trelliswork {

inline constexpr std::size_t kNoMemoryLimit = ~std::size_t{0};

// Pattern weights turned into arc weights once, shared by all workers.
class Weights {
  public:
    // `arcs_wanted`: posteriors of single arcs, which only the sparse path has.
    // `classes`: what tokens add, in Max alone.
    Weights(const Automaton& automaton, const double* patterns, int n_durations,
            bool arcs_wanted = false, ClassPatterns classes = {})
        : automaton_(automaton),
          patterns_(patterns),
          classes_(classes),
          dense_(automaton.is_chain && n_durations == 1 && !arcs_wanted) {}

    const Automaton& automaton() const { return automaton_; }
    const double* patterns() const { return patterns_; }  // (P,) or null
    // The chain path applies: complete, first order, duration 1.
    bool dense() const { return dense_; }

    // Training changes the patterns in place: what was loaded is loaded again when next asked for.
    // Not while workers run.
    void forget() {
        for (auto* part :
             {&chain_real_.loaded, &chain_max_.loaded, &real_.loaded, &log_.loaded, &max_.loaded}) {
            part->store(false);
        }
    }

    // For a caller that owns the weights: whether single arcs can be given other weights in Max,
    // and does so. Not where the kernel shares the work of arcs along parents.
    bool can_set_arcs() const { return dense_ || automaton_.forest.empty(); }
    // Arc arcs[k] weighs weight[arcs[k]] − price.
    void set_arcs(const std::int64_t* arcs, std::int64_t n, const double* weight, double price) {
        if (dense_) {
            get(chain_max_);
            for (std::int64_t k = 0; k < n; ++k) {
                chain_max_.values.set(automaton_, arcs[k], weight[arcs[k]] - price);
            }
            return;
        }
        get(max_);
        for (int c = 0; c < static_cast<int>(max_.values.of_class.size()); ++c) {
            auto& values = max_.values.of_class[c];
            for (std::int64_t k = 0; k < n; ++k) {
                if (classes_.added == nullptr && !automaton_.is_open(arcs[k], c)) continue;
                const double more = classes_.on_arc(automaton_, arcs[k], c);
                values.set(automaton_, arcs[k], weight[arcs[k]] - price + more);
            }
        }
    }

    const ChainWeights<Real>& chain_real() const { return get(chain_real_); }
    const ChainWeights<Max>& chain_max() const { return get(chain_max_); }
    const ClassWeights<Real>& real() const { return get(real_); }
    const ClassWeights<Log>& log() const { return get(log_); }
    const ClassWeights<Max>& max() const { return get(max_); }

  private:
    // Loaded by the first worker that asks: few calls need more than one kind.
    template <class Values>
    struct OnDemand {
        Values values;
        std::atomic<bool> loaded{false};
    };

    template <class Values>
    const Values& get(OnDemand<Values>& part) const {
        if (!part.loaded.load(std::memory_order_acquire)) {
            const std::scoped_lock lock(mutex_);
            if (!part.loaded.load(std::memory_order_relaxed)) {
                if constexpr (std::is_same_v<Values, ChainWeights<Max>> ||
                              std::is_same_v<Values, ClassWeights<Max>>) {
                    part.values.load(automaton_, patterns_, classes_);
                } else {
                    part.values.load(automaton_, patterns_);
                }
                part.loaded.store(true, std::memory_order_release);
            }
        }
        return part.values;
    }

    const Automaton& automaton_;
    const double* patterns_;
    ClassPatterns classes_;
    bool dense_;
    mutable std::mutex mutex_;
    mutable OnDemand<ChainWeights<Real>> chain_real_;
    mutable OnDemand<ChainWeights<Max>> chain_max_;
    mutable OnDemand<ClassWeights<Real>> real_;
    mutable OnDemand<ClassWeights<Log>> log_;
    mutable OnDemand<ClassWeights<Max>> max_;
};

class Engine {
  public:
    Engine(const Weights& weights, std::size_t memory_limit)
        : weights_(weights), memory_limit_(memory_limit) {}

    // Runs the sum-product forward pass and calls use(chart) on the chart that holds it.
    template <class Use>
    auto with_sums(const SequenceScores& scores, Use&& use) {
        if (weights_.dense()) {
            if (auto& chart = chain_real(); chart.forward(scores)) return use(chart);
        } else if (auto& chart = real(); chart.forward(scores)) {
            return use(chart);
        }
        auto& chart = log();
        chart.forward(scores);
        return use(chart);
    }

    // Runs the max-sum forward pass.
    template <class Use>
    auto with_best(const SequenceScores& scores, Use&& use) {
        if (weights_.dense()) {
            auto& chart = chain_max();
            chart.forward(scores);
            return use(chart);
        }
        auto& chart = max();
        chart.forward(scores);
        return use(chart);
    }

    // log Z. Label posteriors (T, D, L) are written; position_counts (T, P′) and arcs (T, A; not on
    // the dense path) are written and *entropy is set where not null. All are zero where no path
    // exists. Pattern counts, times `weight`, are kept for `collect`.
    double posteriors(const SequenceScores& scores, double weight, double* segments,
                      double* position_counts, double* arcs, double* entropy) {
        const Automaton& automaton = weights_.automaton();
        pattern_counts_.resize(static_cast<std::size_t>(automaton.n_patterns), 0.0);
        if (entropy != nullptr) *entropy = 0.0;
        if (weights_.dense()) {
            if (auto& chart = chain_real(); chart.forward(scores)) {
                own_counts_.assign(pattern_counts_.size(), 0.0);
                chart.posteriors(segments, own_counts_.data(), position_counts, entropy);
                for (std::size_t p = 0; p < own_counts_.size(); ++p) {
                    pattern_counts_[p] += weight * own_counts_[p];
                }
                return chart.log_total();
            }
        }
        std::fill_n(segments, scores.length * scores.n_durations * automaton.n_labels, 0.0);
        if (position_counts != nullptr) {
            std::fill_n(position_counts, scores.length * scores.n_positional, 0.0);
        }
        if (arcs != nullptr) std::fill_n(arcs, scores.length * automaton.n_arcs(), 0.0);
        arc_counts_.resize(static_cast<std::size_t>(automaton.n_arcs()), 0.0);
        packed_counts_.resize(static_cast<std::size_t>(automaton.blocks.n_slots), 0.0);
        const bool own = entropy != nullptr;  // the entropy is read off the counts of one sequence
        if (own) gather_counts();
        const PosteriorSink sink{segments,
                                 arc_counts_.data(),
                                 packed_counts_.data(),
                                 own ? 1.0 : weight,
                                 position_counts,
                                 arcs,
                                 entropy};
        double log_z = 0.0;
        if (!weights_.dense() && real().forward(scores)) {
            real().posteriors(sink);
            log_z = real().log_total();
        } else {
            log().forward(scores);
            log().posteriors(sink);
            log_z = log().log_total();
        }
        if (own) gather_counts(weight);
        return log_z;
    }

    // Adds the pattern counts since the last call to pattern_counts (P,).
    void collect(double* pattern_counts) {
        gather_counts();
        for (std::size_t p = 0; p < pattern_counts_.size(); ++p) {
            pattern_counts[p] += pattern_counts_[p];
            pattern_counts_[p] = 0.0;
        }
    }

  private:
    // Charts are made when first asked for, with the weights they read.
    Chain<Real>& chain_real() { return made(chain_real_, weights_.chain_real()); }
    Chain<Max>& chain_max() { return made(chain_max_, weights_.chain_max()); }
    Chart<Real>& real() { return made(real_, weights_.real(), weights_.patterns()); }
    Chart<Log>& log() { return made(log_, weights_.log(), weights_.patterns()); }
    Chart<Max>& max() { return made(max_, weights_.max(), weights_.patterns()); }

    template <class C, class... Arguments>
    C& made(std::optional<C>& chart, const Arguments&... arguments) {
        if (!chart) chart.emplace(weights_.automaton(), arguments..., memory_limit_);
        return *chart;
    }

    // Moves the counts of arcs to those of the patterns they fire.
    void gather_counts(double weight = 1.0) {
        if (arc_counts_.empty()) return;
        const auto& slot_arc = weights_.automaton().blocks.slot_arc;
        for (std::size_t i = 0; i < slot_arc.size(); ++i) {
            if (slot_arc[i] >= 0) arc_counts_[slot_arc[i]] += packed_counts_[i];
        }
        const Automaton& automaton = weights_.automaton();
        for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
            for (auto k = automaton.pattern_offsets[a]; k < automaton.pattern_offsets[a + 1]; ++k) {
                pattern_counts_[automaton.pattern_ids[k]] += weight * arc_counts_[a];
            }
        }
        std::fill(arc_counts_.begin(), arc_counts_.end(), 0.0);
        std::fill(packed_counts_.begin(), packed_counts_.end(), 0.0);
    }

    const Weights& weights_;
    std::size_t memory_limit_;
    std::optional<Chain<Real>> chain_real_;
    std::optional<Chain<Max>> chain_max_;
    std::optional<Chart<Real>> real_;
    std::optional<Chart<Log>> log_;
    std::optional<Chart<Max>> max_;
    std::vector<double> own_counts_;      // (P,) of one sequence
    std::vector<double> pattern_counts_;  // (P,) since the last `collect`
    std::vector<double> arc_counts_;      // (A,) likewise, not in pattern_counts_ yet
    std::vector<double> packed_counts_;   // (slots,) likewise
};

}  // namespace trelliswork
