#include "learn/feature_weights.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "simd/chain_kernels.hpp"
#include "simd/feature_kernels.hpp"

namespace trelliswork {

namespace {

constexpr int kMostOutputs = 1 << 16;

}  // namespace

void SplitFeatures::clear() {
    dense_offsets.assign(1, 0);
    sparse_offsets.assign(1, 0);
    output_offsets.assign(1, 0);
    dense_rows.clear();
    sparse_starts.clear();
    sparse_counts.clear();
    outputs.clear();
    dense_values.clear();
    sparse_values.clear();
}

FeatureLayout::FeatureLayout(int n_outputs, std::vector<std::int64_t> pair_offsets,
                             std::vector<std::int32_t> pair_outputs)
    : n_outputs_(n_outputs),
      stride_(padded(n_outputs)),
      pair_offsets_(std::move(pair_offsets)),
      pair_outputs_(std::move(pair_outputs)) {
    if (n_outputs < 1 || n_outputs > kMostOutputs) {
        throw std::invalid_argument("outputs: expected 1 to " + std::to_string(kMostOutputs));
    }
    if (pair_offsets_.empty() || pair_offsets_.front() != 0 ||
        pair_offsets_.back() != static_cast<std::int64_t>(pair_outputs_.size())) {
        throw std::invalid_argument("pair_offsets must run from 0 to the number of pairs");
    }
    if (!std::is_sorted(pair_offsets_.begin(), pair_offsets_.end())) {
        throw std::invalid_argument("pair_offsets must not decrease");
    }
    const auto n_features = static_cast<std::int64_t>(pair_offsets_.size()) - 1;
    place_.reserve(static_cast<std::size_t>(n_features));
    list_offsets_.push_back(0);
    std::int64_t n_lists = 0;
    for (std::int64_t f = 0; f < n_features; ++f) {
        const auto count = pair_offsets_[f + 1] - pair_offsets_[f];
        for (auto k = pair_offsets_[f]; k < pair_offsets_[f + 1]; ++k) {
            const bool rises = k == pair_offsets_[f] || pair_outputs_[k - 1] < pair_outputs_[k];
            if (!rises || pair_outputs_[k] < 0 || pair_outputs_[k] >= n_outputs) {
                throw std::invalid_argument("feature " + std::to_string(f) +
                                            ": outputs must rise and exist");
            }
        }
        // A padded row costs stride / 8 vector operations, a list one operation a pair.
        if (count * 4 >= stride_) {
            place_.push_back(static_cast<std::int32_t>(n_dense_++));
        } else {
            place_.push_back(static_cast<std::int32_t>(-1 - n_lists++));
            for (auto k = pair_offsets_[f]; k < pair_offsets_[f + 1]; ++k) {
                list_outputs_.push_back(pair_outputs_[k]);
            }
            list_offsets_.push_back(static_cast<std::int64_t>(list_outputs_.size()));
        }
    }
    n_listed_ = static_cast<std::int64_t>(list_outputs_.size());
    slot_of_pair_.reserve(pair_outputs_.size());
    for (std::int64_t f = 0; f < n_features; ++f) {
        for (auto k = pair_offsets_[f]; k < pair_offsets_[f + 1]; ++k) {
            slot_of_pair_.push_back(
                place_[f] >= 0
                    ? place_[f] * static_cast<std::int64_t>(stride_) + pair_outputs_[k]
                    : n_dense_ * stride_ + list_offsets_[-1 - place_[f]] + (k - pair_offsets_[f]));
        }
    }
}

void FeatureLayout::spread(const double* pairs, double* slots) const {
    for (std::int64_t k = 0; k < n_pairs(); ++k) slots[slot_of_pair_[k]] = pairs[k];
}

void FeatureLayout::collect(const double* slots, double* pairs) const {
    for (std::int64_t k = 0; k < n_pairs(); ++k) pairs[k] += slots[slot_of_pair_[k]];
}

void FeatureLayout::split(const TokenFeatures& rows, std::int64_t first, std::int64_t last,
                          SplitFeatures& split) const {
    for (auto i = first; i < last; ++i) {
        for (auto j = rows.offsets[i]; j < rows.offsets[i + 1]; ++j) {
            const auto place = place_[rows.features[j]];
            if (place >= 0) {
                split.dense_rows.push_back(place);
                if (rows.values != nullptr) split.dense_values.push_back(rows.values[j]);
                continue;
            }
            const auto start = list_offsets_[-1 - place];
            const auto end = list_offsets_[-place];
            if (start == end) continue;
            split.sparse_starts.push_back(static_cast<std::int32_t>(start));
            split.sparse_counts.push_back(static_cast<std::uint16_t>(end - start));
            split.outputs.insert(split.outputs.end(), list_outputs_.begin() + start,
                                 list_outputs_.begin() + end);
            if (rows.values != nullptr) split.sparse_values.push_back(rows.values[j]);
        }
        split.dense_offsets.push_back(static_cast<std::int64_t>(split.dense_rows.size()));
        split.sparse_offsets.push_back(static_cast<std::int64_t>(split.sparse_starts.size()));
        split.output_offsets.push_back(static_cast<std::int64_t>(split.outputs.size()));
    }
}

namespace {

FeatureRun make_run(const SplitFeatures& split, std::int64_t first, std::int64_t last,
                    int n_outputs) {
    FeatureRun run{};
    run.n_tokens = last - first;
    run.n_outputs = n_outputs;
    run.dense_offsets = split.dense_offsets.data() + first;
    run.sparse_offsets = split.sparse_offsets.data() + first;
    run.dense_rows = split.dense_rows.data();
    run.sparse_starts = split.sparse_starts.data();
    run.sparse_counts = split.sparse_counts.data();
    run.outputs = split.outputs.data() + split.output_offsets[first];
    run.dense_values = split.dense_values.empty() ? nullptr : split.dense_values.data();
    run.sparse_values = split.sparse_values.empty() ? nullptr : split.sparse_values.data();
    return run;
}

}  // namespace

void FeatureLayout::score(const SplitFeatures& split, std::int64_t first, std::int64_t last,
                          const double* slots, double* out) const {
    std::vector<double> rows(static_cast<std::size_t>(kScoreRows * stride_));
    const auto run = make_run(split, first, last, n_outputs_);
    feature_kernels().score(run, slots, slots + n_dense_ * stride_, rows.data(), out);
}

void FeatureLayout::scatter(const SplitFeatures& split, std::int64_t first, std::int64_t last,
                            const double* signal, double* grad_slots) const {
    std::vector<double> row(static_cast<std::size_t>(stride_));
    const auto run = make_run(split, first, last, n_outputs_);
    feature_kernels().scatter(run, signal, row.data(), grad_slots, grad_slots + n_dense_ * stride_);
}

void observed_pairs(const TokenFeatures& rows, std::int64_t n_tokens, std::int64_t n_features,
                    int n_labels, const std::int32_t* labels, const std::uint8_t* allowed, bool all,
                    std::vector<std::int64_t>& pair_offsets,
                    std::vector<std::int32_t>& pair_outputs) {
    const std::int64_t n_words = (n_labels + 63) / 64;
    std::vector<std::uint64_t> seen(static_cast<std::size_t>(n_features * n_words),
                                    all ? ~std::uint64_t{0} : 0);
    std::vector<std::uint64_t> token(static_cast<std::size_t>(n_words));
    for (std::int64_t i = 0; i < n_tokens && !all; ++i) {
        token.assign(static_cast<std::size_t>(n_words), 0);
        if (labels[i] >= 0) {
            token[labels[i] / 64] |= std::uint64_t{1} << (labels[i] % 64);
        } else if (allowed != nullptr) {
            for (int y = 0; y < n_labels; ++y) {
                if (allowed[i * n_labels + y]) token[y / 64] |= std::uint64_t{1} << (y % 64);
            }
        }
        for (auto j = rows.offsets[i]; j < rows.offsets[i + 1]; ++j) {
            for (std::int64_t w = 0; w < n_words; ++w) {
                seen[rows.features[j] * n_words + w] |= token[w];
            }
        }
    }
    pair_offsets.assign(1, 0);
    pair_outputs.clear();
    for (std::int64_t f = 0; f < n_features; ++f) {
        for (int y = 0; y < n_labels; ++y) {
            if (seen[f * n_words + y / 64] >> (y % 64) & 1) pair_outputs.push_back(y);
        }
        pair_offsets.push_back(static_cast<std::int64_t>(pair_outputs.size()));
    }
}

}  // namespace trelliswork
