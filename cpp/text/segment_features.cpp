#include "text/segment_features.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/require.hpp"
#include "base/threads.hpp"
#include "text/features_text.hpp"

namespace trelliswork {

namespace {

std::string as_utf8(std::u32string_view text) {
    std::string out;
    encode_utf8(text, out);
    return out;
}

// words[r][t − first] for the tokens t in first … last − 1: the word id of token t to rule r.
// look_up(rule, word) is asked once for every distinct text.
template <class LookUp>
std::vector<std::vector<std::uint32_t>> words_of_rules(const SegmentProgram& program,
                                                       const TokenBatch& batch, std::size_t first,
                                                       std::size_t last, LookUp&& look_up) {
    std::vector<std::vector<std::uint32_t>> words(program.rules.size());
    std::u32string text;
    for (std::uint32_t column = 0; column < program.n_columns; ++column) {
        StringPool distinct;
        std::vector<std::uint32_t> ids;  // (last − first,)
        for (std::size_t r = 0; r < program.rules.size(); ++r) {
            const SegmentRule& rule = program.rules[r];
            if (rule.column != column) continue;
            if (ids.empty()) {
                ids.reserve(last - first);
                for (std::size_t t = first; t < last; ++t) {
                    ids.push_back(distinct.insert(batch.columns[column][t]));
                }
            }
            std::vector<std::uint32_t> word_of(distinct.size() + 1u);
            for (std::uint32_t id = 1; id <= distinct.size(); ++id) {
                text.clear();
                decode_utf8(distinct[id], text);
                word_of[id] = look_up(r, program.word(rule, text));
            }
            words[r].resize(ids.size());
            for (std::size_t t = 0; t < ids.size(); ++t) words[r][t] = word_of[ids[t]];
        }
    }
    return words;
}

void check_bounds(const TokenBatch& batch, const SegmentBounds& gold, std::int64_t max_duration) {
    require(max_duration >= 1, "expected a longest segment of at least one token");
    require(gold.starts.size() == gold.ends.size(), "expected as many segment starts as ends");
    for (std::size_t i = 0; i < gold.starts.size(); ++i) {
        const auto start = gold.starts[i];
        const auto end = gold.ends[i];
        const auto next = std::upper_bound(batch.sequences.begin(), batch.sequences.end(), start);
        const bool in_a_sequence =
            start >= 0 && start < end && next != batch.sequences.end() && end <= *next;
        if (in_a_sequence && end - start <= max_duration) continue;
        const std::string tokens = std::to_string(start) + ":" + std::to_string(end);
        throw std::invalid_argument(in_a_sequence ? "segment " + std::to_string(i) + ", tokens " +
                                                        tokens + ": longer than " +
                                                        std::to_string(max_duration) + " tokens"
                                                  : "segment " + std::to_string(i) + ": tokens " +
                                                        tokens + " are no part of one sequence");
    }
}

void append(SegmentRows& all, const SegmentRows& part) {
    const auto base = static_cast<std::int64_t>(all.indices.size());
    for (const auto end : part.ends) all.ends.push_back(base + end);
    all.durations.insert(all.durations.end(), part.durations.begin(), part.durations.end());
    all.indices.insert(all.indices.end(), part.indices.begin(), part.indices.end());
}

}  // namespace

std::uint32_t PhraseTrie::add_step(std::uint32_t node, std::uint32_t word) {
    const auto next = steps.insert(PairTable::key(node + 1, word));
    if (next == features.size()) features.push_back(no_feature);
    return next;
}

SegmentLexicon::SegmentLexicon(const std::vector<std::vector<std::string>>& phrases,
                               bool ignore_case_, const UnicodeTable& unicode)
    : ignore_case(ignore_case_) {
    std::u32string text;
    for (const auto& phrase : phrases) {
        std::uint32_t node = 0;
        for (std::size_t i = phrase.size(); i-- > 0;) {
            text.clear();
            decode_utf8(phrase[i], text);
            node = trie.add_step(node, trie.words.insert(word(text, unicode)));
        }
        if (node != 0) trie.features[node] = 0;
    }
}

std::string SegmentLexicon::word(std::u32string_view token, const UnicodeTable& unicode) const {
    return ignore_case ? as_utf8(lower_case(token, unicode)) : as_utf8(token);
}

SegmentProgram::SegmentProgram(std::uint32_t n_columns_, std::vector<SegmentRule> rules_,
                               std::vector<SegmentLexicon> lexicons_,
                               std::shared_ptr<const UnicodeTable> unicode_)
    : n_columns(n_columns_),
      rules(std::move(rules_)),
      lexicons(std::move(lexicons_)),
      unicode(std::move(unicode_)) {
    for (const auto& rule : rules) {
        require(rule.column < n_columns, "a rule of segments reads a column that does not exist");
        require(rule.source != SegmentSource::lexicon || rule.lexicon < lexicons.size(),
                "a rule of segments names a lexicon that does not exist");
    }
    require(unicode != nullptr, "rules of segments need the table of characters");
}

std::string SegmentProgram::word(const SegmentRule& rule, std::u32string_view token) const {
    switch (rule.source) {
        case SegmentSource::shape:
            return as_utf8(short_shape(token, *unicode));
        case SegmentSource::lexicon:
            return lexicons[rule.lexicon].word(token, *unicode);
        default:
            return as_utf8(lower_case(token, *unicode));
    }
}

SegmentIndex::SegmentIndex(std::shared_ptr<const SegmentProgram> program)
    : program_(std::move(program)),
      tries_(program_->rules.size()),
      rule_features_(program_->rules.size(), no_feature) {}

SegmentIndex SegmentIndex::fit(std::shared_ptr<const SegmentProgram> program,
                               const TokenBatch& batch, const SegmentBounds& gold,
                               std::int64_t max_duration, std::int64_t min_count) {
    check_bounds(batch, gold, max_duration);
    SegmentIndex index(std::move(program));
    const auto& rules = index.program_->rules;
    std::vector<std::int64_t> counts;
    for (std::size_t r = 0; r < rules.size(); ++r) {
        if (!index.is_lexicon(r)) continue;
        index.rule_features_[r] = index.n_features_++;
        counts.push_back(std::numeric_limits<std::int64_t>::max());
    }
    const auto words =
        words_of_rules(*index.program_, batch, 0, static_cast<std::size_t>(batch.sequences.back()),
                       [&](std::size_t r, const std::string& word) {
                           return index.is_lexicon(r) ? 0 : index.tries_[r].words.insert(word);
                       });
    for (std::size_t i = 0; i < gold.starts.size(); ++i) {
        const auto start = static_cast<std::size_t>(gold.starts[i]);
        const auto end = static_cast<std::size_t>(gold.ends[i]);
        for (std::size_t r = 0; r < rules.size(); ++r) {
            if (index.is_lexicon(r)) continue;
            PhraseTrie& trie = index.tries_[r];
            std::uint32_t node = 0;
            if (rules[r].source == SegmentSource::ends) {
                node = trie.add_step(trie.add_step(0, words[r][end - 1]), words[r][start]);
            } else {
                for (std::size_t t = end; t-- > start;) node = trie.add_step(node, words[r][t]);
            }
            if (trie.features[node] == no_feature) {
                require(index.n_features_ < std::numeric_limits<std::int32_t>::max(),
                        "more than two billion features of segments");
                trie.features[node] = index.n_features_++;
                counts.push_back(0);
            }
            counts[trie.features[node]] += 1;
        }
    }
    std::vector<std::uint8_t> keep(counts.size());
    for (std::size_t f = 0; f < counts.size(); ++f) keep[f] = counts[f] >= min_count;
    return index.select(keep);
}

SegmentRows SegmentIndex::transform(const TokenBatch& batch, std::int64_t max_duration,
                                    int n_workers) const {
    const std::size_t n_sequences = batch.sequences.size() - 1;
    const auto bounds = split_evenly(batch.sequences.data(), static_cast<std::int64_t>(n_sequences),
                                     std::max(n_workers, 1));
    std::vector<SegmentRows> parts(bounds.size() - 1);
    run_workers(static_cast<int>(parts.size()), [&](int worker) {
        const auto i = static_cast<std::size_t>(worker);
        parts[i] = look_up(batch, static_cast<std::size_t>(bounds[i]),
                           static_cast<std::size_t>(bounds[i + 1]), max_duration);
    });
    for (std::size_t i = 1; i < parts.size(); ++i) append(parts[0], parts[i]);
    return std::move(parts[0]);
}

SegmentRows SegmentIndex::look_up(const TokenBatch& batch, std::size_t first_sequence,
                                  std::size_t last_sequence, std::int64_t max_duration) const {
    const auto base = static_cast<std::size_t>(batch.sequences[first_sequence]);
    const auto stop = static_cast<std::size_t>(batch.sequences[last_sequence]);
    const auto words = words_of_rules(
        *program_, batch, base, stop,
        [&](std::size_t r, const std::string& word) { return trie(r).words.find(word); });
    // Where the walk of a rule stands that may still meet a feature.
    struct Walk {
        std::size_t rule;
        std::uint32_t node;
    };
    std::vector<Walk> walks;
    SegmentRows out;
    out.ends.reserve(stop - base);
    for (std::size_t b = first_sequence; b < last_sequence; ++b) {
        const auto first = static_cast<std::size_t>(batch.sequences[b]) - base;
        const auto length = static_cast<std::size_t>(batch.sequences[b + 1]) - base - first;
        for (std::size_t t = 0; t < length; ++t) {
            walks.clear();
            for (std::size_t r = 0; r < words.size(); ++r) {
                if (!is_lexicon(r) || rule_features_[r] != no_feature) walks.push_back({r, 0});
            }
            const auto longest =
                std::min<std::size_t>(t + 1, static_cast<std::size_t>(max_duration));
            for (std::size_t d = 1; d <= longest && !walks.empty(); ++d) {
                std::size_t n_left = 0;
                for (Walk walk : walks) {
                    const PhraseTrie& known = trie(walk.rule);
                    const auto* const word = words[walk.rule].data() + first + t;
                    std::uint32_t met = known.step(walk.node, *(word - (d - 1)));
                    if (program_->rules[walk.rule].source == SegmentSource::ends) {
                        // The walk stays at the last word, and looks for every first one.
                        if (d == 1) walk.node = met;
                        if (walk.node == 0) continue;
                        if (d == 1) met = known.step(walk.node, *word);
                    } else {
                        walk.node = met;
                        if (met == 0) continue;
                    }
                    walks[n_left++] = walk;
                    const auto feature = known.features[met];
                    if (feature == no_feature) continue;
                    out.durations.push_back(static_cast<std::int32_t>(d));
                    out.indices.push_back(static_cast<std::int32_t>(
                        is_lexicon(walk.rule) ? rule_features_[walk.rule] : feature));
                }
                walks.resize(n_left);
            }
            out.ends.push_back(static_cast<std::int64_t>(out.indices.size()));
        }
    }
    return out;
}

}  // namespace trelliswork
