// Features given by the user: every token has a list of named, weighted items, as in the feature
// dicts of sklearn-crfsuite. A name is a feature.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/vocabulary.hpp"
#include "text/features.hpp"

namespace trelliswork {

struct ItemBatch {
    std::vector<std::int64_t> sequences{0};  // (B + 1,) bounds of the sequences in tokens
    std::vector<std::int64_t> ends;          // (N,) where the items of each token end
    TokenColumn names;                       // (items,)
    std::vector<std::uint32_t> key_sizes;    // (items,) bytes of the key that a name begins with
    std::vector<double> weights;             // (items,)
    bool weighted = false;                   // some weight is not 1
};

struct WeightedRows {
    FeatureRows rows;
    GrowingBuffer<double> weights;  // (nnz,), or empty when all are 1
};

// The default key of a name: the part before the last ':' or '=', or all.
std::uint32_t key_size(std::string_view name);

class ItemIndex {
  public:
    ItemIndex() = default;
    // Throws std::invalid_argument unless the arrays hold distinct texts.
    ItemIndex(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets);

    // Learns the items that occur in at least min_count places, numbered by first occurrence.
    static std::pair<ItemIndex, WeightedRows> fit(const ItemBatch& batch, std::int64_t min_count);
    WeightedRows transform(const ItemBatch& batch) const;
    ItemIndex select(std::span<const std::uint8_t> keep) const;
    const StringPool& names() const { return names_; }  // feature id + 1
    // The keys that names begin with, and which one each name has: (n_features,).
    std::pair<StringPool, std::vector<std::int32_t>> feature_keys() const;

  private:
    StringPool names_;
    std::vector<std::uint32_t> key_sizes_;  // (n_features,); where a name has several, the first's
};

}  // namespace trelliswork
