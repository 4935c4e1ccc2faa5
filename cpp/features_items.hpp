// Features that come ready-made: every token has a list of named, weighted items, as in the feature
// dicts of sklearn-crfsuite. A name is a feature.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "features.hpp"
#include "vocabulary.hpp"

namespace trelliswork {

struct ItemBatch {
    std::vector<std::int64_t> sequences{0};  // (B + 1,) bounds of the sequences in tokens
    std::vector<std::int64_t> ends;          // (N,) where the items of each token end
    TokenColumn names;                       // (items,)
    std::vector<double> weights;             // (items,)
    bool weighted = false;                   // some weight is not 1
};

struct WeightedRows {
    FeatureRows rows;
    GrowingBuffer<double> weights;  // (nnz,), or empty when all are 1
};

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

  private:
    StringPool names_;
};

}  // namespace trelliswork
