// A SegmentIndex as flat arrays and back, without unneeded features, and as names.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/require.hpp"
#include "text/segment_features.hpp"

namespace trelliswork {

namespace {

std::uint32_t parent_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32) - 1;
}
std::uint32_t word_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key);
}

// The trie of the sequences whose features are kept, with their new numbers.
PhraseTrie pruned(const PhraseTrie& trie, std::span<const std::uint8_t> keep,
                  std::span<const std::uint32_t> renumbered) {
    const auto keys = trie.steps.keys();
    const auto is_kept = [&](std::uint32_t feature) {
        return feature != no_feature && keep[feature] != 0;
    };
    // A node lives when a kept sequence passes it; parents have smaller numbers than children.
    std::vector<std::uint8_t> lives(trie.features.size());
    for (std::size_t node = lives.size(); node-- > 1;) {
        if (is_kept(trie.features[node])) lives[node] = 1;
        if (lives[node]) lives[parent_of(keys[node - 1])] = 1;
    }
    PhraseTrie out;
    std::vector<std::uint32_t> new_node(lives.size());
    for (std::size_t node = 1; node < lives.size(); ++node) {
        if (!lives[node]) continue;
        const auto word = out.words.insert(trie.words[word_of(keys[node - 1])]);
        new_node[node] = out.add_step(new_node[parent_of(keys[node - 1])], word);
        const auto feature = trie.features[node];
        if (is_kept(feature)) out.features[new_node[node]] = renumbered[feature];
    }
    return out;
}

}  // namespace

SegmentIndex SegmentIndex::select(std::span<const std::uint8_t> keep) const {
    std::vector<std::int64_t> origins(tries_.size());
    std::iota(origins.begin(), origins.end(), 0);
    return select(keep, program_, origins);
}

SegmentIndex SegmentIndex::select(std::span<const std::uint8_t> keep,
                                  std::shared_ptr<const SegmentProgram> smaller,
                                  std::span<const std::int64_t> origins) const {
    require(keep.size() == n_features_, "expected one entry to keep or drop for every feature");
    SegmentIndex out(std::move(smaller));
    require(origins.size() == out.tries_.size(),
            "expected one origin for every rule of the smaller program");
    std::vector<std::uint32_t> renumbered(keep.size());
    for (std::size_t f = 0; f < keep.size(); ++f) {
        renumbered[f] = out.n_features_;
        out.n_features_ += keep[f] != 0;
    }
    std::vector<std::uint8_t> stays(tries_.size());
    for (std::size_t r = 0; r < origins.size(); ++r) {
        require(origins[r] >= 0 && origins[r] < static_cast<std::int64_t>(tries_.size()),
                "a rule of the smaller program has no origin");
        const auto origin = static_cast<std::size_t>(origins[r]);
        require(out.program_->rules[r].source == program_->rules[origin].source,
                "a rule of the smaller program differs from its origin");
        stays[origin] = 1;
        const auto feature = rule_features_[origin];
        if (feature != no_feature && keep[feature]) out.rule_features_[r] = renumbered[feature];
        out.tries_[r] = pruned(tries_[origin], keep, renumbered);
    }
    const auto rules = feature_rules();
    for (std::size_t f = 0; f < keep.size(); ++f) {
        require(!keep[f] || stays[static_cast<std::size_t>(rules[f])],
                "a kept feature belongs to a rule that is dropped");
    }
    return out;
}

SegmentArrays SegmentIndex::arrays() const {
    SegmentArrays out;
    out.word_offsets.push_back(0);
    for (const PhraseTrie& trie : tries_) {
        const auto base = static_cast<std::int64_t>(out.word_bytes.size());
        const auto bytes = trie.words.bytes();
        out.word_bytes.insert(out.word_bytes.end(), bytes.begin(), bytes.end());
        for (const auto end : trie.words.offsets().subspan(1)) {
            out.word_offsets.push_back(base + end);
        }
        out.word_counts.push_back(trie.words.size());
        const auto keys = trie.steps.keys();
        out.step_keys.insert(out.step_keys.end(), keys.begin(), keys.end());
        out.step_counts.push_back(trie.steps.size());
        for (std::size_t node = 1; node < trie.features.size(); ++node) {
            out.node_features.push_back(static_cast<std::int32_t>(trie.features[node]));
        }
    }
    for (const auto feature : rule_features_) {
        out.rule_features.push_back(static_cast<std::int32_t>(feature));
    }
    return out;
}

