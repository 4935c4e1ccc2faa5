// The scores of one sequence of a batch, with all that is folded into them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/double_double.hpp"
#include "kernel/inference.hpp"
#include "kernel/scores.hpp"
#include "kernel/segments.hpp"

namespace trelliswork {

// Folds start scores, end scores and allowed labels into φ, copying it only when there are any.
class ScoreReader {
  public:
    explicit ScoreReader(const Batch& batch) : batch_(batch) {}

    SequenceScores read(std::int64_t sequence) {
        const auto first = batch_.offsets[sequence];
        const auto n_labels = static_cast<std::int64_t>(batch_.automaton->n_labels);
        const auto width = batch_.n_durations * n_labels;
        SequenceScores scores;
        scores.length = batch_.offsets[sequence + 1] - first;
        scores.n_durations = batch_.n_durations;
        scores.phi = batch_.phi + first * width;
        if (batch_.positional != nullptr) {
            scores.positional = batch_.positional + first * batch_.n_positional;
            scores.n_positional = batch_.n_positional;
        }
        if (batch_.classes != nullptr) scores.classes = batch_.classes + first;
        if (batch_.start == nullptr && batch_.end == nullptr && batch_.allowed == nullptr) {
            return scores;
        }
        folded_.assign(scores.phi, scores.phi + scores.length * width);
        add_ends(scores.length);
        if (!rest_.empty()) scores.phi_rest = rest_.data();
        if (batch_.allowed != nullptr) {
            forbid_segments(scores.length, batch_.n_durations, n_labels,
                            batch_.allowed + first * batch_.n_masks * n_labels, batch_.n_masks,
                            folded_.data());
        }
        scores.phi = folded_.data();
        return scores;
    }

  private:
    void add_ends(std::int64_t length) {
        const auto n_labels = static_cast<std::int64_t>(batch_.automaton->n_labels);
        const auto longest = std::min<std::int64_t>(batch_.n_durations, length);
        rest_.clear();
        for (std::int64_t d = 1; d <= longest; ++d) {
            const auto first = ((d - 1) * batch_.n_durations + d - 1) * n_labels;
            const auto last = ((length - 1) * batch_.n_durations + d - 1) * n_labels;
            for (std::int64_t y = 0; y < n_labels; ++y) {
                if (batch_.start != nullptr) add(batch_.start[y], first + y);
                if (batch_.end != nullptr) add(batch_.end[y], last + y);
            }
        }
    }

    void add(double term, std::int64_t place) {
        double& score = folded_[place];
        const auto sum = exact_sum(score, term);
        if (std::isfinite(sum.hi)) {
            if (std::abs(sum.lo) > kNegligible && rest_.empty()) rest_.assign(folded_.size(), 0.0);
            if (!rest_.empty()) rest_[place] += sum.lo;
            score = sum.hi;
        } else if (score > kNegativeInfinity && term > kNegativeInfinity) {
            // Beyond the range of a double: the largest, of which no digit is trusted.
            score = std::copysign(std::numeric_limits<double>::max(), sum.hi);
        } else {
            score = kNegativeInfinity;
        }
    }

    static constexpr double kNegligible = 1e-9;

    const Batch& batch_;
    std::vector<double> folded_;  // (T, D, L)
    std::vector<double> rest_;    // (T, D, L), or empty: nothing to speak of
};

}  // namespace trelliswork
