#include "graphs/structures.hpp"

#include <algorithm>
#include <cmath>

#include "base/require.hpp"

namespace trelliswork {

namespace {

constexpr std::int64_t kNone = -1, kTwo = -2;

// The one of n links that is chosen, by whether(k): kNone, or kTwo where there are more.
template <class Whether>
std::int64_t only_one(std::int64_t n, Whether&& whether) {
    std::int64_t found = kNone;
    for (std::int64_t k = 0; k < n; ++k) {
        if (whether(k)) found = found == kNone ? k : kTwo;
    }
    return found;
}

// The least of the weights that allow something; 0 where there are none.
double least_finite(const std::vector<double>& weights) {
    double least = -kNegativeInfinity;
    for (const double w : weights) {
        if (w > kNegativeInfinity) least = std::min(least, w);
    }
    return std::isfinite(least) ? least : 0.0;
}

double largest_finite(const std::vector<double>& weights) {
    double largest = 0.0;
    for (const double w : weights) {
        if (std::isfinite(w)) largest = std::max(largest, std::abs(w));
    }
    return largest;
}

}  // namespace

PairStructure::PairStructure(std::int64_t n_first, std::int64_t n_second, std::vector<double> table)
    : n_first_(n_first), n_second_(n_second), table_(std::move(table)) {
    require(n_first >= 0 && n_second >= 0 &&
                static_cast<std::int64_t>(table_.size()) == n_first * n_second,
            "PairStructure: expected a table of n_first × n_second weights");
}

double PairStructure::maximize(const double* scores, const std::int8_t* fixed,
                               std::uint8_t* on) const {
    std::fill_n(on, size(), std::uint8_t{0});
    const std::int8_t* second_fixed = fixed + n_first_;
    const double* second_scores = scores + n_first_;
    const auto first_only = only_one(n_first_, [&](auto k) { return fixed[k] == 1; });
    const auto second_only = only_one(n_second_, [&](auto k) { return second_fixed[k] == 1; });
    double best = kNegativeInfinity;
    std::int64_t best_first = kNone, best_second = kNone;
    for (std::int64_t i = 0; i < n_first_; ++i) {
        if (fixed[i] == 0 || (first_only != kNone && first_only != i)) continue;
        const double* row = table_.data() + i * n_second_;
        for (std::int64_t j = 0; j < n_second_; ++j) {
            if (second_fixed[j] == 0 || (second_only != kNone && second_only != j)) continue;
            const double total = scores[i] + second_scores[j] + row[j];
            if (total > best) {
                best = total;
                best_first = i;
                best_second = j;
            }
        }
    }
    if (best_first == kNone) return kNegativeInfinity;
    on[best_first] = 1;
    on[n_first_ + best_second] = 1;
    return best;
}

double PairStructure::value(const std::uint8_t* on) const {
    const auto i = only_one(n_first_, [&](auto k) { return on[k] != 0; });
    const auto j = only_one(n_second_, [&](auto k) { return on[n_first_ + k] != 0; });
    return i < 0 || j < 0 ? kNegativeInfinity : table_[i * n_second_ + j];
}

double PairStructure::lowest() const {
    return least_finite(table_);
}

double PairStructure::scale() const {
    return largest_finite(table_);
}

ChainStructure::ChainStructure(std::shared_ptr<const Automaton> automaton,
                               std::vector<double> patterns, std::vector<double> start,
                               std::vector<double> end, std::int64_t n_tokens)
    : automaton_(std::move(automaton)),
      patterns_(std::move(patterns)),
      start_(std::move(start)),
      end_(std::move(end)),
      n_tokens_(n_tokens),
      weights_(*automaton_, patterns_.data(), 1) {
    const auto n_labels = static_cast<std::size_t>(automaton_->n_labels);
    require(n_tokens >= 0 && patterns_.size() == static_cast<std::size_t>(automaton_->n_patterns) &&
                (start_.empty() || start_.size() == n_labels) &&
                (end_.empty() || end_.size() == n_labels),
            "ChainStructure: expected a weight a pattern, and a start and end a label");
    require(automaton_->n_classes == 1, "ChainStructure: expected an automaton without guards");
}

template <class Use>
double ChainStructure::with_workspace(Use&& use) const {
    const auto make = [&] {
        auto made = std::make_unique<Workspace>(Engine(weights_, kNoMemoryLimit));
        made->phi.resize(static_cast<std::size_t>(size()));
        return made;
    };
    return pool_.with(make, use);
}

double ChainStructure::best_path(Workspace& workspace, std::uint8_t* on) const {
    const auto n_labels = static_cast<std::int64_t>(automaton_->n_labels);
    auto& phi = workspace.phi;
    for (std::int64_t y = 0; y < n_labels && n_tokens_ > 0; ++y) {
        if (!start_.empty()) phi[y] += start_[y];
        if (!end_.empty()) phi[(n_tokens_ - 1) * n_labels + y] += end_[y];
    }
    SequenceScores scores;
    scores.length = n_tokens_;
    scores.phi = phi.data();
    return workspace.engine.with_best(scores, [&](auto& chart) {
        const double best = chart.log_total();
        if (on != nullptr) {
            walk_best_path(chart, [&](std::int64_t t, const Arrival& last) {
                on[(t - 1) * n_labels + automaton_->label[last.arc]] = 1;
            });
        }
        return best;
    });
}

double ChainStructure::maximize(const double* scores, const std::int8_t* fixed,
                                std::uint8_t* on) const {
    std::fill_n(on, size(), std::uint8_t{0});
    const auto n_labels = static_cast<std::int64_t>(automaton_->n_labels);
    return with_workspace([&](Workspace& workspace) {
        for (std::int64_t t = 0; t < n_tokens_; ++t) {
            const std::int8_t* here = fixed + t * n_labels;
            const auto only = only_one(n_labels, [&](auto y) { return here[y] == 1; });
            for (std::int64_t y = 0; y < n_labels; ++y) {
                const bool may = here[y] != 0 && (only == kNone || only == y);
                workspace.phi[t * n_labels + y] =
                    may ? scores[t * n_labels + y] : kNegativeInfinity;
            }
        }
        return best_path(workspace, on);
    });
}

double ChainStructure::value(const std::uint8_t* on) const {
    const auto n_labels = static_cast<std::int64_t>(automaton_->n_labels);
    return with_workspace([&](Workspace& workspace) {
        for (std::int64_t t = 0; t < n_tokens_; ++t) {
            const std::uint8_t* here = on + t * n_labels;
            if (only_one(n_labels, [&](auto y) { return here[y] != 0; }) < 0) {
                return kNegativeInfinity;
            }
            for (std::int64_t y = 0; y < n_labels; ++y) {
                workspace.phi[t * n_labels + y] = here[y] != 0 ? 0.0 : kNegativeInfinity;
            }
        }
        return best_path(workspace, nullptr);
    });
}

// Every path has one arc a token, and none weighs less than the lightest.
double ChainStructure::lowest() const {
    if (n_tokens_ == 0) return least_finite(automaton_->initial) + least_finite(automaton_->final);
    std::vector<double> arcs;
    for (std::int64_t a = 0; a < automaton_->n_arcs(); ++a) {
        double weight = 0.0;
        for (auto i = automaton_->pattern_offsets[a]; i < automaton_->pattern_offsets[a + 1]; ++i) {
            weight += patterns_[automaton_->pattern_ids[i]];
        }
        arcs.push_back(weight);
    }
    return static_cast<double>(n_tokens_) * least_finite(arcs) + least_finite(automaton_->initial) +
           least_finite(automaton_->final) + least_finite(start_) + least_finite(end_);
}

double ChainStructure::scale() const {
    return std::max({largest_finite(patterns_), largest_finite(start_), largest_finite(end_),
                     largest_finite(automaton_->initial), largest_finite(automaton_->final)});
}

SpanChainStructure::SpanChainStructure(std::int64_t n_tokens, std::vector<std::int32_t> starts,
                                       std::vector<std::int32_t> ends)
    : n_tokens_(n_tokens), starts_(std::move(starts)), ends_(std::move(ends)) {
    require(n_tokens >= 0 && starts_.size() == ends_.size(),
            "SpanChainStructure: expected a start and an end a link");
    end_offsets_.assign(static_cast<std::size_t>(n_tokens) + 2, 0);
    for (std::size_t k = 0; k < starts_.size(); ++k) {
        require(0 <= starts_[k] && starts_[k] < ends_[k] && ends_[k] <= n_tokens,
                "SpanChainStructure: expected 0 ≤ start < end ≤ n_tokens");
        ++end_offsets_[ends_[k] + 1];
    }
    for (std::int64_t t = 0; t <= n_tokens; ++t) end_offsets_[t + 1] += end_offsets_[t];
    by_end_.resize(starts_.size());
    auto next = end_offsets_;
    for (std::size_t k = 0; k < starts_.size(); ++k) {
        by_end_[next[ends_[k]]++] = static_cast<std::int32_t>(k);
    }
}

template <class Use>
double SpanChainStructure::with_workspace(Use&& use) const {
    const auto make = [&] {
        auto made = std::make_unique<Workspace>();
        made->best.resize(static_cast<std::size_t>(n_tokens_) + 1);
        made->chosen.resize(static_cast<std::size_t>(n_tokens_) + 1);
        made->forced.resize(static_cast<std::size_t>(n_tokens_) + 1);
        return made;
    };
    return pool_.with(make, use);
}

template <class IsOn>
bool SpanChainStructure::cover(Workspace& workspace, IsOn&& is_on) const {
    auto& forced = workspace.forced;
    std::fill(forced.begin(), forced.end(), 0);
    // First, how many more spans cover token t − 1 than the one before it; then how many; and at
    // last, how many tokens before t are covered.
    for (std::int64_t k = 0; k < size(); ++k) {
        if (!is_on(k)) continue;
        ++forced[starts_[k] + 1];
        if (ends_[k] < n_tokens_) --forced[ends_[k] + 1];
    }
    std::int32_t spans = 0;
    for (std::int64_t t = 1; t <= n_tokens_; ++t) {
        spans += forced[t];
        if (spans > 1) return false;
        forced[t] = forced[t - 1] + spans;
    }
    return true;
}

// best[t] = max(best[t − 1], max over spans k that end at t of best[starts[k]] + scores[k]).
double SpanChainStructure::maximize(const double* scores, const std::int8_t* fixed,
                                    std::uint8_t* on) const {
    std::fill_n(on, size(), std::uint8_t{0});
    return with_workspace([&](Workspace& workspace) {
        if (!cover(workspace, [&](auto k) { return fixed[k] == 1; })) return kNegativeInfinity;
        auto& [best, chosen, forced] = workspace;
        best[0] = 0.0;
        for (std::int64_t t = 1; t <= n_tokens_; ++t) {
            const bool is_forced = forced[t] > forced[t - 1];
            double most = is_forced ? kNegativeInfinity : best[t - 1];
            std::int32_t span = -1;
            for (auto i = end_offsets_[t]; i < end_offsets_[t + 1]; ++i) {
                const auto k = by_end_[i];
                const bool may =
                    fixed[k] == 1 || (fixed[k] != 0 && forced[t] == forced[starts_[k]]);
                const double total = may ? best[starts_[k]] + scores[k] : kNegativeInfinity;
                if (total > most) {
                    most = total;
                    span = k;
                }
            }
            best[t] = most;
            chosen[t] = span;
        }
        if (best[n_tokens_] == kNegativeInfinity) return kNegativeInfinity;
        for (auto t = n_tokens_; t > 0;) {
            if (chosen[t] >= 0) on[chosen[t]] = 1;
            t = chosen[t] >= 0 ? starts_[chosen[t]] : t - 1;
        }
        return best[n_tokens_];
    });
}

double SpanChainStructure::value(const std::uint8_t* on) const {
    return with_workspace([&](Workspace& workspace) {
        return cover(workspace, [&](auto k) { return on[k] != 0; }) ? 0.0 : kNegativeInfinity;
    });
}

}  // namespace trelliswork
