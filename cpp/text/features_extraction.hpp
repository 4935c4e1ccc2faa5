// One pass of a FeatureIndex over a range of sequences, for fit (learn) and transform alike:
// value ids → n-gram ids → feature ids, a block of tokens at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "text/features.hpp"
#include "text/features_values.hpp"

namespace trelliswork {

// Tokens handled at a time: all n-gram ids of a block stay in the cache.
inline constexpr std::size_t block_tokens = 1024;
// How far ahead of its use a table entry is asked for.
inline constexpr std::ptrdiff_t look_ahead = 8;

// One pass over a range of sequences. learn: new values, n-grams and features are added.
template <bool learn>
class Extraction {
  public:
    using Index = std::conditional_t<learn, FeatureIndex, const FeatureIndex>;

    Extraction(Index& index, const TokenBatch& batch, std::size_t begin, std::size_t end)
        : index_(index),
          program_(*index.program_),
          batch_(batch),
          begin_(begin),
          end_(end),
          token_values_(index, batch, begin, end) {
        // Single values are read from the arrays of their attributes; longer n-grams get their own.
        n_arrays_ = program_.attributes.size();
        for (const NgramKind& kind : program_.kinds) {
            array_of_kind_.push_back(kind.prefix < 0 ? kind.attribute : n_arrays_++);
        }
    }

    ExtractedFeatures run() {
        ExtractedFeatures out;
        for (std::size_t block = begin_; block < end_;) {
            std::size_t stop = block + 1;
            while (stop < end_ && batch_.sequences[stop + 1] - batch_.sequences[block] <=
                                      static_cast<std::int64_t>(block_tokens)) {
                ++stop;
            }
            lay_out(block, stop);
            for (std::uint32_t a = 0; a < program_.attributes.size(); ++a) fill_values(a);
            for (std::uint32_t k = 0; k < program_.kinds.size(); ++k) find_ngrams(k);
            emit(program_.state, out.state, n_state(), state_counts, false);
            if (!program_.edge.empty()) emit(program_.edge, out.edge, n_edge(), edge_counts, true);
            block = stop;
        }
        return out;
    }

    std::vector<std::int64_t> state_counts;  // learn: (n_state,) occurrences
    std::vector<std::int64_t> edge_counts;   // learn: (n_edge,)

  private:
    // A sequence in the block: where its first token lies in arrays of positions, which leave
    // `reach` places free before and behind every sequence.
    struct Place {
        std::size_t token;     // in the batch
        std::size_t position;  // in the block
        std::size_t length;
    };
    auto& n_state() { return index_.n_state_; }
    auto& n_edge() { return index_.n_edge_; }

    void lay_out(std::size_t block, std::size_t stop) {
        const auto reach = static_cast<std::size_t>(program_.reach);
        places_.clear();
        n_positions_ = 0;
        for (std::size_t s = block; s < stop; ++s) {
            const auto token = static_cast<std::size_t>(batch_.sequences[s]);
            const auto length = static_cast<std::size_t>(batch_.sequences[s + 1]) - token;
            if (length == 0) continue;
            places_.push_back({token, n_positions_ + reach, length});
            n_positions_ += length + 2 * reach;
        }
        // A margin keeps pointers shifted by an offset inside the allocation.
        arena_.resize(std::max(arena_.size(), n_arrays_ * n_positions_ + 4 * reach));
    }

    // (positions,) value ids of attribute a
    std::uint32_t* values(std::uint32_t a) { return array(a); }
    // (positions,) n-gram ids of kind k
    std::uint32_t* ngrams(std::uint32_t k) { return array(array_of_kind_[k]); }
    std::uint32_t* array(std::size_t i) {
        return arena_.data() + 2 * static_cast<std::size_t>(program_.reach) + i * n_positions_;
    }

    void fill_values(std::uint32_t a) {
        const bool padded = program_.attributes[a].padded;
        const auto reach = static_cast<std::uint32_t>(program_.reach);
        for (const Place& place : places_) {
            std::uint32_t* const out = values(a) + place.position;
            for (std::uint32_t d = 1; d <= reach; ++d) {
                *(out - d) = padded ? d : 0;
                out[place.length + d - 1] = padded ? reach + d : 0;
            }
            token_values_.fill(a, place.token, place.length, out);
        }
    }

