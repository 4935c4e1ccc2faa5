// A compiled set of feature templates: the attributes of every token, and the n-grams of these that
// are features. Immutable; a FeatureIndex (features.hpp) adds the vocabulary.
//
// Two templates that differ only by a shift, as word[-1]|word[0] and word[0]|word[1], read the same
// n-grams. Such templates form one *n-gram kind*: its n-grams are looked up once a position, and a
// row of feature ids, one column a template, has the feature of each at every shift.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unicode.hpp"
#include "base/vocabulary.hpp"
#include "text/regex.hpp"

namespace trelliswork {

// The source of a token attribute.
enum class Source : std::uint8_t { column, lexicon, segment_start, position, first, last, bias };

// Steps from one string to the next. match and search give "" or no value at all; test gives "true"
// or "false"; extract gives the matched part.
enum class Operation : std::uint8_t {
    lower,
    prefix,
    suffix,
    shape,
    short_shape,
    match,
    search,
    test,
    extract
};

struct OperationStep {
    Operation operation;
    std::uint32_t argument = 0;  // prefix, suffix: length in code points; the last four: pattern
};

struct Attribute {
    Source source = Source::column;
    std::uint32_t column = 0;
    std::vector<OperationStep> operations;
    std::uint32_t argument = 0;  // lexicon: which; position: bins; segment_start: pattern of ends
    std::uint32_t second = 0;    // segment_start: pattern of starts
    bool padded = false;         // has values of its own outside the sequence
};

struct Term {
    std::uint32_t attribute = 0;
    std::int32_t offset = 0;
};

struct Template {
    std::vector<Term> terms;  // at least one
    bool edge = false;        // a feature of the transition into the token, not of the token
    // Templates with equal group and equal terms up to a shift share their features.
    std::uint32_t group = 0;
    std::vector<std::string> literals;  // (terms + 1,) the texts around the values in a name
};

// Phrases of a lexicon as a trie over interned words.
class Lexicon {
  public:
    Lexicon(const std::vector<std::vector<std::string>>& phrases, bool ignore_case,
            const UnicodeTable* unicode);

    // The id of a token as a word of some phrase, 0 when in none.
    std::uint32_t word(std::u32string_view token, const UnicodeTable* unicode) const;
    // The length of the longest phrase that starts at words[0], 0 when none does.
    std::size_t longest(std::span<const std::uint32_t> words) const;

  private:
    std::string folded(std::u32string_view token, const UnicodeTable* unicode) const;

    bool ignore_case_;
    StringPool words_;
    PairTable steps_;                      // (node + 1, word) → node
    std::vector<std::uint8_t> is_phrase_;  // (nodes + 1,) node 0 is the root
};

struct NgramKind {
    std::int32_t prefix = -1;     // the kind of the n-gram without its last value, −1 for n = 1
    std::uint32_t attribute = 0;  // of the last value
    std::int32_t distance = 0;    // from the first value to the last
    std::uint32_t n_columns = 0;  // feature ids in a row
    std::int32_t low = 0;         // the shifts at which templates read it lie in low … high
    std::int32_t high = 0;
};

// One template ready to run: the feature at t is rows[kind][ngram at t + shift][column].
struct Emission {
    std::uint32_t kind = 0;
    std::uint32_t column = 0;
    std::int32_t shift = 0;
};

class FeatureProgram {
  public:
    FeatureProgram(std::uint32_t n_columns, std::vector<Attribute> attributes,
                   std::vector<Template> templates, std::vector<Regex> patterns,
                   std::vector<Lexicon> lexicons, std::shared_ptr<const UnicodeTable> unicode);

    std::uint32_t n_columns;            // columns of text read
    std::vector<Attribute> attributes;  // (A,)
    std::vector<Template> templates;    // (M,)
    std::vector<NgramKind> kinds;       // (K,) prefixes before their extensions
    std::vector<Emission> state;        // in the order of the templates
    std::vector<Emission> edge;
    std::vector<std::uint32_t> state_template;  // (state,) index into templates
    std::vector<std::uint32_t> edge_template;
    std::int32_t reach = 0;  // the largest |offset|
    // By the text of a column's token alone: the attributes of each column, and the one that is the
    // text itself (−1 when there is none).
    std::vector<std::vector<std::uint32_t>> text_attributes;  // (columns,)
    std::vector<std::int64_t> identity;                       // (columns,)
    std::vector<Regex> patterns;
    std::vector<Lexicon> lexicons;
    std::shared_ptr<const UnicodeTable> unicode;

    // Ids 1 … n_pads(a) are the places outside the sequence: left 1 … reach, then right 1 … reach.
    std::uint32_t n_pads(std::uint32_t attribute) const {
        return attributes[attribute].padded ? 2 * static_cast<std::uint32_t>(reach) : 0;
    }
    // Which of the two numberings each column of a kind belongs to: (n_columns,), 1 for edge.
    std::vector<std::uint8_t> edge_columns(std::size_t kind) const;
    // The value of a column attribute for a token; nothing when it has none.
    std::optional<std::string> value(const Attribute& attribute, std::u32string_view token) const;

  private:
    void check() const;
    void group_by_column();
    void add_template(std::uint32_t index);
    std::uint32_t find_or_add_kind(std::int32_t prefix, const Term& term, std::int32_t distance);
};

}  // namespace trelliswork
