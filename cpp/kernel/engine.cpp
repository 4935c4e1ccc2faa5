#include "kernel/engine.hpp"

#include <algorithm>
#include <type_traits>

namespace trelliswork {

void Weights::forget() {
    for (auto* part :
         {&chain_real_.loaded, &chain_max_.loaded, &real_.loaded, &log_.loaded, &max_.loaded}) {
        part->store(false);
    }
}

template <class Values>
const Values& Weights::get(OnDemand<Values>& part) const {
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

void Weights::set_arcs(const std::int64_t* arcs, std::int64_t n, const double* weight,
                       double price) {
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

const ChainWeights<Real>& Weights::chain_real() const {
    return get(chain_real_);
}
const ChainWeights<Max>& Weights::chain_max() const {
    return get(chain_max_);
}
const ClassWeights<Real>& Weights::real() const {
    return get(real_);
}
const LogWeights& Weights::log() const {
    return get(log_);
}
const ClassWeights<Max>& Weights::max() const {
    return get(max_);
}

Engine::Engine(const Weights& weights, std::size_t memory_limit)
    : weights_(weights), memory_limit_(memory_limit) {}
Engine::Engine(Engine&&) noexcept = default;
Engine::~Engine() = default;

template <class C, class... Arguments>
C& Engine::made(std::optional<C>& chart, const Arguments&... arguments) {
    if (!chart) chart.emplace(weights_.automaton(), arguments..., memory_limit_);
    return *chart;
}

Chain<Real>& Engine::chain_real() {
    return made(chain_real_, weights_.chain_real());
}
Chain<Max>& Engine::chain_max() {
    return made(chain_max_, weights_.chain_max());
}
Chart<Real>& Engine::real() {
    return made(real_, weights_.real(), weights_.patterns());
}
LogChart& Engine::log() {
    return made(log_, weights_.log());
}
Chart<Max>& Engine::max() {
    return made(max_, weights_.max(), weights_.patterns());
}

double Engine::posteriors(const SequenceScores& scores, double weight, double* segments,
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

void Engine::collect(double* pattern_counts) {
    gather_counts();
    for (std::size_t p = 0; p < pattern_counts_.size(); ++p) {
        pattern_counts[p] += pattern_counts_[p];
        pattern_counts_[p] = 0.0;
    }
}

void Engine::gather_counts(double weight) {
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

}  // namespace trelliswork
