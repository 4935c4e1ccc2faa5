#include "learn/objective.hpp"

#include <algorithm>
#include <utility>

#include "base/require.hpp"
#include "base/threads.hpp"
#include "kernel/segments.hpp"
#include "learn/objective_worker.hpp"

namespace trelliswork {

namespace {

void scale(std::vector<double>& values, double factor) {
    if (factor == 1.0) return;
    for (double& value : values) value *= factor;
}

void subtract(const std::vector<double>& other, std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= other[i];
}

}  // namespace

Objective::Gradients::Gradients(const Objective& objective)
    : patterns(static_cast<std::size_t>(objective.automaton_.n_patterns), 0.0) {
    for (std::size_t k = 0; k < kKinds; ++k) {
        if (const auto& part = objective.parts_.features[k])
            kinds[k].assign(part->slots.size(), 0.0);
    }
    if (objective.parts_.edge) edge.assign(objective.parts_.edge->slots.size(), 0.0);
}

void Objective::Gradients::clear() {
    for (auto& kind : kinds) std::fill(kind.begin(), kind.end(), 0.0);
    std::fill(patterns.begin(), patterns.end(), 0.0);
    std::fill(edge.begin(), edge.end(), 0.0);
}

Objective::Objective(Automaton automaton, std::shared_ptr<const TrainingData> data,
                     ModelParts parts)
    : automaton_(std::move(automaton)),
      held_data_(std::move(data)),
      data_(*held_data_),
      parts_(std::move(parts)) {
    require(part(Kind::token) != nullptr, "objective: expected features of tokens");
    for (std::int64_t b = 0; b < n_sequences(); ++b) {
        partial_.push_back(std::any_of(data_.gold.begin() + data_.offsets[b],
                                       data_.gold.begin() + data_.offsets[b + 1],
                                       [](std::int32_t y) { return y < 0; }));
    }
    if (part(Kind::length) != nullptr) {
        length_scores_.assign(static_cast<std::size_t>(data_.n_durations) * automaton_.n_labels,
                              0.0);
    }
    gold_counts_.assign(static_cast<std::size_t>(n_parameters()), 0.0);
    add_gold_counts(0, n_sequences(), gold_counts_.data());
    patterns_.assign(static_cast<std::size_t>(automaton_.n_patterns), 0.0);
    weights_ = std::make_unique<Weights>(automaton_, patterns_.data(), data_.n_durations);
}

Objective::~Objective() = default;  // here, where Worker is complete

std::int64_t Objective::n_parameters() const {
    auto total = static_cast<std::int64_t>(parts_.patterns.size());
    for (const auto& each : parts_.features) total += each ? each->layout.n_pairs() : 0;
    return total + (parts_.edge ? parts_.edge->layout.n_pairs() : 0);
}

// Adds gradients to an array in the order of the parameters.
void Objective::collect(const Gradients& gradients, double* parameters) const {
    for (std::size_t k = 0; k < kKinds; ++k) {
        const auto& each = parts_.features[k];
        if (!each) continue;
        each->layout.collect(gradients.kinds[k].data(), parameters);
        parameters += each->layout.n_pairs();
    }
    for (const auto pattern : parts_.patterns) *parameters++ += gradients.patterns[pattern];
    if (parts_.edge) parts_.edge->layout.collect(gradients.edge.data(), parameters);
}

Objective::GoldSignals::GoldSignals(const Objective& objective)
    : labels(static_cast<std::size_t>(objective.automaton_.n_labels), 0.0) {
    if (const auto& edge = objective.parts_.edge) edges.assign(edge->layout.n_outputs(), 0.0);
}

// Adds the observed counts of every parameter in a sequence, weighted and times `factor`; none
// where it is not fully labelled.
void Objective::add_gold_sequence(std::int64_t b, double factor, GoldSignals& signals,
                                  Gradients& counts) const {
    if (partial_[b]) return;
    const double weight = factor * (data_.weights.empty() ? 1.0 : data_.weights[b]);
    const auto n_edge = static_cast<std::int32_t>(signals.edges.size());
    const auto end = data_.offsets[b + 1];
    for (auto i = data_.offsets[b], next = i; i < end; i = next) {
        for (next = i + 1; next < end && !data_.begins.empty() && !data_.begins[next];) ++next;
        add_gold_segment(i, next, weight, signals.labels, counts);
        bool any_edge = false;
        for (auto k = data_.fired_offsets[i]; k < data_.fired_offsets[i + 1]; ++k) {
            const auto pattern = data_.fired[k];
            counts.patterns[pattern] += weight;
            if (pattern < n_edge) signals.edges[pattern] = weight;
            any_edge |= pattern < n_edge;
        }
        if (!any_edge) continue;
        parts_.edge->layout.scatter(parts_.edge->rows, i, i + 1, signals.edges.data(),
                                    counts.edge.data());
        std::fill(signals.edges.begin(), signals.edges.end(), 0.0);
    }
}

// The same for sequences first … last, in the order of the parameters.
void Objective::add_gold_counts(std::int64_t first, std::int64_t last, double* counts) const {
    Gradients found(*this);
    GoldSignals signals(*this);
    for (auto b = first; b < last; ++b) add_gold_sequence(b, 1.0, signals, found);
    collect(found, counts);
}

void Objective::load_parameters(const double* parameters) {
    for (auto& each : parts_.features) {
        if (!each) continue;
        each->layout.spread(parameters, each->slots.data());
        parameters += each->layout.n_pairs();
    }
    if (const auto* lengths = part(Kind::length)) {
        lengths->score(0, data_.n_durations, length_scores_);
    }
    for (const auto pattern : parts_.patterns) patterns_[pattern] = *parameters++;
    if (parts_.edge) parts_.edge->layout.spread(parameters, parts_.edge->slots.data());
    weights_->forget();
}

// scores = −inf where `mask` forbids the label or the segment; an empty mask forbids nothing.
void Objective::forbid(const std::vector<std::uint8_t>& mask, std::int64_t first,
                       std::int64_t length, std::vector<double>& scores) const {
    if (mask.empty()) return;
    forbid_segments(length, data_.n_durations, automaton_.n_labels,
                    mask.data() + first * data_.n_masks * automaton_.n_labels, data_.n_masks,
                    scores.data());
}

void Objective::add_sequence(std::int64_t b, Worker& worker) const {
    const auto first = data_.offsets[b];
    const auto last = data_.offsets[b + 1];
    const auto length = last - first;
    const double weight = data_.weights.empty() ? 1.0 : data_.weights[b];
    if (length == 0 || weight == 0.0) return;

    SequenceScores scores;
    scores.length = length;
    scores.n_durations = data_.n_durations;
    if (!data_.longest.empty()) scores.longest = data_.longest.data();
    const auto n_cells = static_cast<std::size_t>(length * data_.n_durations * automaton_.n_labels);
    worker.phi.resize(n_cells);
    worker.posterior.resize(n_cells);
    if (has_segments()) {
        score_segments(first, last, worker);
    } else {
        part(Kind::token)->score(first, last, worker.phi);
    }
    forbid(data_.open, first, length, worker.phi);
    scores.phi = worker.phi.data();
    if (!data_.classes.empty()) scores.classes = data_.classes.data() + first;
    const auto* edge = parts_.edge.get();
    if (edge != nullptr) {
        edge->score(first, last, worker.positional);
        scores.positional = worker.positional.data();
        scores.n_positional = edge->layout.n_outputs();
        worker.edges.resize(worker.positional.size());
    }
    double* edges = edge == nullptr ? nullptr : worker.edges.data();
    double loss =
        worker.engine.posteriors(scores, weight, worker.posterior.data(), edges, nullptr, nullptr);
    if (partial_[b]) {
        worker.masked = worker.phi;
        forbid(data_.allowed, first, length, worker.masked);
        scores.phi = worker.masked.data();
        worker.inner.resize(n_cells);
        worker.inner_edges.resize(worker.edges.size());
        loss -= worker.engine.posteriors(scores, -weight, worker.inner.data(),
                                         edge == nullptr ? nullptr : worker.inner_edges.data(),
                                         nullptr, nullptr);
        subtract(worker.inner, worker.posterior);
        subtract(worker.inner_edges, worker.edges);
    }
    worker.loss += weight * loss;
    scale(worker.posterior, weight);
    if (has_segments()) {
        scatter_segments(first, last, worker);
    } else {
        part(Kind::token)
            ->layout.scatter(part(Kind::token)->rows, first, last, worker.posterior.data(),
                             worker.gradients.kinds[0].data());
    }
    if (edge != nullptr) {
        scale(worker.edges, weight);
        edge->layout.scatter(edge->rows, first, last, worker.edges.data(),
                             worker.gradients.edge.data());
    }
}

// Adds the counts over sequences, patterns and lengths to the gradients of the worker.
void Objective::gather(Worker& worker) const {
    worker.engine.collect(worker.gradients.patterns.data());
    if (const auto* lengths = part(Kind::length)) {
        lengths->layout.scatter(
            lengths->rows, 0, data_.n_durations, worker.lengths.data(),
            worker.gradients.kinds[static_cast<std::size_t>(Kind::length)].data());
        std::fill(worker.lengths.begin(), worker.lengths.end(), 0.0);
    }
}

// The score of the gold labels, from the scores that the worker holds after add_sequence; 0 where
// labels are open, and the loss has its second term already.
double Objective::gold_score(std::int64_t b, const Worker& worker) const {
    if (partial_[b]) return 0.0;
    const auto start = data_.offsets[b];
    const auto end = data_.offsets[b + 1];
    const auto n_edge = parts_.edge ? parts_.edge->layout.n_outputs() : 0;
    double score = 0.0;
    for (auto i = start, next = i; i < end; i = next) {
        for (next = i + 1; next < end && !data_.begins.empty() && !data_.begins[next];) ++next;
        const auto cell = (next - 1 - start) * data_.n_durations + (next - i - 1);
        score += worker.phi[cell * automaton_.n_labels + data_.gold[i]];
        for (auto k = data_.fired_offsets[i]; k < data_.fired_offsets[i + 1]; ++k) {
            const auto pattern = data_.fired[k];
            score += patterns_[pattern];
            if (pattern < n_edge) score += worker.positional[(i - start) * n_edge + pattern];
        }
    }
    return score;
}

double Objective::value_and_grad(const double* parameters, double* gradient, const double* l2,
                                 bool one_l2, std::int64_t first, std::int64_t last,
                                 int n_workers) {
    load_parameters(parameters);
    const auto bounds = split_evenly(data_.offsets.data() + first, last - first, n_workers);
    const auto n_shares = bounds.size() - 1;
    while (workers_.size() < n_shares) {
        workers_.push_back(std::make_unique<Worker>(*this, *weights_));
    }
    run_workers(static_cast<int>(n_shares), [&](int share) {
        Worker& worker = *workers_[static_cast<std::size_t>(share)];
        worker.clear(*this);
        for (auto b = first + bounds[share]; b < first + bounds[share + 1]; ++b) {
            add_sequence(b, worker);
        }
        gather(worker);
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
        const double penalty = l2[one_l2 ? 0 : k];
        loss += parameters[k] * (penalty * parameters[k] - gold[k]);
        gradient[k] = 2.0 * penalty * parameters[k] - gold[k];
    }
    for (std::size_t share = 0; share < n_shares; ++share) {
        loss += workers_[share]->loss;
        collect(workers_[share]->gradients, gradient);
    }
    return loss;
}

}  // namespace trelliswork
