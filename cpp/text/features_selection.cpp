// Selection: a FeatureIndex without unneeded features, and without templates that made only those.
#include <algorithm>
#include <numeric>

#include "base/require.hpp"
#include "text/features.hpp"

namespace trelliswork {

namespace {

constexpr std::int32_t dropped = -1;

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

std::vector<Emission> emissions_by_template(const FeatureProgram& program) {
    std::vector<Emission> out(program.templates.size());
    for (std::size_t e = 0; e < program.state.size(); ++e) {
        out[program.state_template[e]] = program.state[e];
    }
    for (std::size_t e = 0; e < program.edge.size(); ++e) {
        out[program.edge_template[e]] = program.edge[e];
    }
    return out;
}

// The parts of a program in a smaller one, of some of its templates: numbers there, or `dropped`.
struct ProgramMap {
    ProgramMap(const FeatureProgram& whole, const FeatureProgram& smaller,
               std::span<const std::int64_t> origins);

    std::vector<std::int32_t> attributes;            // (A,)
    std::vector<std::int32_t> kinds;                 // (K,)
    std::vector<std::vector<std::int32_t>> columns;  // (K,) each (n_columns,)

  private:
    static void link(std::int32_t& place, std::size_t number) {
        require(place == dropped || place == static_cast<std::int32_t>(number),
                "the templates of the smaller program are no part of the whole");
        place = static_cast<std::int32_t>(number);
    }
};

ProgramMap::ProgramMap(const FeatureProgram& whole, const FeatureProgram& smaller,
                       std::span<const std::int64_t> origins)
    : attributes(whole.attributes.size(), dropped), kinds(whole.kinds.size(), dropped) {
    for (const NgramKind& kind : whole.kinds) columns.emplace_back(kind.n_columns, dropped);
    require(origins.size() == smaller.templates.size(),
            "expected one origin for every template of the smaller program");
    const auto from = emissions_by_template(whole);
    const auto to = emissions_by_template(smaller);
    for (std::size_t i = 0; i < origins.size(); ++i) {
        require(origins[i] >= 0 && origins[i] < static_cast<std::int64_t>(from.size()),
                "a template of the smaller program has no origin");
        const auto origin = static_cast<std::size_t>(origins[i]);
        const Template& old_template = whole.templates[origin];
        const Template& new_template = smaller.templates[i];
        require(old_template.edge == new_template.edge && from[origin].shift == to[i].shift &&
                    old_template.terms.size() == new_template.terms.size(),
                "a template of the smaller program differs from its origin");
        link(columns[from[origin].kind][from[origin].column], to[i].column);
        auto old_kind = static_cast<std::int32_t>(from[origin].kind);
        auto new_kind = static_cast<std::int32_t>(to[i].kind);
        while (old_kind >= 0) {
            const auto k = static_cast<std::size_t>(old_kind);
            const NgramKind& old_step = whole.kinds[k];
            const NgramKind& new_step = smaller.kinds[static_cast<std::size_t>(new_kind)];
            require(old_step.distance == new_step.distance &&
                        whole.attributes[old_step.attribute].padded ==
                            smaller.attributes[new_step.attribute].padded,
                    "a term of the smaller program differs from its origin");
            link(kinds[k], static_cast<std::size_t>(new_kind));
            link(attributes[old_step.attribute], new_step.attribute);
            old_kind = old_step.prefix;
            new_kind = new_step.prefix;
        }
    }
}

// A place outside the sequence as another reach numbers it; 0 where that does not get so far.
std::uint32_t moved_pad(std::uint32_t pad, std::int32_t old_reach, std::int32_t new_reach) {
    const auto whole = static_cast<std::uint32_t>(old_reach);
    const auto smaller = static_cast<std::uint32_t>(new_reach);
    const bool is_right = pad > whole;
    const std::uint32_t distance = is_right ? pad - whole : pad;
    if (distance > smaller) return 0;
    return is_right ? smaller + distance : distance;
}

}  // namespace

std::vector<std::uint8_t> FeatureIndex::live_templates(bool edge,
                                                       std::span<const std::uint8_t> keep) const {
    require(keep.size() == (edge ? n_edge_ : n_state_),
            "expected one entry to keep or drop for every feature");
    std::vector<std::uint8_t> out;
    for (const Emission& emission : edge ? program_->edge : program_->state) {
        const std::size_t width = program_->kinds[emission.kind].n_columns;
        const auto& rows = rows_[emission.kind];
        std::uint8_t lives = 0;
        for (std::size_t cell = emission.column; cell < rows.size() && !lives; cell += width) {
            lives = rows[cell] != no_feature && keep[rows[cell]] != 0;
        }
        out.push_back(lives);
    }
    return out;
}

FeatureIndex FeatureIndex::select(std::span<const std::uint8_t> keep_state,
                                  std::span<const std::uint8_t> keep_edge) const {
    std::vector<std::int64_t> origins(program_->templates.size());
    std::iota(origins.begin(), origins.end(), 0);
    return select(keep_state, keep_edge, program_, origins);
}

FeatureIndex FeatureIndex::select(std::span<const std::uint8_t> keep_state,
                                  std::span<const std::uint8_t> keep_edge,
                                  std::shared_ptr<const FeatureProgram> smaller,
                                  std::span<const std::int64_t> origins) const {
    require(keep_state.size() == n_state_ && keep_edge.size() == n_edge_,
            "expected one entry to keep or drop for every feature");
    const FeatureProgram& program = *program_;
    const ProgramMap map(program, *smaller, origins);
    const std::size_t n_kinds = program.kinds.size();
    const std::vector<std::uint32_t> renumbered[2] = {ranks(keep_state), ranks(keep_edge)};
    const std::span<const std::uint8_t> keep[2] = {keep_state, keep_edge};

    FeatureIndex out(std::move(smaller));
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
        const auto is_edge = program.edge_columns(k);
        rows[k].assign(rows_[k].size(), no_feature);
        for (std::size_t id = 1; id < n_rows(k); ++id) {
            for (std::size_t c = 0; c < kind.n_columns; ++c) {
                const std::size_t cell = id * kind.n_columns + c;
                const std::uint32_t feature = rows_[k][cell];
                if (feature == no_feature || !keep[is_edge[c]][feature]) continue;
                require(map.columns[k][c] != dropped,
                        "a kept feature belongs to a template that is dropped");
                rows[k][cell] = renumbered[is_edge[c]][feature];
                live_ngrams[k][id] = 1;
            }
            if (!live_ngrams[k][id]) continue;
            if (kind.prefix < 0) {
                live_values[kind.attribute][id] = 1;
            } else {
                const std::uint64_t key = ngrams_[k].keys()[id - 1];
                live_ngrams[static_cast<std::size_t>(kind.prefix)][PairTable::prefix_of(key)] = 1;
                live_values[kind.attribute][PairTable::value_of(key)] = 1;
            }
        }
    }

