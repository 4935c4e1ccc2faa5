// One sequence, one worker: chooses dense or sparse, scaled or logarithmic, and keeps the buffers.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "automata/automaton.hpp"
#include "kernel/chain.hpp"
#include "kernel/chart.hpp"
#include "kernel/log_chart.hpp"
#include "kernel/paths.hpp"
#include "kernel/scores.hpp"

namespace trelliswork {

inline constexpr std::size_t kNoMemoryLimit = ~std::size_t{0};

// Pattern weights turned into arc weights once, shared by all workers.
class Weights {
  public:
    // `arcs_wanted`: posteriors of single arcs, which only the sparse path has.
    // `classes`: weights that tokens add, in Max alone.
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

    // Training changes the patterns in place: arc weights are loaded again when next asked for. Not
    // while workers run.
    void forget();

    // For a caller that owns the weights: whether single arcs can be given other weights in Max,
    // and does so. Not where the kernel shares the work of arcs along parents.
    bool can_set_arcs() const { return dense_ || automaton_.forest.empty(); }
    // Arc arcs[k] weighs weight[arcs[k]] − price.
    void set_arcs(const std::int64_t* arcs, std::int64_t n, const double* weight, double price);

    const ChainWeights<Real>& chain_real() const;
    const ChainWeights<Max>& chain_max() const;
    const ClassWeights<Real>& real() const;
    const LogWeights& log() const;
    const ClassWeights<Max>& max() const;

  private:
    // Loaded by the first worker that asks: few calls need more than one kind.
    template <class Values>
    struct OnDemand {
        Values values;
        std::atomic<bool> loaded{false};
    };

    template <class Values>
    const Values& get(OnDemand<Values>& part) const;

    const Automaton& automaton_;
    const double* patterns_;
    ClassPatterns classes_;
    bool dense_;
    mutable std::mutex mutex_;
    mutable OnDemand<ChainWeights<Real>> chain_real_;
    mutable OnDemand<ChainWeights<Max>> chain_max_;
    mutable OnDemand<ClassWeights<Real>> real_;
    mutable OnDemand<LogWeights> log_;
    mutable OnDemand<ClassWeights<Max>> max_;
};

class Engine {
  public:
    Engine(const Weights& weights, std::size_t memory_limit);
    Engine(Engine&&) noexcept;
    ~Engine();

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

    // log Z, NaN where it is not known to kTrusted. Label posteriors (T, D, L) are written;
    // position_counts (T, P′) and arcs (T, A; not on the dense path) are written and *entropy is
    // set where not null. All are zero where no path exists. Pattern counts, times `weight`, are
    // kept for `collect`.
    double posteriors(const SequenceScores& scores, double weight, double* segments,
                      double* position_counts, double* arcs, double* entropy);

    // Adds the pattern counts since the last call to pattern_counts (P,).
    void collect(double* pattern_counts);

  private:
    // Charts are made when first asked for, with the weights they read.
    Chain<Real>& chain_real();
    Chain<Max>& chain_max();
    Chart<Real>& real();
    LogChart& log();
    Chart<Max>& max();

    template <class C, class... Arguments>
    C& made(std::optional<C>& chart, const Arguments&... arguments);

    // Moves the counts of arcs to those of the patterns they fire.
    void gather_counts(double weight = 1.0);

    const Weights& weights_;
    std::size_t memory_limit_;
    std::optional<Chain<Real>> chain_real_;
    std::optional<Chain<Max>> chain_max_;
    std::optional<Chart<Real>> real_;
    std::optional<LogChart> log_;
    std::optional<Chart<Max>> max_;
    std::vector<double> own_counts_;      // (P,) of one sequence
    std::vector<double> pattern_counts_;  // (P,) since the last `collect`
    std::vector<double> arc_counts_;      // (A,) likewise, not in pattern_counts_ yet
    std::vector<double> packed_counts_;   // (slots,) likewise
};

}  // namespace trelliswork
