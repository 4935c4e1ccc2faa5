// A FeatureIndex as flat arrays and back, without the features nobody needs, and as names.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "features.hpp"
#include "require.hpp"

namespace trelliswork {

namespace {

std::uint32_t prefix_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32);
}
std::uint32_t value_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key);
}

// renumbered[i]: how many of keep[0 … i) are set; used only where keep[i] is.
std::vector<std::uint32_t> ranks(std::span<const std::uint8_t> keep) {
    std::vector<std::uint32_t> out(keep.size());
    std::uint32_t n_kept = 0;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        out[i] = n_kept;
        n_kept += keep[i] != 0;
    }
    return out;
}

// Which of the two numberings each column of a kind belongs to: (n_columns,), 1 for edge.
std::vector<std::uint8_t> edge_columns(const FeatureProgram& program, std::size_t kind) {
    std::vector<std::uint8_t> out(program.kinds[kind].n_columns);
    for (const Emission& emission : program.edge) {
        if (emission.kind == kind) out[emission.column] = 1;
    }
    return out;
}

}  // namespace

FeatureIndex FeatureIndex::select(std::span<const std::uint8_t> keep_state,
                                  std::span<const std::uint8_t> keep_edge) const {
    require(keep_state.size() == n_state_ && keep_edge.size() == n_edge_,
            "expected one entry to keep or drop for every feature");
    const FeatureProgram& program = *program_;
    const std::size_t n_kinds = program.kinds.size();
    const std::vector<std::uint32_t> renumbered[2] = {ranks(keep_state), ranks(keep_edge)};
    const std::span<const std::uint8_t> keep[2] = {keep_state, keep_edge};

    FeatureIndex out(program_);
    std::vector<std::vector<std::uint32_t>> rows(n_kinds);        // renumbered, old n-gram ids
    std::vector<std::vector<std::uint8_t>> live_ngrams(n_kinds);  // (K,) each (n_rows,)
    std::vector<std::vector<std::uint8_t>> live_values(values_.size());
    for (std::size_t a = 0; a < values_.size(); ++a) {
        live_values[a].resize(program.n_pads(static_cast<std::uint32_t>(a)) + values_[a].size() +
                              1u);
    }
    for (std::size_t k = 0; k < n_kinds; ++k) live_ngrams[k].resize(n_rows(k));

    // An n-gram lives when a kept feature or a longer living n-gram reads it; so does a value.
    for (std::size_t k = n_kinds; k-- > 0;) {
        const NgramKind& kind = program.kinds[k];
        const auto is_edge = edge_columns(program, k);
        rows[k].assign(rows_[k].size(), no_feature);
        for (std::size_t id = 1; id < n_rows(k); ++id) {
            for (std::size_t c = 0; c < kind.n_columns; ++c) {
                const std::size_t cell = id * kind.n_columns + c;
                const std::uint32_t feature = rows_[k][cell];
                if (feature == no_feature || !keep[is_edge[c]][feature]) continue;
                rows[k][cell] = renumbered[is_edge[c]][feature];
                live_ngrams[k][id] = 1;
            }
            if (!live_ngrams[k][id]) continue;
            if (kind.prefix < 0) {
                live_values[kind.attribute][id] = 1;
            } else {
                const std::uint64_t key = ngrams_[k].keys()[id - 1];
                live_ngrams[static_cast<std::size_t>(kind.prefix)][prefix_of(key)] = 1;
                live_values[kind.attribute][value_of(key)] = 1;
            }
        }
    }

    std::vector<std::vector<std::uint32_t>> new_value(values_.size());  // old value id → new
    for (std::size_t a = 0; a < values_.size(); ++a) {
        const auto n_pads = program.n_pads(static_cast<std::uint32_t>(a));
        new_value[a].resize(live_values[a].size());
        for (std::uint32_t id = 1; id < live_values[a].size(); ++id) {
            if (id <= n_pads) {
                new_value[a][id] = id;
            } else if (live_values[a][id]) {
                new_value[a][id] = n_pads + out.values_[a].insert(values_[a][id - n_pads]);
            }
        }
    }
    std::vector<std::vector<std::uint32_t>> new_ngram(n_kinds);  // old n-gram id → new
    for (std::size_t k = 0; k < n_kinds; ++k) {
        const NgramKind& kind = program.kinds[k];
        if (kind.prefix < 0) {
            new_ngram[k] = new_value[kind.attribute];
        } else {
            new_ngram[k].resize(n_rows(k));
            for (std::size_t id = 1; id < n_rows(k); ++id) {
                if (!live_ngrams[k][id]) continue;
                const std::uint64_t key = ngrams_[k].keys()[id - 1];
                const auto prefix =
                    new_ngram[static_cast<std::size_t>(kind.prefix)][prefix_of(key)];
                const auto value = new_value[kind.attribute][value_of(key)];
                new_ngram[k][id] = out.ngrams_[k].insert(PairTable::key(prefix, value));
            }
        }
        out.rows_[k].assign(out.n_rows(k) * kind.n_columns, no_feature);
        for (std::size_t id = 1; id < n_rows(k); ++id) {
            if (new_ngram[k][id] == 0) continue;
            for (std::size_t c = 0; c < kind.n_columns; ++c) {
                out.rows_[k][new_ngram[k][id] * kind.n_columns + c] =
                    rows[k][id * kind.n_columns + c];
            }
        }
    }
    for (const auto kept : keep_state) out.n_state_ += kept != 0;
    for (const auto kept : keep_edge) out.n_edge_ += kept != 0;
    out.start_memos();
    return out;
}

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
    // Every feature has a cell of its own, so the cells bound what a corrupt number can ask for.
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
            const bool has_prefix = prefix_of(key) > 0 &&
                                    prefix_of(key) < n_rows(static_cast<std::size_t>(kind.prefix));
            require(has_prefix && value_of(key) > 0 && value_of(key) <= n_values,
                    "an n-gram refers to a value or a prefix that is not stored");
            ngrams_[k].insert(key);
            require(ngrams_[k].size() == static_cast<std::uint64_t>(i) + 1,
                    "an n-gram occurs twice");
        }
        const auto is_edge = edge_columns(*program_, k);
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