    std::vector<std::vector<std::uint32_t>> new_value(values_.size());  // old value id → new
    for (std::size_t a = 0; a < values_.size(); ++a) {
        new_value[a].resize(live_values[a].size());
        if (map.attributes[a] == dropped) continue;
        const auto new_attribute = static_cast<std::uint32_t>(map.attributes[a]);
        const auto n_pads = program.n_pads(static_cast<std::uint32_t>(a));
        const auto new_pads = out.program_->n_pads(new_attribute);
        for (std::uint32_t id = 1; id < live_values[a].size(); ++id) {
            if (id <= n_pads) {
                new_value[a][id] = moved_pad(id, program.reach, out.program_->reach);
                require(!live_values[a][id] || new_value[a][id] != 0,
                        "a kept feature lies beyond the reach of its template");
            } else if (live_values[a][id]) {
                new_value[a][id] =
                    new_pads + out.values_[new_attribute].insert(values_[a][id - n_pads]);
            }
        }
    }
    std::vector<std::vector<std::uint32_t>> new_ngram(n_kinds);  // old n-gram id → new
    for (std::size_t k = 0; k < n_kinds; ++k) {
        if (map.kinds[k] == dropped) continue;
        const NgramKind& kind = program.kinds[k];
        const auto new_kind = static_cast<std::size_t>(map.kinds[k]);
        if (kind.prefix < 0) {
            new_ngram[k] = new_value[kind.attribute];
        } else {
            new_ngram[k].resize(n_rows(k));
            for (std::size_t id = 1; id < n_rows(k); ++id) {
                if (!live_ngrams[k][id]) continue;
                const std::uint64_t key = ngrams_[k].keys()[id - 1];
                const auto prefix =
                    new_ngram[static_cast<std::size_t>(kind.prefix)][PairTable::prefix_of(key)];
                const auto value = new_value[kind.attribute][PairTable::value_of(key)];
                new_ngram[k][id] = out.ngrams_[new_kind].insert(PairTable::key(prefix, value));
            }
        }
        const std::size_t width = out.program_->kinds[new_kind].n_columns;
        out.rows_[new_kind].assign(out.n_rows(new_kind) * width, no_feature);
        for (std::size_t id = 1; id < n_rows(k); ++id) {
            if (new_ngram[k][id] == 0) continue;
            for (std::size_t c = 0; c < kind.n_columns; ++c) {
                if (map.columns[k][c] == dropped) continue;
                out.rows_[new_kind]
                         [new_ngram[k][id] * width + static_cast<std::size_t>(map.columns[k][c])] =
                    rows[k][id * kind.n_columns + c];
            }
        }
    }
    for (const auto kept : keep_state) out.n_state_ += kept != 0;
    for (const auto kept : keep_edge) out.n_edge_ += kept != 0;
    out.start_memos();
    return out;
}

}  // namespace trelliswork
