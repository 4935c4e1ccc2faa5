// One pass of a FeatureIndex over a range of sequences, for fit (learn) and transform alike:
// distinct texts → value ids → n-gram ids → feature ids, a block of tokens at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "features.hpp"

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
        : index_(index), program_(*index.program_), batch_(batch), begin_(begin), end_(end) {
        first_token_ = static_cast<std::size_t>(batch.sequences[begin]);
        distinct_.resize(program_.n_columns);
        for (std::uint32_t c = 0; c < program_.n_columns; ++c) find_distinct(c);
        tables_.resize(program_.attributes.size());
        marks_.resize(program_.attributes.size());
        for (std::uint32_t a = 0; a < program_.attributes.size(); ++a) tabulate_marks(a);
        for (std::uint32_t c = 0; c < program_.n_columns; ++c) tabulate_texts(c);
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
    struct Distinct {
        StringPool strings;
        std::vector<std::uint32_t> ids;  // (tokens of the range,) ids in strings
    };

    auto& n_state() { return index_.n_state_; }
    auto& n_edge() { return index_.n_edge_; }

    std::uint32_t value_id(std::uint32_t attribute, std::string_view text) {
        std::uint32_t id;
        if constexpr (learn) {
            id = index_.values_[attribute].insert(text);
        } else {
            id = index_.values_[attribute].find(text);
        }
        return id == 0 ? 0 : id + program_.n_pads(attribute);
    }

    // Everything that depends on the text of a token alone is computed once for each distinct text.
    void find_distinct(std::uint32_t column) {
        const TokenColumn& tokens = batch_.columns[column];
        Distinct& distinct = distinct_[column];
        const auto stop = static_cast<std::size_t>(batch_.sequences[end_]);
        distinct.ids.reserve(stop - first_token_);
        for (std::size_t t = first_token_; t < stop; ++t) {
            distinct.ids.push_back(distinct.strings.insert(tokens[t]));
        }
    }

    // The ids of the few values that do not depend on a text.
    void tabulate_marks(std::uint32_t a) {
        const Attribute& attribute = program_.attributes[a];
        auto& table = tables_[a];
        if (attribute.source == Source::position) {
            for (std::uint32_t bin = 0; bin < attribute.argument; ++bin) {
                table.push_back(value_id(a, std::to_string(bin)));
            }
        } else if (attribute.source == Source::lexicon) {
            table.push_back(0);
            marks_[a] = {value_id(a, "B"), value_id(a, "I")};
        } else if (attribute.source != Source::column) {
            table.push_back(value_id(a, ""));
            marks_[a] = {table[0], 0};
        }
    }

    // tables_[a][distinct id] for the attributes of a column: what text_entry says.
    void tabulate_texts(std::uint32_t column) {
        const StringPool& strings = distinct_[column].strings;
        const auto& attributes = program_.text_attributes[column];
        const auto identity = program_.identity[column];
        for (const auto a : attributes) tables_[a].assign(strings.size() + 1u, 0);
        const bool is_identity_only = identity >= 0 && attributes.size() == 1;
        if (is_identity_only) {
            const auto a = static_cast<std::uint32_t>(identity);
            for (std::uint32_t id = 1; id <= strings.size(); ++id) {
                tables_[a][id] = value_id(a, strings[id]);
            }
            return;
        }
        std::vector<std::uint32_t> row(attributes.size());
        std::u32string text;
        for (std::uint32_t id = 1; id <= strings.size(); ++id) {
            std::uint32_t known = 0;
            if constexpr (!learn) {
                if (identity >= 0) {
                    known = index_.values_[static_cast<std::size_t>(identity)].find(strings[id]);
                }
            }
            if (learn || !index_.memos_[column].recall(known, row)) {
                text.clear();
                decode_utf8(strings[id], text);
                for (std::size_t i = 0; i < row.size(); ++i) {
                    row[i] = text_entry(attributes[i], strings[id], text);
                }
                if (!learn) index_.memos_[column].remember(known, row);
            }
            for (std::size_t i = 0; i < row.size(); ++i) tables_[attributes[i]][id] = row[i];
        }
    }

    // The value id; for lexicons the word id; for segment starts bit 0 "a segment ends here" and
    // bit 1 "a segment starts here".
    std::uint32_t text_entry(std::uint32_t a, std::string_view bytes, std::u32string_view text) {
        const Attribute& attribute = program_.attributes[a];
        if (attribute.source == Source::lexicon) {
            return program_.lexicons[attribute.argument].word(text, program_.unicode.get());
        }
        if (attribute.source == Source::segment_start) {
            return (program_.patterns[attribute.argument].matches_all(text) ? 1u : 0u) |
                   (program_.patterns[attribute.second].matches_all(text) ? 2u : 0u);
        }
        if (attribute.operations.empty()) return value_id(a, bytes);
        const auto value = program_.value(attribute, text);
        return value ? value_id(a, *value) : 0;
    }

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
        const std::size_t n_arrays = program_.attributes.size() + program_.kinds.size();
        // A margin keeps pointers shifted by an offset inside the allocation.
        arena_.resize(std::max(arena_.size(), n_arrays * n_positions_ + 4 * reach));
    }

    // (positions,) value ids of attribute a
    std::uint32_t* values(std::uint32_t a) { return array(a); }
    // (positions,) n-gram ids of kind k; the values themselves where n = 1
    std::uint32_t* ngrams(std::uint32_t k) {
        if (program_.kinds[k].prefix < 0) return values(program_.kinds[k].attribute);
        return array(program_.attributes.size() + k);
    }
    std::uint32_t* array(std::size_t i) {
        return arena_.data() + 2 * static_cast<std::size_t>(program_.reach) + i * n_positions_;
    }

    void fill_values(std::uint32_t a) {
        const Attribute& attribute = program_.attributes[a];
        const auto& table = tables_[a];
        const auto reach = static_cast<std::uint32_t>(program_.reach);
        for (const Place& place : places_) {
            std::uint32_t* const out = values(a) + place.position;
            for (std::uint32_t d = 1; d <= reach; ++d) {
                *(out - d) = attribute.padded ? d : 0;
                out[place.length + d - 1] = attribute.padded ? reach + d : 0;
            }
            fill_sequence(attribute, a, table, place, out);
        }
    }

    // out: (length,) values of one sequence
    void fill_sequence(const Attribute& attribute, std::uint32_t a,
                       const std::vector<std::uint32_t>& table, const Place& place,
                       std::uint32_t* out) {
        const std::size_t length = place.length;
        const auto* const ids =
            attribute.column < distinct_.size()
                ? distinct_[attribute.column].ids.data() + place.token - first_token_
                : nullptr;
        switch (attribute.source) {
            case Source::column:
                for (std::size_t t = 0; t < length; ++t) out[t] = table[ids[t]];
                break;
            case Source::bias:
                std::fill_n(out, length, table[0]);
                break;
            case Source::first:
            case Source::last:
                std::fill_n(out, length, 0);
                out[attribute.source == Source::first ? 0 : length - 1] = table[0];
                break;
            case Source::position:
                for (std::size_t t = 0; t < length; ++t) {
                    out[t] = table[t * attribute.argument / length];
                }
                break;
            case Source::segment_start: {
                const std::uint32_t start = marks_[a].first;
                for (std::size_t t = 0; t < length; ++t) {
                    const bool ends_before = t == 0 || (table[ids[t - 1]] & 1u) != 0;
                    // A run of closing marks belongs to the segment that it closes.
                    const bool opens = ends_before && (t == 0 || (table[ids[t]] & 1u) == 0);
                    out[t] = opens || (table[ids[t]] & 2u) != 0 ? start : 0;
                }
                break;
            }
            case Source::lexicon: {
                const auto [begin_mark, inside_mark] = marks_[a];
                words_.resize(length);
                for (std::size_t t = 0; t < length; ++t) words_[t] = table[ids[t]];
                const auto& lexicon = program_.lexicons[attribute.argument];
                for (std::size_t t = 0; t < length;) {
                    const auto n = lexicon.longest(std::span(words_).subspan(t));
                    if (n == 0) out[t++] = 0;
                    for (std::size_t i = 0; i < n; ++i)
                        out[t++] = i == 0 ? begin_mark : inside_mark;
                }
                break;
            }
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
    std::size_t first_token_ = 0;
    std::vector<Distinct> distinct_;                              // (columns,)
    std::vector<std::vector<std::uint32_t>> tables_;              // (A,)
    std::vector<std::pair<std::uint32_t, std::uint32_t>> marks_;  // (A,) ids of "" or "B" and "I"
    std::vector<Place> places_;
    std::size_t n_positions_ = 0;
    std::vector<std::uint32_t> arena_;  // (A + K, positions)
    std::vector<std::uint32_t> words_;
};

}  // namespace trelliswork