SegmentIndex::SegmentIndex(std::shared_ptr<const SegmentProgram> program,
                           const SegmentArrays& arrays)
    : SegmentIndex(std::move(program)) {
    const std::size_t n_rules = tries_.size();
    require(arrays.word_counts.size() == n_rules && arrays.step_counts.size() == n_rules &&
                arrays.rule_features.size() == n_rules,
            "wrong number of rules of segments");
    require(arrays.node_features.size() == arrays.step_keys.size(),
            "expected one feature or none for every step");
    require(!arrays.word_offsets.empty() && arrays.word_offsets.front() == 0 &&
                arrays.word_offsets.back() == static_cast<std::int64_t>(arrays.word_bytes.size()),
            "the word offsets do not cover the word bytes");
    const auto* const text = reinterpret_cast<const char*>(arrays.word_bytes.data());
    // Every feature has its own step or rule, so these bound the demands of a corrupt number.
    std::vector<std::uint8_t> taken(arrays.step_keys.size() + n_rules);
    const auto take = [&](std::int32_t feature) {
        if (feature == -1) return no_feature;
        const auto id = static_cast<std::size_t>(feature);
        require(feature >= 0 && id < taken.size() && !taken[id],
                "a feature id of segments is out of range or given twice");
        taken[id] = 1;
        n_features_ += 1;
        return static_cast<std::uint32_t>(feature);
    };
    std::size_t word = 0;
    std::size_t step = 0;
    for (std::size_t r = 0; r < n_rules; ++r) {
        PhraseTrie& trie = tries_[r];
        const auto n_words = arrays.word_counts[r];
        const auto n_steps = arrays.step_counts[r];
        require(n_words >= 0 &&
                    n_words <= static_cast<std::int64_t>(arrays.word_offsets.size() - 1 - word) &&
                    n_steps >= 0 &&
                    n_steps <= static_cast<std::int64_t>(arrays.step_keys.size() - step),
                "more words or steps are announced than stored");
        require(!is_lexicon(r) || n_steps == 0, "the phrases of a lexicon are not stored here");
        require(is_lexicon(r) || arrays.rule_features[r] == -1,
                "only a lexicon has one feature for a rule");
        for (std::int64_t i = 0; i < n_words; ++i, ++word) {
            const auto begin = arrays.word_offsets[word];
            const auto end = arrays.word_offsets[word + 1];
            require(begin <= end && end <= arrays.word_offsets.back(), "word offsets go back");
            trie.words.insert({text + begin, static_cast<std::size_t>(end - begin)});
            require(trie.words.size() == static_cast<std::uint64_t>(i) + 1, "a word occurs twice");
        }
        for (std::int64_t i = 0; i < n_steps; ++i, ++step) {
            const std::uint64_t key = arrays.step_keys[step];
            require((key >> 32) >= 1 && parent_of(key) <= i && word_of(key) >= 1 &&
                        word_of(key) <= trie.words.size(),
                    "a step refers to a word or a node that is not stored");
            const auto node = trie.add_step(parent_of(key), word_of(key));
            require(node == static_cast<std::uint64_t>(i) + 1, "a step occurs twice");
            trie.features[node] = take(arrays.node_features[step]);
        }
        rule_features_[r] = take(arrays.rule_features[r]);
    }
    require(word + 1 == arrays.word_offsets.size() && step == arrays.step_keys.size(),
            "more words or steps are stored than announced");
    require(std::all_of(taken.begin(), taken.begin() + n_features_,
                        [](std::uint8_t given) { return given != 0; }),
            "a feature id of segments belongs to no step");
}

std::vector<SegmentIndex::Owner> SegmentIndex::owners() const {
    std::vector<Owner> out(n_features_);
    for (std::size_t r = 0; r < tries_.size(); ++r) {
        if (rule_features_[r] != no_feature) out[rule_features_[r]] = {r, 0};
        for (std::uint32_t node = 1; node < tries_[r].features.size(); ++node) {
            const auto feature = tries_[r].features[node];
            if (feature != no_feature) out[feature] = {r, node};
        }
    }
    return out;
}

std::vector<std::int32_t> SegmentIndex::feature_rules() const {
    std::vector<std::int32_t> out;
    for (const Owner& owner : owners()) out.push_back(static_cast<std::int32_t>(owner.rule));
    return out;
}

FeatureNames SegmentIndex::names() const {
    FeatureNames out;
    for (const Owner& owner : owners()) {
        const SegmentRule& rule = program_->rules[owner.rule];
        const PhraseTrie& trie = tries_[owner.rule];
        out.bytes += rule.name;
        // The trie is read backwards, so the way up meets the words in their order.
        for (std::uint32_t node = owner.node; node != 0;) {
            const std::uint64_t key = trie.steps.keys()[node - 1];
            out.bytes += node == owner.node ? "=" : rule.source == SegmentSource::ends ? "|" : " ";
            out.bytes += trie.words[word_of(key)];
            node = parent_of(key);
        }
        out.ends.push_back(static_cast<std::int64_t>(out.bytes.size()));
    }
    return out;
}

}  // namespace trelliswork
