// A FeatureIndex as flat arrays and back.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/require.hpp"
#include "text/features.hpp"

namespace trelliswork {

FeatureArrays FeatureIndex::arrays() const {
    FeatureArrays out;
    out.value_offsets.push_back(0);
    for (const StringPool& pool : values_) {
        const auto base = static_cast<std::int64_t>(out.value_bytes.size());
        out.value_bytes.insert(out.value_bytes.end(), pool.bytes().begin(), pool.bytes().end());
        for (const auto end : pool.offsets().subspan(1)) out.value_offsets.push_back(base + end);
        out.value_counts.push_back(pool.size());
    }
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        const auto keys = ngrams_[k].keys();
        out.ngram_keys.insert(out.ngram_keys.end(), keys.begin(), keys.end());
        out.ngram_counts.push_back(ngrams_[k].size());
        for (const auto feature : rows_[k]) {
            out.rows.push_back(static_cast<std::int32_t>(feature));
        }
    }
    out.n_state = n_state_;
    out.n_edge = n_edge_;
    return out;
}

FeatureIndex::FeatureIndex(std::shared_ptr<const FeatureProgram> program,
                           const FeatureArrays& arrays)
    : FeatureIndex(std::move(program)) {
    // Every feature has a cell of its own, so the cells bound the demands of a corrupt number.
    const auto most = std::min<std::int64_t>(static_cast<std::int64_t>(arrays.rows.size()),
                                             std::numeric_limits<std::int32_t>::max());
    require(arrays.n_state >= 0 && arrays.n_state <= most && arrays.n_edge >= 0 &&
                arrays.n_edge <= most,
            "the number of features is out of range");
    n_state_ = static_cast<std::uint32_t>(arrays.n_state);
    n_edge_ = static_cast<std::uint32_t>(arrays.n_edge);

    require(arrays.value_counts.size() == values_.size(), "wrong number of attributes");
    require(!arrays.value_offsets.empty() && arrays.value_offsets.front() == 0 &&
                arrays.value_offsets.back() == static_cast<std::int64_t>(arrays.value_bytes.size()),
            "the value offsets do not cover the value bytes");
    const auto* const text = reinterpret_cast<const char*>(arrays.value_bytes.data());
    std::size_t value = 0;
    for (std::size_t a = 0; a < values_.size(); ++a) {
        const auto count = arrays.value_counts[a];
        const auto left = static_cast<std::int64_t>(arrays.value_offsets.size() - 1 - value);
        require(count >= 0 && count <= left, "more values are announced than stored");
        for (std::int64_t i = 0; i < count; ++i, ++value) {
            const auto begin = arrays.value_offsets[value];
            const auto end = arrays.value_offsets[value + 1];
            require(begin <= end && end <= arrays.value_offsets.back(), "value offsets go back");
            values_[a].insert({text + begin, static_cast<std::size_t>(end - begin)});
            require(values_[a].size() == static_cast<std::uint64_t>(i) + 1, "a value occurs twice");
        }
    }
    require(value + 1 == arrays.value_offsets.size(), "more values are stored than announced");

    require(arrays.ngram_counts.size() == rows_.size(), "wrong number of kinds of n-grams");
    std::size_t ngram = 0;
    std::size_t cell = 0;
    std::vector<std::uint8_t> seen[2] = {std::vector<std::uint8_t>(n_state_),
                                         std::vector<std::uint8_t>(n_edge_)};
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        const NgramKind& kind = program_->kinds[k];
        const auto count = arrays.ngram_counts[k];
        const auto left = static_cast<std::int64_t>(arrays.ngram_keys.size() - ngram);
        require(count >= 0 && count <= left, "more n-grams are announced than stored");
        require(kind.prefix >= 0 || count == 0, "single values need no n-grams");
        const auto n_values = program_->n_pads(kind.attribute) + values_[kind.attribute].size();
        for (std::int64_t i = 0; i < count; ++i, ++ngram) {
            const std::uint64_t key = arrays.ngram_keys[ngram];
            const bool has_prefix =
                PairTable::prefix_of(key) > 0 &&
                PairTable::prefix_of(key) < n_rows(static_cast<std::size_t>(kind.prefix));
            require(
                has_prefix && PairTable::value_of(key) > 0 && PairTable::value_of(key) <= n_values,
                "an n-gram refers to a value or a prefix that is not stored");
            ngrams_[k].insert(key);
            require(ngrams_[k].size() == static_cast<std::uint64_t>(i) + 1,
                    "an n-gram occurs twice");
        }
        const auto is_edge = program_->edge_columns(k);
        rows_[k].assign(n_rows(k) * kind.n_columns, no_feature);
        require(rows_[k].size() <= arrays.rows.size() - cell, "rows of feature ids are missing");
        for (std::size_t i = 0; i < rows_[k].size(); ++i, ++cell) {
            const std::int32_t feature = arrays.rows[cell];
            if (feature == -1) continue;
            auto& taken = seen[is_edge[i % kind.n_columns]];
            require(feature >= 0 && static_cast<std::size_t>(feature) < taken.size() &&
                        i >= kind.n_columns && !taken[static_cast<std::size_t>(feature)],
                    "a feature id is out of range, given twice, or given to unknown values");
            taken[static_cast<std::size_t>(feature)] = 1;
            rows_[k][i] = static_cast<std::uint32_t>(feature);
        }
    }
    require(ngram == arrays.ngram_keys.size(), "more n-grams are stored than announced");
    require(cell == arrays.rows.size(), "more rows of feature ids are stored than announced");
    for (const auto& taken : seen) {
        for (const auto given : taken) require(given != 0, "a feature id belongs to no n-gram");
    }
    start_memos();
}

}  // namespace trelliswork
