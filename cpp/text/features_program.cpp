#include "text/features_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "base/require.hpp"
#include "text/features_text.hpp"

namespace trelliswork {

namespace {

constexpr std::int32_t largest_reach = 1000;

bool reads_text(Source source) {
    return source == Source::column || source == Source::lexicon || source == Source::segment_start;
}

}  // namespace

Lexicon::Lexicon(const std::vector<std::vector<std::string>>& phrases, bool ignore_case,
                 const UnicodeTable* unicode)
    : ignore_case_(ignore_case), is_phrase_(1, 0) {
    for (const auto& phrase : phrases) {
        std::uint32_t node = 0;
        for (const auto& token : phrase) {
            std::u32string text;
            decode_utf8(token, text);
            const auto id = words_.insert(folded(text, unicode));
            node = steps_.insert(PairTable::key(node + 1, id));
            is_phrase_.resize(std::max<std::size_t>(is_phrase_.size(), node + 1u), 0);
        }
        if (node != 0) is_phrase_[node] = 1;
    }
}

std::string Lexicon::folded(std::u32string_view token, const UnicodeTable* unicode) const {
    std::string out;
    encode_utf8(ignore_case_ ? lower_case(token, *unicode) : std::u32string(token), out);
    return out;
}

std::uint32_t Lexicon::word(std::u32string_view token, const UnicodeTable* unicode) const {
    return words_.find(folded(token, unicode));
}

std::size_t Lexicon::longest(std::span<const std::uint32_t> words) const {
    std::size_t best = 0;
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < words.size() && words[i] != 0; ++i) {
        node = steps_.find(PairTable::key(node + 1, words[i]));
        if (node == 0) break;
        if (is_phrase_[node]) best = i + 1;
    }
    return best;
}

FeatureProgram::FeatureProgram(std::uint32_t n_columns_, std::vector<Attribute> attributes_,
                               std::vector<Template> templates_, std::vector<Regex> patterns_,
                               std::vector<Lexicon> lexicons_,
                               std::shared_ptr<const UnicodeTable> unicode_)
    : n_columns(n_columns_),
      attributes(std::move(attributes_)),
      templates(std::move(templates_)),
      patterns(std::move(patterns_)),
      lexicons(std::move(lexicons_)),
      unicode(std::move(unicode_)) {
    check();
    group_by_column();
    for (std::uint32_t i = 0; i < templates.size(); ++i) add_template(i);
    // An n-gram is read wherever a longer one that extends it is.
    for (std::size_t k = kinds.size(); k-- > 0;) {
        if (kinds[k].prefix < 0) continue;
        auto& prefix = kinds[static_cast<std::size_t>(kinds[k].prefix)];
        prefix.low = std::min(prefix.low, kinds[k].low);
        prefix.high = std::max(prefix.high, kinds[k].high);
    }
}

void FeatureProgram::check() const {
    for (const auto& attribute : attributes) {
        require(attribute.column < n_columns || !reads_text(attribute.source),
                "an attribute reads a column that does not exist");
        require(attribute.source != Source::lexicon || attribute.argument < lexicons.size(),
                "an attribute names a lexicon that does not exist");
        require(attribute.source != Source::position || attribute.argument > 0,
                "position needs at least one bin");
        require(attribute.source != Source::segment_start ||
                    std::max(attribute.argument, attribute.second) < patterns.size(),
                "an attribute names a pattern that does not exist");
        require(unicode || (attribute.operations.empty() && attribute.source != Source::lexicon),
                "this attribute needs the table of characters");
        for (const auto& step : attribute.operations) {
            require(step.operation < Operation::match || step.argument < patterns.size(),
                    "an operation names a pattern that does not exist");
        }
    }
    for (const auto& feature : templates) {
        require(!feature.terms.empty(), "a template has no terms");
        require(feature.literals.size() == feature.terms.size() + 1,
                "a template needs one literal more than terms");
        for (const auto& term : feature.terms) {
            require(term.attribute < attributes.size(), "a term names an unknown attribute");
            require(std::abs(term.offset) <= largest_reach, "an offset is out of range");
        }
    }
}

