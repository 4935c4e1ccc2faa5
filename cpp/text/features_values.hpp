// From tokens to the value ids of their attributes. An attribute of the text of a token alone
// is computed once for each distinct text, not once for each place that reads it.
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

#include "text/features.hpp"

namespace trelliswork {

// The attributes of the tokens in a range of sequences. learn: new values are added to the index.
template <bool learn>
class TokenValues {
  public:
    using Index = std::conditional_t<learn, FeatureIndex, const FeatureIndex>;

    TokenValues(Index& index, const TokenBatch& batch, std::size_t begin, std::size_t end)
        : index_(index),
          program_(*index.program_),
          first_token_(static_cast<std::size_t>(batch.sequences[begin])),
          distinct_(program_.n_columns),
          tables_(program_.attributes.size()),
          marks_(program_.attributes.size()) {
        const auto stop = static_cast<std::size_t>(batch.sequences[end]);
        for (std::uint32_t c = 0; c < program_.n_columns; ++c) {
            find_distinct(c, batch.columns[c], stop);
        }
        for (std::uint32_t a = 0; a < program_.attributes.size(); ++a) tabulate_marks(a);
        for (std::uint32_t c = 0; c < program_.n_columns; ++c) tabulate_texts(c);
    }

    // The value ids of attribute a in the sequence that starts at `token`; out: (length,)
    void fill(std::uint32_t a, std::size_t token, std::size_t length, std::uint32_t* out) {
        const Attribute& attribute = program_.attributes[a];
        const auto& table = tables_[a];
        const auto* const ids = attribute.column < distinct_.size()
                                    ? distinct_[attribute.column].ids.data() + token - first_token_
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
                    for (std::size_t i = 0; i < n; ++i) {
                        out[t++] = i == 0 ? begin_mark : inside_mark;
                    }
                }
                break;
            }
        }
    }

  private:
    struct Distinct {
        StringPool strings;
        std::vector<std::uint32_t> ids;  // (tokens of the range,) ids in strings
    };

    std::uint32_t value_id(std::uint32_t attribute, std::string_view text) {
        std::uint32_t id;
        if constexpr (learn) {
            id = index_.values_[attribute].insert(text);
        } else {
            id = index_.values_[attribute].find(text);
        }
        return id == 0 ? 0 : id + program_.n_pads(attribute);
    }

    void find_distinct(std::uint32_t column, const TokenColumn& tokens, std::size_t stop) {
        Distinct& distinct = distinct_[column];
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

    // tables_[a][distinct id] for the attributes of a column: the result of text_entry.
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

    Index& index_;
    const FeatureProgram& program_;
    std::size_t first_token_;
    std::vector<Distinct> distinct_;                              // (columns,)
    std::vector<std::vector<std::uint32_t>> tables_;              // (A,)
    std::vector<std::pair<std::uint32_t, std::uint32_t>> marks_;  // (A,) ids of "" or "B" and "I"
    std::vector<std::uint32_t> words_;  // (length,) lexicon words of the sequence at hand
};

}  // namespace trelliswork
