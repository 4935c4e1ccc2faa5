// Input of the kernel: the scores of one sequence, and the weights of the arcs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "automata/automaton.hpp"
#include "base/aligned.hpp"
#include "simd/chain_kernels.hpp"
#include "simd/semiring.hpp"

namespace trelliswork {

// The scores of one sequence of T tokens; segments last 1 … D tokens.
struct SequenceScores {
    std::int64_t length = 0;                // T
    int n_durations = 1;                    // D
    const std::int32_t* longest = nullptr;  // (L,) or null: all D; φ is −inf beyond
    const double* phi = nullptr;            // (T, D, L): label y on the d + 1 tokens that end at t
    const double* positional = nullptr;     // (T, P′) or null: pattern weights where segments begin
    int n_positional = 0;                   // P′: of the first patterns
    const std::uint8_t* classes = nullptr;  // (T,) or null: all 0; see Automaton::guards
};

// Additions to the weights of the first patterns, by class of token, on an automaton without
// guards.
struct ClassPatterns {
    const double* added = nullptr;  // (C, P′) or null: nothing
    int n_classes = 1;              // C
    int n_patterns = 0;             // P′

    const double* of(int token_class) const {
        return added == nullptr ? nullptr
                                : added + static_cast<std::int64_t>(token_class) * n_patterns;
    }

    // The addition to the weight of an arc at a token of a class.
    double on_arc(const Automaton& automaton, std::int64_t arc, int token_class) const {
        double total = 0.0;
        if (added == nullptr) return total;
        for (auto k = automaton.pattern_offsets[arc]; k < automaton.pattern_offsets[arc + 1]; ++k) {
            const auto pattern = automaton.pattern_ids[k];
            if (pattern < n_patterns) total += of(token_class)[pattern];
        }
        return total;
    }
};

// Arc weights in semiring S, relative to the largest where S is scaled: w[a] = exp(log w[a] −
// shift) in Real, log w[a] − shift in Log and Max, with log w[a] the sum of the weights of the
// patterns that arc a fires, −inf where its guard is closed.
template <class S>
struct ArcWeights {
    std::vector<double> log_weight;  // (A,)
    std::vector<double> weight;      // (A,)
    AlignedDoubles packed;           // (slots,) `weight` in the tables of Blocks; not in Log
    AlignedDoubles transposed;       // the tables transposed; only in Real
    double shift = 0.0;

    // constant (P,) or null, positional (n_positional,) or null: both are added.
    void load(const Automaton& automaton, const double* constant, const double* positional,
              int n_positional, int token_class) {
        const auto n_arcs = static_cast<std::size_t>(automaton.n_arcs());
        log_weight.resize(n_arcs);
        for (std::size_t arc = 0; arc < n_arcs; ++arc) {
            log_weight[arc] =
                log_sum(automaton, arc, constant, positional, n_positional, token_class);
        }
        if constexpr (S::packs) {
            // Arcs that share a slot share their weight: there are fewer slots to exponentiate.
            pack(automaton, [&](std::int64_t arc) { return log_weight[arc]; });
            weight.resize(n_arcs);
            for (std::size_t arc = 0; arc < n_arcs; ++arc) {
                weight[arc] = packed[automaton.blocks.slot[arc]];
            }
            transpose(automaton);
        } else {
            set_shift(log_weight);
            weight = log_weight;
            for (double& w : weight) w = S::from_log(w - shift);
        }
    }

    // Makes `weight` relative to another shift.
    void rebase(double other) {
        shift = other;
        for (std::size_t arc = 0; arc < weight.size(); ++arc) {
            weight[arc] = S::from_log(log_weight[arc] - shift);
        }
    }

    // Another weight of one arc, and of those that share its slot; in Max.
    void set(const Automaton& automaton, std::int64_t arc, double value) {
        static_assert(!S::scaled && S::packs, "weights that are relative change together");
        log_weight[arc] = weight[arc] = packed[automaton.blocks.slot[arc]] = value;
    }

    // Only the arrays of the vector loops: `packed`, `transposed` and `shift`.
    void load_packed(const Automaton& automaton, const double* constant, const double* positional,
                     int n_positional, int token_class) {
        pack(automaton, [&](std::int64_t arc) {
            return log_sum(automaton, arc, constant, positional, n_positional, token_class);
        });
        transpose(automaton);
    }

  private:
    static double log_sum(const Automaton& automaton, std::int64_t arc, const double* constant,
                          const double* positional, int n_positional, int token_class) {
        if (!automaton.is_open(arc, token_class)) return kNegativeInfinity;
        double total = 0.0;
        for (auto k = automaton.pattern_offsets[arc]; k < automaton.pattern_offsets[arc + 1]; ++k) {
            const auto pattern = automaton.pattern_ids[k];
            if (constant != nullptr) total += constant[pattern];
            if (positional != nullptr && pattern < n_positional) total += positional[pattern];
        }
        return total;
    }

    template <class Values>
    void set_shift(const Values& logs) {
        shift = 0.0;
        if (!S::scaled || logs.empty()) return;
        const double largest = *std::max_element(logs.begin(), logs.end());
        if (largest > kNegativeInfinity) shift = largest;
    }

    template <class LogOf>
    void pack(const Automaton& automaton, LogOf&& log_of) {
        const auto& slot_arc = automaton.blocks.slot_arc;
        logs_.resize(slot_arc.size());
        for (std::size_t i = 0; i < logs_.size(); ++i) {
            logs_[i] = slot_arc[i] < 0 ? kNegativeInfinity : log_of(slot_arc[i]);
        }
        if constexpr (S::scaled) {
            packed.resize(static_cast<std::size_t>(padded(static_cast<int>(logs_.size()))));
            shift = 0.0;
            if (!logs_.empty()) {
                chain_kernels().exponentiate(1, static_cast<int>(logs_.size()), logs_.data(),
                                             packed.data(), &shift);
            }
        } else {
            set_shift(logs_);
            packed.assign(logs_.begin(), logs_.end());
        }
    }

    void transpose(const Automaton& automaton) {
        if constexpr (S::scaled) {
            const auto& places = automaton.blocks.transpose;
            transposed.assign(static_cast<std::size_t>(automaton.blocks.n_transposed), S::zero);
            for (std::size_t i = 0; i < places.size(); ++i) {
                if (places[i] >= 0) transposed[places[i]] = packed[i];
            }
        }
    }

    std::vector<double> logs_;  // (slots,)
};

// The constant arc weights of every token class.
template <class S>
struct ClassWeights {
    std::vector<ArcWeights<S>> of_class;
    double range = 0.0;    // no two finite log weights differ by more
    bool forbids = false;  // some pattern weighs −inf

    void load(const Automaton& automaton, const double* patterns, ClassPatterns classes = {}) {
        const int n_classes = std::max(automaton.n_classes, classes.n_classes);
        of_class.resize(static_cast<std::size_t>(n_classes));
        for (int c = 0; c < n_classes; ++c) {
            const int guarded = classes.added == nullptr ? c : 0;
            of_class[c].load(automaton, patterns, classes.of(c), classes.n_patterns, guarded);
        }
        forbids = false;
        double least = 0.0;
        double largest = 0.0;
        for (std::int64_t p = 0; p < automaton.n_patterns && patterns != nullptr; ++p) {
            if (patterns[p] == kNegativeInfinity) {
                forbids = true;
                continue;
            }
            least = std::min(least, patterns[p]);
            largest = std::max(largest, patterns[p]);
        }
        range = (largest - least) * automaton.most_fired;
    }
};

}  // namespace trelliswork
