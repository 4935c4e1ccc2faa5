// Ambiguity: an ambiguous automaton would make sums over paths count a labelling twice.
#include <algorithm>

#include "automata/algebra.hpp"
#include "automata/pair_index.hpp"

namespace trelliswork {

// Follows pairs of different states that one string reaches together, p < q. In a trimmed
// automaton a string with two accepting paths exists exactly if such a pair is final in both, or
// if its states step to one state with one label; so the search needs no way back.
std::optional<bool> is_ambiguous(const Language& any, std::int64_t max_pairs) {
    const auto a = trim(any);
    if (a.is_deterministic() || reverse(a).is_deterministic()) return false;
    max_pairs = std::min(max_pairs, PairIndex::most);
    PairIndex pairs;
    std::int64_t n_met = 0;
    bool ambiguous = false;
    const auto meet = [&](std::int32_t p, std::int32_t q) {
        ++n_met;
        ambiguous = ambiguous || (a.final[p] && a.final[q]);
        pairs.add(std::min(p, q), std::max(p, q));
    };
    const auto stopped = [&] { return ambiguous || n_met > max_pairs; };
    const auto answer = [&] { return ambiguous ? std::optional(true) : std::nullopt; };
    std::vector<std::int32_t> initial;
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        if (a.initial[s]) initial.push_back(s);
        const auto arcs = a.leaving(s);
        for (std::size_t i = 0; i < arcs.size() && !stopped(); ++i) {
            for (auto j = i + 1; j < arcs.size() && arcs[j].label == arcs[i].label; ++j) {
                meet(arcs[i].target, arcs[j].target);
            }
        }
        if (stopped()) return answer();
    }
    for (std::size_t i = 0; i < initial.size(); ++i) {
        for (auto j = i + 1; j < initial.size(); ++j) meet(initial[i], initial[j]);
        if (stopped()) return answer();
    }
    for (std::int64_t id = 0; id < pairs.size(); ++id) {
        const auto [p, q] = pairs[id];
        auto right = a.leaving(q).begin();
        const auto end = a.leaving(q).end();
        for (const auto& left : a.leaving(p)) {
            if (stopped()) return answer();
            while (right != end && right->label < left.label) ++right;
            for (auto match = right; match != end && match->label == left.label; ++match) {
                if (match->target == left.target) return true;
                meet(left.target, match->target);
            }
        }
        if (stopped()) return answer();
    }
    return false;
}

}  // namespace trelliswork
