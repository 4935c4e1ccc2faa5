// Features of whole segments: words, shape, ends, membership in lexicons.
//
// A feature is a known sequence of words (of lower-cased tokens, of short shapes). Known sequences
// form a trie that is read backwards: a walk from the last token of a segment towards its first
// ends at the first word that continues no known sequence. So all segments of a text are looked up
// in about as many steps as there are tokens, for any longest segment, and the features come out by
// last token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unicode.hpp"
#include "base/vocabulary.hpp"
#include "text/features.hpp"

namespace trelliswork {

enum class SegmentSource : std::uint8_t { text, shape, ends, lexicon };

struct SegmentRule {
    SegmentSource source = SegmentSource::text;
    std::uint32_t column = 0;
    std::uint32_t lexicon = 0;  // which, where the source is one
    std::string name;           // a feature is called name=words, that of a lexicon just name
};

// Sequences of words from the last to the first. Node 0 is the root.
struct PhraseTrie {
    std::uint32_t step(std::uint32_t node, std::uint32_t word) const {
        return word == 0 ? 0 : steps.find(PairTable::key(node + 1, word));
    }
    // The node of the step, made where there is none.
    std::uint32_t add_step(std::uint32_t node, std::uint32_t word);

    StringPool words;
    PairTable steps;                                  // (node + 1, word) → node
    std::vector<std::uint32_t> features{no_feature};  // (nodes + 1,)
};

struct SegmentLexicon {
    SegmentLexicon(const std::vector<std::vector<std::string>>& phrases, bool ignore_case,
                   const UnicodeTable& unicode);
    // A token as a word of phrases.
    std::string word(std::u32string_view token, const UnicodeTable& unicode) const;

    bool ignore_case;
    PhraseTrie trie;  // its features are 0 where a phrase is complete
};

struct SegmentProgram {
    SegmentProgram(std::uint32_t n_columns, std::vector<SegmentRule> rules,
                   std::vector<SegmentLexicon> lexicons,
                   std::shared_ptr<const UnicodeTable> unicode);

    // A token as the word that the trie of a rule has: lower-cased, its short shape, or itself.
    std::string word(const SegmentRule& rule, std::u32string_view token) const;

    std::uint32_t n_columns;
    std::vector<SegmentRule> rules;  // (R,)
    std::vector<SegmentLexicon> lexicons;
    std::shared_ptr<const UnicodeTable> unicode;
};

// Rows by last token.
struct SegmentRows {
    std::vector<std::int64_t> ends;       // (N,) where each row ends
    std::vector<std::int32_t> durations;  // (nnz,) rising in a row
    std::vector<std::int32_t> indices;    // (nnz,)
};

// Gold segments: tokens starts[i] … ends[i] − 1.
struct SegmentBounds {
    std::span<const std::int64_t> starts;  // (M,)
    std::span<const std::int64_t> ends;    // (M,)
};

// A SegmentIndex as flat arrays, for storage; the tries of lexicons are not stored.
struct SegmentArrays {
    std::vector<std::uint8_t> word_bytes;     // UTF-8 of all words, rule by rule
    std::vector<std::int64_t> word_offsets;   // (words + 1,)
    std::vector<std::int64_t> word_counts;    // (R,)
    std::vector<std::uint64_t> step_keys;     // (steps,) (node + 1) << 32 | word, by rule
    std::vector<std::int64_t> step_counts;    // (R,)
    std::vector<std::int32_t> node_features;  // (steps,) −1 for none
    std::vector<std::int32_t> rule_features;  // (R,) the feature of a lexicon, −1 for none
};

class SegmentIndex {
  public:
    explicit SegmentIndex(std::shared_ptr<const SegmentProgram> program);
    // Throws std::invalid_argument unless the arrays describe an index of this program.
    SegmentIndex(std::shared_ptr<const SegmentProgram> program, const SegmentArrays& arrays);

    // Learns the features that at least min_count of the gold segments have, numbered by first
    // occurrence; the features of lexicons come first and are always there.
    static SegmentIndex fit(std::shared_ptr<const SegmentProgram> program, const TokenBatch& batch,
                            const SegmentBounds& gold, std::int64_t max_duration,
                            std::int64_t min_count);
    // The known features of every segment of at most max_duration tokens. Reads only: safe from
    // many threads.
    SegmentRows transform(const TokenBatch& batch, std::int64_t max_duration, int n_workers) const;
    // The index of the kept features, renumbered in order, without unused parts.
    SegmentIndex select(std::span<const std::uint8_t> keep) const;
    // The same for a program of some of the rules: its rule i is ours at origins[i], and every kept
    // feature belongs to one of them.
    SegmentIndex select(std::span<const std::uint8_t> keep,
                        std::shared_ptr<const SegmentProgram> smaller,
                        std::span<const std::int64_t> origins) const;

    SegmentArrays arrays() const;
    // Readable names in id order.
    FeatureNames names() const;
    std::vector<std::int32_t> feature_rules() const;  // (n_features,) the rule of every feature
    const SegmentProgram& program() const { return *program_; }
    std::uint32_t n_features() const { return n_features_; }

  private:
    // Where a feature comes from.
    struct Owner {
        std::size_t rule = 0;
        std::uint32_t node = 0;  // 0 where the feature is the rule's
    };

    std::vector<Owner> owners() const;
    SegmentRows look_up(const TokenBatch& batch, std::size_t first_sequence,
                        std::size_t last_sequence, std::int64_t max_duration) const;
    bool is_lexicon(std::size_t rule) const {
        return program_->rules[rule].source == SegmentSource::lexicon;
    }
    const PhraseTrie& trie(std::size_t rule) const {
        return is_lexicon(rule) ? program_->lexicons[program_->rules[rule].lexicon].trie
                                : tries_[rule];
    }

    std::shared_ptr<const SegmentProgram> program_;
    std::vector<PhraseTrie> tries_;             // (R,) empty for lexicons
    std::vector<std::uint32_t> rule_features_;  // (R,) of lexicons, no_feature elsewhere
    std::uint32_t n_features_ = 0;
};

}  // namespace trelliswork
