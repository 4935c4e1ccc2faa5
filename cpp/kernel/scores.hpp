// Input of the kernel: the scores of one sequence, and the weights of the arcs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "automata/automaton.hpp"
#include "base/aligned.hpp"
#include "base/double_double.hpp"
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
    // (T, D, L) or null: what rounding took from φ where scores were added to it; see
    // score_reader.hpp.
    const double* phi_rest = nullptr;

    struct Survey {
        bool forbids = false;  // some weight is −inf
        double largest = 0.0;  // largest |weight| of the others
    };
    Survey survey_positional() const {
        Survey found;
        const auto n = positional == nullptr ? 0 : length * n_positional;
        for (std::int64_t i = 0; i < n; ++i) {
            const bool forbidden = positional[i] == kNegativeInfinity;
            found.forbids |= forbidden;
            found.largest = std::max(found.largest, forbidden ? 0.0 : std::abs(positional[i]));
        }
        return found;
    }
};

// Sums whose terms add up to no more than this, in absolute value, have errors below 1e-6.
inline constexpr double kLargestExact = 0x1p+30;

// Whether sums of these scores have the digits that scaled probabilities need, as far as it shows
// before the sums are made; `cancels` is that of ClassWeights.
inline bool is_exact(const SequenceScores& scores, double largest_positional, bool cancels) {
    return !cancels && scores.phi_rest == nullptr && largest_positional < 0.5 * kLargestExact;
}

// The logarithm of the scale of a sum: many terms, large ones among them.
class ScaleSum {
  public:
    void add(double term) {
        add_size(term);
        if (std::isfinite(size_)) total_ = total_ + term;
    }
    // A term that is part of others.
    void add_size(double term) { size_ += std::abs(term); }

    double plus(double last) const { return rounded(total_ + last); }
    // Whether the terms were exact enough: each counts for up to D tokens.
    bool is_exact(int n_durations) const { return size_ * n_durations <= kLargestExact; }

  private:
    DoubleDouble total_;
    double size_ = 0.0;
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

// Arc weights in semiring S: w[a] = exp(log w[a] − shift) in Real, with shift the largest log w[a],
// and log w[a] in Max, where log w[a] is the sum of the weights of the patterns that arc a fires,
// −inf where its guard is closed.
template <class S>
struct ArcWeights {
    std::vector<double> log_weight;  // (A,)
    std::vector<double> weight;      // (A,)
    AlignedDoubles packed;           // (slots,) `weight` in the tables of Blocks
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
        // Arcs that share a slot share their weight: there are fewer slots to exponentiate.
        pack(automaton, [&](std::int64_t arc) { return log_weight[arc]; });
        weight.resize(n_arcs);
        for (std::size_t arc = 0; arc < n_arcs; ++arc) {
            weight[arc] = packed[automaton.blocks.slot[arc]];
        }
        transpose(automaton);
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
        static_assert(!S::scaled, "weights that are relative change together");
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
    bool cancels = false;  // large weights of patterns on one arc may have cost digits; in Real

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
        // The largest sum of any arc has an error below that of a sum of this size.
        cancels = false;
        const bool is_large = std::max(largest, -least) * automaton.most_fired > kLargestExact;
        for (std::int64_t a = 0; a < automaton.n_arcs() && is_large && !cancels; ++a) {
            double size = 0.0;
            double total = 0.0;
            for (auto k = automaton.pattern_offsets[a]; k < automaton.pattern_offsets[a + 1]; ++k) {
                const double weight = patterns[automaton.pattern_ids[k]];
                total += weight;
                size += std::abs(weight);
            }
            // An arc that is merely far below others counts for nothing, or its path is lost.
            cancels = total > kNegativeInfinity && size > kLargestExact && total > -0.5 * size;
        }
    }
};

}  // namespace trelliswork
