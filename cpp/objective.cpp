#include "objective.hpp"

#include <algorithm>
#include <utility>

#include "require.hpp"
#include "threads.hpp"

namespace trelliswork {

namespace {

constexpr std::size_t kTrainingMemoryLimit = std::size_t{64} << 20;

}  // namespace

// What one thread needs: an engine, buffers for a sequence, and its share of the gradient.
struct Objective::Worker {
    Worker(const Objective& objective, const Weights& weights)
        : engine(weights, kTrainingMemoryLimit),
          state_gradient(static_cast<std::size_t>(objective.state_.n_slots())),
          edge_gradient(objective.edge_ ? static_cast<std::size_t>(objective.edge_->n_slots()) : 0),
          pattern_gradient(static_cast<std::size_t>(objective.automaton_.n_patterns)) {}

    Engine engine;
    std::vector<double> phi, masked;         // (T, L)
    std::vector<double> posterior, inner;    // (T, L)
    std::vector<double> positional;          // (T, P)
    std::vector<double> edges, inner_edges;  // (T, P): posteriors of the transitions
    std::vector<double> state_gradient, edge_gradient, pattern_gradient;
    double loss = 0.0;

    void clear() {
        loss = 0.0;
        std::fill(state_gradient.begin(), state_gradient.end(), 0.0);
        std::fill(edge_gradient.begin(), edge_gradient.end(), 0.0);
        std::fill(pattern_gradient.begin(), pattern_gradient.end(), 0.0);
    }
};

Objective::Objective(Automaton automaton, TrainingData data, FeatureLayout state,
                     const TokenFeatures& rows, std::vector<std::int32_t> transitions,
                     std::unique_ptr<FeatureLayout> edge, const TokenFeatures& edge_rows)
    : automaton_(std::move(automaton)),
      data_(std::move(data)),
      state_(std::move(state)),
      edge_(std::move(edge)),
      transitions_(std::move(transitions)) {
    require(automaton_.n_patterns == automaton_.n_labels * automaton_.n_labels,
            "objective: expected the transitions as patterns");
    const auto n_tokens = data_.offsets.back();
    state_.split(rows, 0, n_tokens, state_features_);
    if (edge_) edge_->split(edge_rows, 0, n_tokens, edge_features_);
    for (std::int64_t b = 0; b < n_sequences(); ++b) {
        partial_.push_back(std::any_of(data_.gold.begin() + data_.offsets[b],
                                       data_.gold.begin() + data_.offsets[b + 1],
                                       [](std::int32_t y) { return y < 0; }));
    }
    gold_counts_.assign(static_cast<std::size_t>(n_parameters()), 0.0);
    add_gold_counts(0, n_sequences(), gold_counts_.data());
    state_slots_.assign(static_cast<std::size_t>(state_.n_slots()), 0.0);
    if (edge_) edge_slots_.assign(static_cast<std::size_t>(edge_->n_slots()), 0.0);
    patterns_.assign(static_cast<std::size_t>(automaton_.n_patterns), 0.0);
    weights_ = std::make_unique<Weights>(automaton_, patterns_.data(), 1);
}

Objective::~Objective() = default;  // here, where Worker is complete

std::int64_t Objective::n_parameters() const {
    return state_.n_pairs() + static_cast<std::int64_t>(transitions_.size()) +
           (edge_ ? edge_->n_pairs() : 0);
}

// The observed counts of every parameter in fully labelled sequences, weighted.
void Objective::add_gold_counts(std::int64_t first, std::int64_t last, double* counts) const {
    const auto n_labels = automaton_.n_labels;
    std::vector<double> state_slots(static_cast<std::size_t>(state_.n_slots()), 0.0);
    std::vector<double> edge_slots(edge_ ? static_cast<std::size_t>(edge_->n_slots()) : 0, 0.0);
    std::vector<double> pattern_counts(static_cast<std::size_t>(automaton_.n_patterns), 0.0);
    std::vector<double> state_signal(static_cast<std::size_t>(n_labels));
    std::vector<double> edge_signal(static_cast<std::size_t>(edge_ ? automaton_.n_patterns : 0));
    for (auto b = first; b < last; ++b) {
        if (partial_[b]) continue;
        const double weight = data_.weights.empty() ? 1.0 : data_.weights[b];
        for (auto i = data_.offsets[b]; i < data_.offsets[b + 1]; ++i) {
            const auto y = data_.gold[i];
            state_signal[y] = weight;
            state_.scatter(state_features_, i, i + 1, state_signal.data(), state_slots.data());
            state_signal[y] = 0.0;
            if (i == data_.offsets[b]) continue;
            const auto pattern = data_.gold[i - 1] * n_labels + y;
            pattern_counts[pattern] += weight;
            if (edge_) {
                edge_signal[pattern] = weight;
                edge_->scatter(edge_features_, i, i + 1, edge_signal.data(), edge_slots.data());
                edge_signal[pattern] = 0.0;
            }
        }
    }
    state_.collect(state_slots.data(), counts);
    counts += state_.n_pairs();
    for (const auto pattern : transitions_) *counts++ += pattern_counts[pattern];
    if (edge_) edge_->collect(edge_slots.data(), counts);
}

void Objective::load_parameters(const double* parameters) {
    state_.spread(parameters, state_slots_.data());
    parameters += state_.n_pairs();
    for (const auto pattern : transitions_) patterns_[pattern] = *parameters++;
    if (edge_) edge_->spread(parameters, edge_slots_.data());
    weights_->forget();
}

// scores[t, y] = −inf where mask[first + t, y] is 0; an empty mask forbids nothing.
void Objective::forbid(const std::vector<std::uint8_t>& mask, std::int64_t first,
                       std::vector<double>& scores) const {
    if (mask.empty()) return;
    const auto* row = mask.data() + first * automaton_.n_labels;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (!row[i]) scores[i] = kNegativeInfinity;
    }
}

