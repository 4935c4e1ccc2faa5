// Operations on regular languages over labels: the algebra that constraints are compiled with.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace trelliswork {

// A finite automaton without weights and without empty steps; any number of initial and final
// states. Arcs are distinct and sorted by (source, label, target).
struct Language {
    struct Arc {
        std::int32_t source, label, target;
        auto operator<=>(const Arc&) const = default;
    };

    int n_states = 0;
    int n_labels = 0;
    std::vector<Arc> arcs;                     // (A,)
    std::vector<std::uint8_t> initial, final;  // (S,)
    std::vector<std::int64_t> offsets;         // (S + 1,) into the arcs, by source

    // Sorts the arcs, drops copies and fills the offsets; throws std::invalid_argument.
    void finish();

    std::span<const Arc> leaving(std::int32_t state) const {
        return {arcs.data() + offsets[state], arcs.data() + offsets[state + 1]};
    }
    std::span<const Arc> leaving(std::int32_t state, std::int32_t label) const;

    bool is_deterministic() const;
    bool is_empty() const;
    bool has_empty_string() const;
};

inline constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();

// Operations that may blow up answer nothing once they pass `max_states` or `most_arcs(max_states)`
// arcs looked at: few states may still take days. The empty language is one initial state that is
// not final, so that no automaton is without states.
// All but `reverse`, `renumber` and `complete` answer trimmed: every state lies on an accepting
// path.
std::int64_t most_arcs(std::int64_t max_states);  // 200 a state, 20 to 100 million
Language trim(const Language& a);
Language reverse(const Language& a);
// The same trimmed automaton with its states numbered breadth first, by label.
Language renumber(const Language& trimmed);
Language unite(const Language& a, const Language& b);
Language concatenate(const Language& a, const Language& b);
Language star(const Language& a);
std::optional<Language> intersect(const Language& a, const Language& b, std::int64_t max_states);

// Subset construction. States are numbered breadth first, by label. Answers nothing either once it
// has followed more than `max_steps` arcs: few subsets may be large ones.
std::optional<Language> determinise(const Language& a, std::int64_t max_states,
                                    std::int64_t max_steps = any_number);
// The smallest deterministic automaton, numbered breadth first: equal languages, equal arrays.
std::optional<Language> minimise(const Language& a, std::int64_t max_states,
                                 std::int64_t max_steps = any_number);
// Adds a sink where a state has no arc with some label.
Language complete(const Language& a);
std::optional<Language> complement(const Language& a, std::int64_t max_states);

// Whether some string has two accepting paths; nothing after looking at `max_pairs` pairs of arcs.
std::optional<bool> is_ambiguous(const Language& a, std::int64_t max_pairs);

// accepted[b] = whether labels[offsets[b] … offsets[b + 1]) is in the language. (N,), (B + 1,),
// (B,)
void accepts(const Language& a, std::span<const std::int64_t> labels,
             std::span<const std::int64_t> offsets, std::span<std::uint8_t> accepted);

}  // namespace trelliswork