    // ngram[p] = table(prefix[p], value[p + distance]) at every position that a template reads.
    void find_ngrams(std::uint32_t k) {
        const NgramKind& kind = program_.kinds[k];
        if (kind.prefix < 0) return;
        auto& table = index_.ngrams_[k];
        const std::uint32_t* const prefix = ngrams(static_cast<std::uint32_t>(kind.prefix));
        const std::uint32_t* const value = values(kind.attribute) + kind.distance;
        std::uint32_t* const out = ngrams(k);
        for (const Place& place : places_) {
            const auto first = static_cast<std::ptrdiff_t>(place.position) + kind.low;
            const auto stop =
                static_cast<std::ptrdiff_t>(place.position + place.length) + kind.high;
            const auto ahead = std::min(stop, first + look_ahead);
            for (auto p = first; p < ahead; ++p)
                table.prefetch(PairTable::key(prefix[p], value[p]));
            for (auto p = first; p < stop; ++p) {
                if (p + look_ahead < stop) {
                    table.prefetch(PairTable::key(prefix[p + look_ahead], value[p + look_ahead]));
                }
                const bool known = prefix[p] != 0 && value[p] != 0;
                const auto key = PairTable::key(prefix[p], value[p]);
                if constexpr (learn) {
                    out[p] = known ? table.insert(key) : 0;
                } else {
                    out[p] = known ? table.find(key) : 0;
                }
            }
        }
    }

    // Appends the features of every token: rows[ngram at t + shift][column], where there is one.
    template <class Count>
    void emit(const std::vector<Emission>& emissions, FeatureRows& out, Count& n_features,
              std::vector<std::int64_t>& counts, bool skip_first) {
        using Cell = std::conditional_t<learn, std::uint32_t, const std::uint32_t>;
        struct Lane {
            const std::uint32_t* ngrams;  // shifted, so that [position of t] is the n-gram for t
            Cell* column;                 // of row 0
            std::size_t width;
        };
        std::vector<Lane> lanes;
        for (const Emission& emission : emissions) {
            auto& rows = index_.rows_[emission.kind];
            const std::size_t width = program_.kinds[emission.kind].n_columns;
            if constexpr (learn) rows.resize(index_.n_rows(emission.kind) * width, no_feature);
            lanes.push_back(
                {ngrams(emission.kind) + emission.shift, rows.data() + emission.column, width});
        }
        for (const Place& place : places_) {
            out.indices.reserve_more(place.length * lanes.size());
            out.ends.reserve_more(place.length);
            std::int32_t* indices = out.indices.data() + out.indices.size();
            std::int64_t* ends = out.ends.data() + out.ends.size();
            for (std::size_t t = 0; t < place.length; ++t) {
                const std::size_t p = place.position + t;
                for (const Lane& lane : lanes) {
                    if (skip_first && t == 0) break;
                    Cell& feature = lane.column[lane.ngrams[p] * lane.width];
                    if constexpr (learn) {
                        if (lane.ngrams[p] == 0) continue;
                        if (feature == no_feature) {
                            feature = n_features++;
                            counts.push_back(0);
                        }
                        ++counts[feature];
                    }
                    // Written always, kept only when there is a feature: no branch to mispredict.
                    *indices = static_cast<std::int32_t>(feature);
                    indices += feature != no_feature;
                }
                *ends++ = indices - out.indices.data();
            }
            out.indices.set_size(static_cast<std::size_t>(indices - out.indices.data()));
            out.ends.set_size(out.ends.size() + place.length);
        }
    }

    Index& index_;
    const FeatureProgram& program_;
    const TokenBatch& batch_;
    std::size_t begin_;
    std::size_t end_;
    TokenValues<learn> token_values_;
    std::size_t n_arrays_ = 0;
    std::vector<std::size_t> array_of_kind_;  // (K,)
    std::vector<Place> places_;
    std::size_t n_positions_ = 0;
    std::vector<std::uint32_t> arena_;  // (n_arrays, positions)
};

}  // namespace trelliswork