void Objective::add_sequence(std::int64_t b, Worker& worker) const {
    const auto first = data_.offsets[b];
    const auto length = data_.offsets[b + 1] - first;
    if (length == 0) return;
    const auto n_cells = static_cast<std::size_t>(length * automaton_.n_labels);
    const auto n_edge_cells = static_cast<std::size_t>(edge_ ? length * automaton_.n_patterns : 0);
    const double weight = data_.weights.empty() ? 1.0 : data_.weights[b];
    if (weight == 0.0) return;

    SequenceScores scores;
    scores.length = length;
    worker.phi.resize(n_cells);
    worker.posterior.resize(n_cells);
    state_.score(state_features_, first, first + length, state_slots_.data(), worker.phi.data());
    forbid(data_.open, first, worker.phi);
    scores.phi = worker.phi.data();
    if (!data_.classes.empty()) scores.classes = data_.classes.data() + first;
    if (edge_) {
        worker.positional.resize(n_edge_cells);
        edge_->score(edge_features_, first, first + length, edge_slots_.data(),
                     worker.positional.data());
        scores.positional = worker.positional.data();
        scores.n_positional = automaton_.n_patterns;
    }
    worker.edges.resize(n_edge_cells);
    double loss = worker.engine.posteriors(scores, weight, worker.posterior.data(),
                                           edge_ ? worker.edges.data() : nullptr, nullptr, nullptr);
    if (partial_[b]) {
        worker.masked = worker.phi;
        forbid(data_.allowed, first, worker.masked);
        scores.phi = worker.masked.data();
        worker.inner.resize(n_cells);
        worker.inner_edges.resize(n_edge_cells);
        loss -=
            worker.engine.posteriors(scores, -weight, worker.inner.data(),
                                     edge_ ? worker.inner_edges.data() : nullptr, nullptr, nullptr);
        for (std::size_t i = 0; i < n_cells; ++i) worker.posterior[i] -= worker.inner[i];
        for (std::size_t i = 0; i < n_edge_cells; ++i) worker.edges[i] -= worker.inner_edges[i];
    }
    worker.loss += weight * loss;
    if (weight != 1.0) {
        for (double& p : worker.posterior) p *= weight;
    }
    state_.scatter(state_features_, first, first + length, worker.posterior.data(),
                   worker.state_gradient.data());
    if (edge_) {
        for (double& p : worker.edges) p *= weight;
        edge_->scatter(edge_features_, first, first + length, worker.edges.data(),
                       worker.edge_gradient.data());
    }
}

double Objective::value_and_grad(const double* parameters, double* gradient, double l2,
                                 std::int64_t first, std::int64_t last, int n_workers) {
    load_parameters(parameters);
    const auto bounds = split_evenly(data_.offsets.data() + first, last - first, n_workers);
    const auto n_shares = bounds.size() - 1;
    while (workers_.size() < n_shares) {
        workers_.push_back(std::make_unique<Worker>(*this, *weights_));
    }
    run_workers(static_cast<int>(n_shares), [&](int share) {
        Worker& worker = *workers_[static_cast<std::size_t>(share)];
        worker.clear();
        for (auto b = first + bounds[share]; b < first + bounds[share + 1]; ++b) {
            add_sequence(b, worker);
        }
        worker.engine.collect(worker.pattern_gradient.data());
    });

    const bool whole = first == 0 && last == n_sequences();
    std::vector<double> range_counts;
    if (!whole) {
        range_counts.assign(gold_counts_.size(), 0.0);
        add_gold_counts(first, last, range_counts.data());
    }
    const auto& gold = whole ? gold_counts_ : range_counts;
    double loss = 0.0;
    for (std::size_t k = 0; k < gold.size(); ++k) {
        loss += parameters[k] * (l2 * parameters[k] - gold[k]);
        gradient[k] = 2.0 * l2 * parameters[k] - gold[k];
    }
    for (std::size_t share = 0; share < n_shares; ++share) {
        const Worker& worker = *workers_[share];
        loss += worker.loss;
        state_.collect(worker.state_gradient.data(), gradient);
        double* rest = gradient + state_.n_pairs();
        for (const auto pattern : transitions_) *rest++ += worker.pattern_gradient[pattern];
        if (edge_) edge_->collect(worker.edge_gradient.data(), rest);
    }
    return loss;
}

}  // namespace trelliswork