std::uint32_t FeatureProgram::find_or_add_kind(std::int32_t prefix, const Term& term,
                                               std::int32_t distance) {
    for (std::uint32_t k = 0; k < kinds.size(); ++k) {
        if (kinds[k].prefix == prefix && kinds[k].attribute == term.attribute &&
            kinds[k].distance == distance) {
            return k;
        }
    }
    // An empty range of shifts, so that the first template sets both ends.
    kinds.push_back({prefix, term.attribute, distance, 0, largest_reach, -largest_reach});
    return static_cast<std::uint32_t>(kinds.size() - 1);
}

void FeatureProgram::add_template(std::uint32_t index) {
    const Template& feature = templates[index];
    const std::int32_t shift = feature.terms[0].offset;
    std::int32_t prefix = -1;
    for (const auto& term : feature.terms) {
        prefix = static_cast<std::int32_t>(find_or_add_kind(prefix, term, term.offset - shift));
        reach = std::max(reach, std::abs(term.offset));
    }
    const auto kind = static_cast<std::uint32_t>(prefix);
    kinds[kind].low = std::min(kinds[kind].low, shift);
    kinds[kind].high = std::max(kinds[kind].high, shift);
    auto& emissions = feature.edge ? edge : state;
    auto& sources = feature.edge ? edge_template : state_template;
    for (std::size_t i = 0; i < emissions.size(); ++i) {
        if (emissions[i].kind == kind && templates[sources[i]].group == feature.group) {
            emissions.push_back({kind, emissions[i].column, shift});
            sources.push_back(index);
            return;
        }
    }
    emissions.push_back({kind, kinds[kind].n_columns++, shift});
    sources.push_back(index);
}

void FeatureProgram::group_by_column() {
    text_attributes.resize(n_columns);
    identity.assign(n_columns, -1);
    for (std::uint32_t a = 0; a < attributes.size(); ++a) {
        const Attribute& attribute = attributes[a];
        if (!reads_text(attribute.source)) continue;
        text_attributes[attribute.column].push_back(a);
        if (attribute.source == Source::column && attribute.operations.empty()) {
            identity[attribute.column] = a;
        }
    }
}

std::vector<std::uint8_t> FeatureProgram::edge_columns(std::size_t kind) const {
    std::vector<std::uint8_t> out(kinds[kind].n_columns);
    for (const Emission& emission : edge) {
        if (emission.kind == kind) out[emission.column] = 1;
    }
    return out;
}

std::optional<std::string> FeatureProgram::value(const Attribute& attribute,
                                                 std::u32string_view token) const {
    std::u32string text(token);
    for (const auto& step : attribute.operations) {
        switch (step.operation) {
            case Operation::lower:
                text = lower_case(text, *unicode);
                break;
            case Operation::prefix:
                if (text.size() < step.argument) return std::nullopt;
                text.resize(step.argument);
                break;
            case Operation::suffix:
                if (text.size() < step.argument) return std::nullopt;
                text.erase(0, text.size() - step.argument);
                break;
            case Operation::shape:
                text = shape(text, *unicode);
                break;
            case Operation::short_shape:
                text = short_shape(text, *unicode);
                break;
            case Operation::match:
                if (!patterns[step.argument].matches_all(text)) return std::nullopt;
                text.clear();
                break;
            case Operation::search:
                if (!patterns[step.argument].occurs_in(text)) return std::nullopt;
                text.clear();
                break;
            case Operation::test:
                text = patterns[step.argument].occurs_in(text) ? U"true" : U"false";
                break;
            case Operation::extract: {
                const auto found = patterns[step.argument].find(text);
                text = found ? text.substr(found->begin, found->end - found->begin) : U"";
                break;
            }
        }
    }
    std::string out;
    encode_utf8(text, out);
    return out;
}

}  // namespace trelliswork
