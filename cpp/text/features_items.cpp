#include "text/features_items.hpp"

#include <stdexcept>

namespace trelliswork {

std::uint32_t key_size(std::string_view name) {
    const auto separator = name.find_last_of(":=");
    return static_cast<std::uint32_t>(separator == name.npos ? name.size() : separator);
}

ItemIndex::ItemIndex(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets) {
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    if (offsets.empty() || offsets.front() != 0 ||
        offsets.back() != static_cast<std::int64_t>(bytes.size())) {
        throw std::invalid_argument("the offsets of the feature names do not cover their bytes");
    }
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        if (offsets[i] > offsets[i + 1] || offsets[i + 1] > offsets.back()) {
            throw std::invalid_argument("the offsets of the feature names go back");
        }
        names_.insert({text + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])});
        if (names_.size() != i + 1) throw std::invalid_argument("a feature name occurs twice");
        key_sizes_.push_back(key_size(names_[names_.size()]));
    }
}

std::pair<ItemIndex, WeightedRows> ItemIndex::fit(const ItemBatch& batch, std::int64_t min_count) {
    ItemIndex all;
    std::vector<std::int64_t> counts;  // (distinct items,)
    for (std::size_t i = 0; i + 1 < batch.names.offsets.size(); ++i) {
        const auto id = all.names_.insert(batch.names[i]);
        if (id > counts.size()) {
            counts.push_back(0);
            all.key_sizes_.push_back(batch.key_sizes[i]);
        }
        ++counts[id - 1];
    }
    std::vector<std::uint8_t> keep(counts.size());
    for (std::size_t f = 0; f < counts.size(); ++f) keep[f] = counts[f] >= min_count;
    ItemIndex index = min_count > 1 ? all.select(keep) : std::move(all);
    WeightedRows rows = index.transform(batch);
    return {std::move(index), std::move(rows)};
}

WeightedRows ItemIndex::transform(const ItemBatch& batch) const {
    WeightedRows out;
    const std::size_t n_items = batch.names.offsets.size() - 1;
    out.rows.indices.reserve_more(n_items);
    out.rows.ends.reserve_more(batch.ends.size());
    if (batch.weighted) out.weights.reserve_more(n_items);
    std::size_t kept = 0;
    std::size_t item = 0;
    for (std::size_t token = 0; token < batch.ends.size(); ++token) {
        for (; item < static_cast<std::size_t>(batch.ends[token]); ++item) {
            const auto id = names_.find(batch.names[item]);
            if (id == 0) continue;
            out.rows.indices.data()[kept] = static_cast<std::int32_t>(id - 1);
            if (batch.weighted) out.weights.data()[kept] = batch.weights[item];
            ++kept;
        }
        out.rows.ends.data()[token] = static_cast<std::int64_t>(kept);
    }
    out.rows.indices.set_size(kept);
    out.rows.ends.set_size(batch.ends.size());
    if (batch.weighted) out.weights.set_size(kept);
    return out;
}

ItemIndex ItemIndex::select(std::span<const std::uint8_t> keep) const {
    if (keep.size() != names_.size()) {
        throw std::invalid_argument("expected one entry to keep or drop for every feature");
    }
    ItemIndex out;
    for (std::uint32_t id = 1; id <= names_.size(); ++id) {
        if (!keep[id - 1]) continue;
        out.names_.insert(names_[id]);
        out.key_sizes_.push_back(key_sizes_[id - 1]);
    }
    return out;
}

std::pair<StringPool, std::vector<std::int32_t>> ItemIndex::feature_keys() const {
    std::pair<StringPool, std::vector<std::int32_t>> out;
    for (std::uint32_t id = 1; id <= names_.size(); ++id) {
        const auto key = out.first.insert(names_[id].substr(0, key_sizes_[id - 1]));
        out.second.push_back(static_cast<std::int32_t>(key - 1));
    }
    return out;
}

}  // namespace trelliswork
