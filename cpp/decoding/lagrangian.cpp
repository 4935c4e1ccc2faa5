#include "decoding/lagrangian.hpp"

#include <algorithm>

namespace trelliswork {

ArcEvents::ArcEvents(const Automaton& automaton, const CountRows& rows, const double* patterns) {
    const auto n_arcs = automaton.n_arcs();
    const bool is_chain = !rows.start_event.empty();
    event.assign(static_cast<std::size_t>(n_arcs), -1);
    weight.assign(static_cast<std::size_t>(n_arcs), 0.0);
    offsets.assign(static_cast<std::size_t>(rows.n_events) + 1, 0);
    const auto is_start = [&](std::int64_t a) { return is_chain && automaton.source[a] == 0; };
    for (std::int64_t a = 0; a < n_arcs; ++a) {
        if (is_start(a)) event[a] = rows.start_event[automaton.label[a]];
        for (auto k = automaton.pattern_offsets[a]; k < automaton.pattern_offsets[a + 1]; ++k) {
            const auto own = rows.pattern_event[automaton.pattern_ids[k]];
            if (own >= 0) event[a] = own;
            if (patterns != nullptr) weight[a] += patterns[automaton.pattern_ids[k]];
        }
        if (event[a] >= 0 && !is_start(a)) ++offsets[event[a] + 1];
    }
    for (int e = 0; e < rows.n_events; ++e) offsets[e + 1] += offsets[e];
    arcs.resize(static_cast<std::size_t>(offsets.back()));
    auto next = offsets;
    for (std::int64_t a = 0; a < n_arcs; ++a) {
        if (event[a] >= 0 && !is_start(a)) arcs[next[event[a]]++] = a;
    }
}

Lagrangian::Lagrangian(const Batch& batch, const CountRows& rows, const ArcEvents& events,
                       const Weights& plain)
    : batch_(batch),
      rows_(rows),
      events_(events),
      reader_(batch),
      plain_(plain, batch.memory_limit) {
    quantity_price_.assign(static_cast<std::size_t>(rows.n_quantities), 0.0);
    event_price_.assign(static_cast<std::size_t>(rows.n_events), 0.0);
    counts_.assign(static_cast<std::size_t>(rows.n_quantities), 0);
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

void Lagrangian::set_prices(const std::vector<double>& prices) {
    if (!priced_) {
        const auto n_patterns = rows_.pattern_event.size();
        if (batch_.patterns == nullptr) {
            weights_.assign(n_patterns, 0.0);
        } else {
            weights_.assign(batch_.patterns, batch_.patterns + n_patterns);
        }
        own_weights_.emplace(automaton(), weights_.data(), batch_.n_durations, false,
                             batch_.class_patterns);
        arc_by_arc_ = own_weights_->can_set_arcs() && batch_.positional == nullptr;
        priced_.emplace(*own_weights_, kNoMemoryLimit);
    }
    std::fill(quantity_price_.begin(), quantity_price_.end(), 0.0);
    for (int i = 0; i < rows_.n_rows; ++i) {
        if (prices[i] == 0.0) continue;
        for (auto k = rows_.row_offsets[i]; k < rows_.row_offsets[i + 1]; ++k) {
            const Count& count = rows_.row_counts[k];
            quantity_price_[count.quantity] += prices[i] * static_cast<double>(count.times);
        }
    }
    for (int e = 0; e < rows_.n_events; ++e) {
        double price = 0.0;
        for (auto k = rows_.event_offsets[e]; k < rows_.event_offsets[e + 1]; ++k) {
            const Count& count = rows_.event_counts[k];
            price += quantity_price_[count.quantity] * static_cast<double>(count.times);
        }
        if (price != event_price_[e]) set_event(e, price);
    }
    if (arc_by_arc_) return;
    for (std::size_t p = 0; p < weights_.size(); ++p) {
        const auto event = rows_.pattern_event[p];
        if (event < 0) continue;
        weights_[p] = (batch_.patterns == nullptr ? 0.0 : batch_.patterns[p]) - event_price_[event];
    }
    own_weights_->forget();
}

void Lagrangian::set_event(int event, double price) {
    event_price_[event] = price;
    if (!arc_by_arc_) return;
    const auto first = events_.offsets[event];
    own_weights_->set_arcs(events_.arcs.data() + first, events_.offsets[event + 1] - first,
                           events_.weight.data(), price);
}

const SequenceScores& Lagrangian::priced_scores() {
    priced_scores_ = scores_;
    if (!phi_.empty()) priced_scores_.phi = phi_.data();
    if (rows_.start_event.empty() || scores_.length == 0) return priced_scores_;
    // A chain: the segments that begin at the first token, of d + 1 tokens, have their prices in φ.
    const auto n_labels = static_cast<std::int64_t>(automaton().n_labels);
    const auto n_durations = static_cast<std::int64_t>(scores_.n_durations);
    const auto longest = std::min(n_durations, scores_.length);
    const auto row = [&](std::int64_t d) { return (d * n_durations + d) * n_labels; };
    if (own_phi_.empty()) {
        const double* phi = priced_scores_.phi;
        own_phi_.assign(phi, phi + scores_.length * n_durations * n_labels);
        first_.clear();
        for (std::int64_t d = 0; d < longest; ++d) {
            first_.insert(first_.end(), phi + row(d), phi + row(d) + n_labels);
        }
    }
    for (std::int64_t d = 0; d < longest; ++d) {
        for (std::int64_t y = 0; y < n_labels; ++y) {
            const auto event = rows_.start_event[y];
            own_phi_[row(d) + y] =
                first_[d * n_labels + y] - (event < 0 ? 0.0 : event_price_[event]);
        }
    }
    priced_scores_.phi = own_phi_.data();
    return priced_scores_;
}

void Lagrangian::evaluate(const std::vector<double>& prices, Evaluation& found) {
    const auto read = [&](auto& chart) { read_best(chart, prices, found); };
    const bool free = std::all_of(prices.begin(), prices.end(), [](double x) { return x == 0.0; });
    if (free) {
        SequenceScores scores = scores_;
        if (!phi_.empty()) scores.phi = phi_.data();
        plain_.with_best(scores, read);
    } else {
        with_chart(prices, read);
    }
}

void Lagrangian::finish(const std::vector<double>& prices, Evaluation& found) const {
    rows_.excess(counts_, found.excess);
    found.value += constant(prices);
    double missed = 0.0;
    for (int i = 0; i < rows_.n_rows; ++i) missed += rows_.slack(i, prices[i], found.excess[i]);
    found.payoff = found.value - missed;
}

}  // namespace trelliswork
