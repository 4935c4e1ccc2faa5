// Weights of (feature, output) pairs, laid out for speed: φ = X W and ∂W = Xᵀ ∂φ.
//
// An output is a label, or a pattern for features on transitions. Only some pairs have a weight.
// Features with many pairs become *dense* rows, padded to whole vectors; the others stay lists of
// (output, weight). A *slot* is a place in that layout; a *pair* is a place in the caller's order.
#pragma once

#include <cstdint>
#include <vector>

namespace trelliswork {

// The features of some tokens, dense and sparse apart, in the order they are read: only the weights
// themselves are looked up out of order. N tokens.
struct SplitFeatures {
    std::vector<std::int64_t> dense_offsets{0};       // (N + 1,)
    std::vector<std::int64_t> sparse_offsets{0};      // (N + 1,)
    std::vector<std::int64_t> output_offsets{0};      // (N + 1,) into outputs
    std::vector<std::int32_t> dense_rows;             // row of each dense feature
    std::vector<std::int32_t> sparse_starts;          // first listed weight of each sparse feature
    std::vector<std::uint16_t> sparse_counts;         // how many it has
    std::vector<std::uint16_t> outputs;               // the output of each of them
    std::vector<double> dense_values, sparse_values;  // empty: all ones

    void clear();
};

// A CSR matrix of tokens × features that the caller owns.
struct TokenFeatures {
    const std::int64_t* offsets = nullptr;  // (N + 1,)
    const std::int32_t* features = nullptr;
    const double* values = nullptr;  // or null: all ones
};

class FeatureLayout {
  public:
    // pair_offsets (F + 1,), pair_outputs: the outputs that each feature has a weight for, rising.
    FeatureLayout(int n_outputs, std::vector<std::int64_t> pair_offsets,
                  std::vector<std::int32_t> pair_outputs);

    int n_outputs() const { return n_outputs_; }
    std::int64_t n_features() const { return static_cast<std::int64_t>(place_.size()); }
    std::int64_t n_pairs() const { return static_cast<std::int64_t>(slot_of_pair_.size()); }
    std::int64_t n_slots() const { return n_dense_ * stride_ + n_listed_; }
    int stride() const { return stride_; }  // from one dense row to the next
    std::int64_t n_dense_slots() const { return n_dense_ * stride_; }  // lists follow
    const std::vector<std::int64_t>& slots_of_pairs() const { return slot_of_pair_; }
    const std::vector<std::int64_t>& pair_offsets() const { return pair_offsets_; }
    const std::vector<std::int32_t>& pair_outputs() const { return pair_outputs_; }

    // slots[slot of pair k] = pairs[k]; the rest of the slots must be zero already.
    void spread(const double* pairs, double* slots) const;
    // pairs[k] += slots[slot of pair k]
    void collect(const double* slots, double* pairs) const;

    // use(first slot, number of slots) for every feature that has a weight.
    template <class Use>
    void for_each_feature(Use&& use) const {
        for (std::int64_t r = 0; r < n_dense_; ++r) use(r * stride_, n_outputs_);
        for (std::size_t l = 0; l + 1 < list_offsets_.size(); ++l) {
            const auto count = static_cast<int>(list_offsets_[l + 1] - list_offsets_[l]);
            if (count > 0) use(n_dense_slots() + list_offsets_[l], count);
        }
    }

    // Appends tokens first … last of `rows` to `split`.
    void split(const TokenFeatures& rows, std::int64_t first, std::int64_t last,
               SplitFeatures& split) const;

    // out[i, y] = Σ_f x[i, f] w[f, y] for tokens first … last of `split`; out (n, n_outputs).
    void score(const SplitFeatures& split, std::int64_t first, std::int64_t last,
               const double* slots, double* out) const;
    // grad[f, y] += Σ_i x[i, f] signal[i, y]; signal (n, n_outputs).
    void scatter(const SplitFeatures& split, std::int64_t first, std::int64_t last,
                 const double* signal, double* grad_slots) const;

  private:
    int n_outputs_;
    int stride_;  // n_outputs, padded
    std::int64_t n_dense_ = 0;
    std::int64_t n_listed_ = 0;
    std::vector<std::int64_t> pair_offsets_;  // (F + 1,)
    std::vector<std::int32_t> pair_outputs_;  // (pairs,)
    std::vector<std::int32_t> place_;         // (F,): dense row r as r, list l as −1 − l
    std::vector<std::int64_t> list_offsets_;  // (lists + 1,) into list_outputs
    std::vector<std::int32_t> list_outputs_;
    std::vector<std::int64_t> slot_of_pair_;  // (pairs,)
};

// The pairs (feature, label) that occur: labels (N,) with −1 where allowed (N, L) speaks instead
// (null: such tokens show nothing). Every pair of the F features when `all`.
void observed_pairs(const TokenFeatures& rows, std::int64_t n_tokens, std::int64_t n_features,
                    int n_labels, const std::int32_t* labels, const std::uint8_t* allowed, bool all,
                    std::vector<std::int64_t>& pair_offsets,
                    std::vector<std::int32_t>& pair_outputs);

}  // namespace trelliswork