void FeatureIndex::append_name(std::string& out, const Template& feature, std::size_t kind,
                               std::uint32_t ngram) const {
    std::vector<std::string> texts;  // from the last value to the first
    for (std::uint32_t id = ngram;;) {
        const NgramKind& step = program_->kinds[kind];
        std::uint32_t value = id;
        if (step.prefix >= 0) {
            const std::uint64_t key = ngrams_[kind].keys()[id - 1];
            id = prefix_of(key);
            value = value_of(key);
        }
        const auto n_pads = program_->n_pads(step.attribute);
        const auto reach = static_cast<std::uint32_t>(program_->reach);
        if (value > n_pads) {
            texts.emplace_back(values_[step.attribute][value - n_pads]);
        } else if (value <= reach) {
            texts.push_back("_B-" + std::to_string(value));
        } else {
            texts.push_back("_B+" + std::to_string(value - reach));
        }
        if (step.prefix < 0) break;
        kind = static_cast<std::size_t>(step.prefix);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        out += feature.literals[i];
        out += texts[texts.size() - 1 - i];
    }
    out += feature.literals.back();
}

FeatureNames FeatureIndex::names(bool edge) const {
    const auto& emissions = edge ? program_->edge : program_->state;
    const auto& sources = edge ? program_->edge_template : program_->state_template;
    struct Owner {
        std::uint32_t source = no_feature;  // template
        std::uint32_t kind = 0;
        std::uint32_t ngram = 0;
    };
    std::vector<Owner> owners(edge ? n_edge_ : n_state_);
    for (std::size_t e = 0; e < emissions.size(); ++e) {
        const std::size_t width = program_->kinds[emissions[e].kind].n_columns;
        const auto& rows = rows_[emissions[e].kind];
        for (std::size_t id = 1; id * width < rows.size(); ++id) {
            const std::uint32_t feature = rows[id * width + emissions[e].column];
            // Templates that share a column share its name: the first one's.
            if (feature == no_feature || owners[feature].source != no_feature) continue;
            owners[feature] = {sources[e], emissions[e].kind, static_cast<std::uint32_t>(id)};
        }
    }
    FeatureNames out;
    for (const Owner& owner : owners) {
        append_name(out.bytes, program_->templates[owner.source], owner.kind, owner.ngram);
        out.ends.push_back(static_cast<std::int64_t>(out.bytes.size()));
    }
    return out;
}

}  // namespace trelliswork
