#include "learn/perceptron.hpp"

#include <algorithm>
#include <vector>

#include "kernel/engine.hpp"

namespace trelliswork {

namespace {

class Perceptron {
  public:
    Perceptron(const Automaton& automaton, const LabelledSentences& sentences,
               const PerceptronTables& tables)
        : automaton_(automaton),
          sentences_(sentences),
          tables_(tables),
          weights_(automaton, tables.patterns, 1),
          engine_(weights_, kNoMemoryLimit),
          change_(static_cast<std::size_t>(automaton.n_patterns), 0.0) {}

    // Decodes sentence b, learns from it, and returns how many tokens were wrong.
    std::int64_t visit(std::int64_t b, std::int64_t step) {
        const auto first = sentences_.offsets[b];
        const auto length = sentences_.offsets[b + 1] - first;
        decode(first, length);
        const std::int32_t* gold = sentences_.gold + first;
        std::int64_t n_wrong = 0;
        for (std::int64_t t = 0; t < length; ++t) n_wrong += labels_[t] != gold[t];
        if (n_wrong == 0) return 0;
        const double amount = sentences_.amounts[b];
        const auto seen = static_cast<double>(step);
        for (std::int64_t t = 0; t < length; ++t) {
            if (labels_[t] != gold[t]) add_features(first + t, gold[t], amount, seen);
        }
        for (std::int64_t t = 0; t < length; ++t) {
            if (labels_[t] != gold[t]) add_features(first + t, labels_[t], -amount, seen);
        }
        add_patterns(first, length, amount, seen);
        return n_wrong;
    }

  private:
    // Writes ŷ into labels_, and the arcs of its path into arcs_.
    void decode(std::int64_t first, std::int64_t length) {
        const int n_labels = automaton_.n_labels;
        phi_.assign(static_cast<std::size_t>(length * n_labels), 0.0);
        for (std::int64_t t = 0; t < length; ++t) {
            double* row = phi_.data() + t * n_labels;
            for_each_feature(first + t, [&](std::int64_t feature, double value) {
                const double* weights = tables_.state + feature * n_labels;
                for (int y = 0; y < n_labels; ++y) row[y] += value * weights[y];
            });
        }
        SequenceScores scores;
        scores.length = length;
        scores.phi = phi_.data();
        labels_.assign(static_cast<std::size_t>(length), -1);
        arcs_.clear();
        engine_.with_best(scores, [&](auto& chart) {
            walk_best_path(chart, [&](std::int64_t t, const Arrival& last) {
                labels_[t - 1] = automaton_.label[last.arc];
                arcs_.push_back(last.arc);
            });
        });
    }

    template <class Visit>
    void for_each_feature(std::int64_t token, Visit&& visit) const {
        const auto& features = sentences_.features;
        for (auto k = features.offsets[token]; k < features.offsets[token + 1]; ++k) {
            visit(std::int64_t{features.features[k]},
                  features.values == nullptr ? 1.0 : features.values[k]);
        }
    }

    static bool is_learned(const std::uint8_t* learned, std::int64_t place) {
        return learned == nullptr || learned[place] != 0;
    }

    void add_features(std::int64_t token, std::int32_t label, double amount, double seen) {
        for_each_feature(token, [&](std::int64_t feature, double value) {
            const auto place = feature * automaton_.n_labels + label;
            if (!is_learned(tables_.learned_state, place)) return;
            tables_.state[place] += amount * value;
            tables_.late_state[place] += seen * (amount * value);
        });
    }

    void add_patterns(std::int64_t first, std::int64_t length, double amount, double seen) {
        touched_.clear();
        const auto count = [&](std::int32_t pattern, double times) {
            touched_.push_back(pattern);
            change_[pattern] += times;
        };
        const auto* offsets = sentences_.pattern_offsets;
        for (auto k = offsets[first]; k < offsets[first + length]; ++k) {
            count(sentences_.patterns[k], 1.0);
        }
        for (const auto arc : arcs_) {
            for (auto k = automaton_.pattern_offsets[arc]; k < automaton_.pattern_offsets[arc + 1];
                 ++k) {
                count(automaton_.pattern_ids[k], -1.0);
            }
        }
        bool moved = false;
        for (const auto pattern : touched_) {
            const double change = change_[pattern];
            change_[pattern] = 0.0;  // once, however often it was touched
            if (change == 0.0 || !is_learned(tables_.learned_patterns, pattern)) continue;
            tables_.patterns[pattern] += amount * change;
            tables_.late_patterns[pattern] += seen * (amount * change);
            moved = true;
        }
        if (moved) weights_.forget();
    }

    const Automaton& automaton_;
    const LabelledSentences& sentences_;
    const PerceptronTables& tables_;
    Weights weights_;
    Engine engine_;
    std::vector<double> phi_;           // (T, L)
    std::vector<std::int32_t> labels_;  // (T,)
    std::vector<std::int64_t> arcs_;    // of the best path, last first
    std::vector<double> change_;        // (P,), zero between sentences
    std::vector<std::int32_t> touched_;
};

}  // namespace

PerceptronCounts perceptron_pass(const Automaton& automaton, const LabelledSentences& sentences,
                                 const std::int64_t* order, std::int64_t n, std::int64_t step,
                                 const PerceptronTables& tables) {
    Perceptron perceptron(automaton, sentences, tables);
    PerceptronCounts counts;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto n_wrong = perceptron.visit(order[i], step + i);
        counts.mistakes += n_wrong > 0;
        counts.wrong_tokens += n_wrong;
    }
    return counts;
}

}  // namespace trelliswork
