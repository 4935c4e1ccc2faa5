#include "lagrangian.hpp"

#include <algorithm>

namespace trelliswork {

Lagrangian::Lagrangian(const Batch& batch, const CountRows& rows, const Weights& plain)
    : batch_(batch), rows_(rows), reader_(batch), plain_(plain, batch.memory_limit) {
    event_price_.assign(static_cast<std::size_t>(rows.n_events), 0.0);
    counts_.assign(static_cast<std::size_t>(rows.n_events), 0);
}

void Lagrangian::read(std::int64_t sequence) {
    scores_ = reader_.read(sequence);
    phi_.clear();
    own_phi_.clear();
    n_evaluations_ = 0;
}

void Lagrangian::restrict_to(const std::vector<std::uint8_t>& allowed) {
    phi_.clear();
    own_phi_.clear();
    if (allowed.empty()) return;
    const auto width = static_cast<std::int64_t>(scores_.n_durations) * automaton().n_labels;
    phi_.assign(scores_.phi, scores_.phi + scores_.length * width);
    forbid_segments(scores_.length, scores_.n_durations, automaton().n_labels, allowed.data(), 2,
                    phi_.data());
}

double Lagrangian::constant(const std::vector<double>& prices) const {
    double total = 0.0;
    for (int i = 0; i < rows_.n_rows; ++i) {
        if (prices[i] != 0.0) total += prices[i] * rows_.bound[i];
    }
    return total;
}

void Lagrangian::price_events(const std::vector<double>& prices) {
    std::fill(event_price_.begin(), event_price_.end(), 0.0);
    for (int i = 0; i < rows_.n_rows; ++i) {
        if (prices[i] == 0.0) continue;
        for (auto k = rows_.row_offsets[i]; k < rows_.row_offsets[i + 1]; ++k) {
            event_price_[rows_.row_terms[k].index] +=
                prices[i] * static_cast<double>(rows_.row_terms[k].coefficient);
        }
    }
    const auto n_patterns = rows_.pattern_event.size();
    weights_.resize(n_patterns);
    for (std::size_t p = 0; p < n_patterns; ++p) {
        const auto event = rows_.pattern_event[p];
        weights_[p] = (batch_.patterns == nullptr ? 0.0 : batch_.patterns[p]) -
                      (event < 0 ? 0.0 : event_price_[event]);
    }
    if (own_weights_) own_weights_->forget();
}

const SequenceScores& Lagrangian::priced_scores() {
    priced_scores_ = scores_;
    if (!phi_.empty()) priced_scores_.phi = phi_.data();
    if (rows_.start_event.empty() || scores_.length == 0) return priced_scores_;
    // A chain: what begins at the first token is priced in its scores.
    const auto n_labels = static_cast<std::size_t>(automaton().n_labels);
    if (own_phi_.empty()) {
        const double* phi = priced_scores_.phi;
        own_phi_.assign(phi, phi + static_cast<std::size_t>(scores_.length) * n_labels);
        first_.assign(phi, phi + n_labels);
    }
    for (std::size_t y = 0; y < n_labels; ++y) {
        const auto event = rows_.start_event[y];
        own_phi_[y] = first_[y] - (event < 0 ? 0.0 : event_price_[event]);
    }
    priced_scores_.phi = own_phi_.data();
    return priced_scores_;
}

Engine& Lagrangian::priced() {
    if (!priced_) {
        own_weights_.emplace(automaton(), weights_.data(), batch_.n_durations);
        priced_.emplace(*own_weights_, kNoMemoryLimit);
    }
    return *priced_;
}

template <class C>
void Lagrangian::read_path(C& chart, Evaluation& found) {
    const auto length = static_cast<std::size_t>(scores_.length);
    found.path.labels.assign(length, -1);
    found.path.begins.assign(length, 0);
    found.excess.resize(static_cast<std::size_t>(rows_.n_rows));
    for (int i = 0; i < rows_.n_rows; ++i) found.excess[i] = -rows_.bound[i];
    met_.clear();
    walk_best_path(chart, [&](std::int64_t t, const Arrival& last) {
        write_segment(t, last.duration, automaton().label[last.arc], found.path.labels.data(),
                      found.path.begins.data());
        for_each_event(last.arc, [&](std::int32_t event) {
            if (counts_[event]++ == 0) met_.push_back(event);
        });
    });
    for (const auto event : met_) {
        const auto count = static_cast<double>(counts_[event]);
        for (auto k = rows_.event_offsets[event]; k < rows_.event_offsets[event + 1]; ++k) {
            found.excess[rows_.event_terms[k].index] +=
                count * static_cast<double>(rows_.event_terms[k].coefficient);
        }
        counts_[event] = 0;
    }
}

void Lagrangian::evaluate(const std::vector<double>& prices, Evaluation& found) {
    ++n_evaluations_;
    const auto read_chart = [&](auto& chart) {
        found.value = chart.log_total();
        if (found.value != kNegativeInfinity) read_path(chart, found);
    };
    const bool free = std::all_of(prices.begin(), prices.end(), [](double x) { return x == 0.0; });
    if (free) {
        SequenceScores scores = scores_;
        if (!phi_.empty()) scores.phi = phi_.data();
        plain_.with_best(scores, read_chart);
    } else {
        with_chart(prices, read_chart);
    }
    found.payoff = kNegativeInfinity;
    if (found.value == kNegativeInfinity) return;
    found.value += constant(prices);
    double missed = 0.0;
    for (int i = 0; i < rows_.n_rows; ++i) missed += rows_.slack(i, prices[i], found.excess[i]);
    found.payoff = found.value - missed;
}

}  // namespace trelliswork
