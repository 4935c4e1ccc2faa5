// The segments' part of the objective: scores from features of five kinds, and their gradients.
#include <algorithm>

#include "kernel/segments.hpp"
#include "learn/objective.hpp"
#include "learn/objective_worker.hpp"

namespace trelliswork {

// Counts the features of one gold segment, tokens first … last; `signal` (L,) is zero.
void Objective::add_gold_segment(std::int64_t first, std::int64_t last, double weight,
                                 std::vector<double>& signal, Gradients& counts) const {
    const auto y = data_.gold[first];
    signal[y] = weight;
    const auto add = [&](Kind kind, std::int64_t row) {
        if (const auto* rows = part(kind)) {
            rows->layout.scatter(rows->rows, row, row + 1, signal.data(),
                                 counts.kinds[static_cast<std::size_t>(kind)].data());
        }
    };
    for (auto i = first; i < last; ++i) add(Kind::token, i);
    add(Kind::begin, first);
    add(Kind::end, last - 1);
    add(Kind::length, last - first - 1);
    if (part(Kind::segment) != nullptr) {
        for (auto k = parts_.segment_offsets[last - 1]; k < parts_.segment_offsets[last]; ++k) {
            if (parts_.segment_durations[k] == last - first) add(Kind::segment, k);
        }
    }
    signal[y] = 0.0;
}

// φ of the segments within tokens first … last.
void Objective::score_segments(std::int64_t first, std::int64_t last, Worker& worker) const {
    SegmentParts scores;
    scores.length = last - first;
    scores.n_durations = data_.n_durations;
    scores.n_labels = automaton_.n_labels;
    const auto score = [&](Kind kind) -> const double* {
        if (part(kind) == nullptr) return nullptr;
        part(kind)->score(first, last, worker.of(kind));
        return worker.of(kind).data();
    };
    scores.token = score(Kind::token);
    scores.begin = score(Kind::begin);
    scores.end = score(Kind::end);
    scores.by_length = length_scores_.empty() ? nullptr : length_scores_.data();
    scores.longest = data_.longest.empty() ? nullptr : data_.longest.data();
    compose_segments(scores, worker.phi.data());
    if (part(Kind::segment) == nullptr) return;
    const auto n = scores.n_labels;
    const auto first_row = parts_.segment_offsets[first];
    part(Kind::segment)->score(first_row, parts_.segment_offsets[last], worker.of(Kind::segment));
    for (auto t = first; t < last; ++t) {
        for (auto k = parts_.segment_offsets[t]; k < parts_.segment_offsets[t + 1]; ++k) {
            const auto d = parts_.segment_durations[k] - 1;
            double* phi = worker.phi.data() + ((t - first) * scores.n_durations + d) * n;
            const double* own = worker.of(Kind::segment).data() + (k - first_row) * n;
            for (std::int64_t y = 0; y < n; ++y) phi[y] += own[y];
        }
    }
}

// From posteriors of segments to the gradients of all that their scores are made of.
void Objective::scatter_segments(std::int64_t first, std::int64_t last, Worker& worker) const {
    const auto n = static_cast<std::int64_t>(automaton_.n_labels);
    const auto length = last - first;
    for (const auto kind : {Kind::token, Kind::begin, Kind::end}) {
        worker.of(kind).resize(static_cast<std::size_t>(length * n));
    }
    decompose_segments(length, data_.n_durations, n, worker.posterior.data(),
                       worker.of(Kind::token).data(), worker.of(Kind::begin).data(),
                       worker.of(Kind::end).data(),
                       worker.lengths.empty() ? nullptr : worker.lengths.data());
    const auto scatter = [&](Kind kind, std::int64_t first_row, std::int64_t last_row) {
        if (part(kind) == nullptr) return;
        part(kind)->layout.scatter(part(kind)->rows, first_row, last_row, worker.of(kind).data(),
                                   worker.gradients.kinds[static_cast<std::size_t>(kind)].data());
    };
    for (const auto kind : {Kind::token, Kind::begin, Kind::end}) scatter(kind, first, last);
    if (part(Kind::segment) == nullptr) return;
    const auto first_row = parts_.segment_offsets[first];
    for (auto t = first; t < last; ++t) {
        for (auto k = parts_.segment_offsets[t]; k < parts_.segment_offsets[t + 1]; ++k) {
            const auto d = parts_.segment_durations[k] - 1;
            std::copy_n(worker.posterior.data() + ((t - first) * data_.n_durations + d) * n, n,
                        worker.of(Kind::segment).data() + (k - first_row) * n);
        }
    }
    scatter(Kind::segment, first_row, parts_.segment_offsets[last]);
}

}  // namespace trelliswork
