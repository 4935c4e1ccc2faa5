// Factors with an inner dynamic program.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "automata/automaton.hpp"
#include "graphs/factor_graph.hpp"
#include "kernel/engine.hpp"

namespace trelliswork {

// Workspaces that are lent to one caller at a time, so that const verbs are thread-safe without
// making theirs anew.
template <class Workspace>
class Pool {
  public:
    template <class Make, class Use>
    auto with(Make&& make, Use&& use) const {
        std::unique_ptr<Workspace> own;
        {
            const std::scoped_lock lock(mutex_);
            if (!free_.empty()) {
                own = std::move(free_.back());
                free_.pop_back();
            }
        }
        if (own == nullptr) own = make();
        auto result = use(*own);
        const std::scoped_lock lock(mutex_);
        free_.push_back(std::move(own));
        return result;
    }

  private:
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Workspace>> free_;
};

// Two categorical variables with a table: links are the indicators of the first, then of the
// second; h = table[i, j].
class PairStructure : public Structure {
  public:
    // table (n_first, n_second), −inf: the two do not go together.
    PairStructure(std::int64_t n_first, std::int64_t n_second, std::vector<double> table);

    std::int64_t size() const override { return n_first_ + n_second_; }
    double maximize(const double* scores, const std::int8_t* fixed,
                    std::uint8_t* on) const override;
    double value(const std::uint8_t* on) const override;
    double lowest() const override;
    double scale() const override;

  private:
    std::int64_t n_first_, n_second_;
    std::vector<double> table_;
};

// T tokens, each with one of L labels: links are the indicators (T, L); h is the weight of the best
// path of an automaton that has these labels, −inf: there is none.
class ChainStructure : public Structure {
  public:
    // The automaton without guards; patterns (P,) its weights; start, end (L,) or empty: of the
    // first and last label.
    ChainStructure(std::shared_ptr<const Automaton> automaton, std::vector<double> patterns,
                   std::vector<double> start, std::vector<double> end, std::int64_t n_tokens);

    std::int64_t size() const override { return n_tokens_ * automaton_->n_labels; }
    double maximize(const double* scores, const std::int8_t* fixed,
                    std::uint8_t* on) const override;
    double value(const std::uint8_t* on) const override;
    double lowest() const override;
    double scale() const override;

  private:
    struct Workspace {
        Engine engine;
        std::vector<double> phi;  // (T, L)
    };
    template <class Use>
    double with_workspace(Use&& use) const;
    // The best path where label y of token t scores phi[t, y]; `on` (T, L) zeroed, or null.
    double best_path(Workspace& workspace, std::uint8_t* on) const;

    std::shared_ptr<const Automaton> automaton_;
    std::vector<double> patterns_, start_, end_;
    std::int64_t n_tokens_;
    Weights weights_;
    Pool<Workspace> pool_;
};

// Spans of a sentence, at most one over each token: link k is the span starts[k] … ends[k], without
// the token ends[k]; h = 0.
class SpanChainStructure : public Structure {
  public:
    // 0 ≤ starts[k] < ends[k] ≤ n_tokens.
    SpanChainStructure(std::int64_t n_tokens, std::vector<std::int32_t> starts,
                       std::vector<std::int32_t> ends);

    std::int64_t size() const override { return static_cast<std::int64_t>(starts_.size()); }
    double maximize(const double* scores, const std::int8_t* fixed,
                    std::uint8_t* on) const override;
    double value(const std::uint8_t* on) const override;
    double lowest() const override { return 0.0; }
    double scale() const override { return 0.0; }

  private:
    struct Workspace {
        std::vector<double> best;          // (n_tokens + 1,) of the tokens before t
        std::vector<std::int32_t> chosen;  // (n_tokens + 1,) the span that ends at t, −1: none does
        std::vector<std::int32_t> forced;  // (n_tokens + 1,) tokens before t under fixed spans
    };
    template <class Use>
    double with_workspace(Use&& use) const;
    // Marks the tokens under the spans that `is_on`; false: two share a token.
    template <class IsOn>
    bool cover(Workspace& workspace, IsOn&& is_on) const;

    std::int64_t n_tokens_;
    std::vector<std::int32_t> starts_, ends_;
    std::vector<std::int32_t> by_end_;       // links in the order of their ends
    std::vector<std::int32_t> end_offsets_;  // (n_tokens + 2,) into by_end_
    Pool<Workspace> pool_;
};

}  // namespace trelliswork
