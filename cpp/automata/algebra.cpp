#include "automata/algebra.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "automata/pair_index.hpp"
#include "base/require.hpp"

namespace trelliswork {

namespace {

using Arc = Language::Arc;
using Flags = std::vector<std::uint8_t>;

Language make(int n_states, int n_labels) {
    Language made;
    made.n_states = n_states;
    made.n_labels = n_labels;
    made.initial.assign(static_cast<std::size_t>(n_states), 0);
    made.final.assign(static_cast<std::size_t>(n_states), 0);
    return made;
}

// The states that can be reached from the flagged ones.
Flags reachable(const Language& a, Flags seen) {
    std::vector<std::int32_t> waiting;
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        if (seen[s]) waiting.push_back(s);
    }
    while (!waiting.empty()) {
        const auto s = waiting.back();
        waiting.pop_back();
        for (const auto& arc : a.leaving(s)) {
            if (!seen[arc.target]) {
                seen[arc.target] = 1;
                waiting.push_back(arc.target);
            }
        }
    }
    return seen;
}

// Both automata side by side, as states 0 … S_a and S_a … S_a + S_b; arcs are not sorted yet.
Language side_by_side(const Language& a, const Language& b) {
    require(a.n_labels == b.n_labels, "both languages must have the same labels");
    auto joined = make(a.n_states + b.n_states, a.n_labels);
    joined.arcs = a.arcs;
    joined.arcs.reserve(a.arcs.size() + b.arcs.size());
    for (const auto& arc : b.arcs) {
        joined.arcs.push_back({arc.source + a.n_states, arc.label, arc.target + a.n_states});
    }
    return joined;
}

std::vector<Arc> leaving_initial(const Language& a) {
    std::vector<Arc> found;
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        if (!a.initial[s]) continue;
        found.insert(found.end(), a.leaving(s).begin(), a.leaving(s).end());
    }
    return found;
}

Language finished(Language made) {
    made.finish();
    return trim(made);
}

}  // namespace

std::int64_t most_arcs(std::int64_t max_states) {
    constexpr std::int64_t at_least = 20'000'000, at_most = 100'000'000, per_state = 200;
    return std::clamp(max_states, at_least / per_state, at_most / per_state) * per_state;
}

void Language::finish() {
    const auto size = static_cast<std::size_t>(n_states);
    require(n_states > 0 && n_labels >= 0, "a language must have a state");
    require(initial.size() == size && final.size() == size,
            "initial and final must have one entry a state");
    // Counting sort by source, then each state's few arcs by themselves.
    offsets.assign(size + 1, 0);
    for (const auto& arc : arcs) {
        require(arc.source >= 0 && arc.source < n_states && arc.target >= 0 &&
                    arc.target < n_states && arc.label >= 0 && arc.label < n_labels,
                "an arc names a state or a label that does not exist");
        ++offsets[arc.source + 1];
    }
    for (int s = 0; s < n_states; ++s) offsets[s + 1] += offsets[s];
    if (std::ranges::adjacent_find(arcs, std::greater_equal<>()) == arcs.end()) return;
    std::vector<Arc> sorted(arcs.size());
    auto next = offsets;
    for (const auto& arc : arcs) sorted[next[arc.source]++] = arc;
    for (int s = 0; s < n_states; ++s) {
        std::sort(sorted.begin() + offsets[s], sorted.begin() + offsets[s + 1]);
    }
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    arcs = std::move(sorted);
    std::fill(offsets.begin(), offsets.end(), 0);
    for (const auto& arc : arcs) ++offsets[arc.source + 1];
    for (int s = 0; s < n_states; ++s) offsets[s + 1] += offsets[s];
}

std::span<const Arc> Language::leaving(std::int32_t state, std::int32_t label) const {
    const auto all = leaving(state);
    const auto [first, last] =
        std::equal_range(all.begin(), all.end(), Arc{state, label, 0},
                         [](const Arc& one, const Arc& other) { return one.label < other.label; });
    return {first, last};
}

bool Language::is_deterministic() const {
    if (std::count(initial.begin(), initial.end(), 0) < n_states - 1) return false;
    return std::adjacent_find(arcs.begin(), arcs.end(), [](const Arc& one, const Arc& next) {
               return one.source == next.source && one.label == next.label;
           }) == arcs.end();
}

bool Language::is_empty() const {
    const auto seen = reachable(*this, initial);
    for (int s = 0; s < n_states; ++s) {
        if (seen[s] && final[s]) return false;
    }
    return true;
}

bool Language::has_empty_string() const {
    for (int s = 0; s < n_states; ++s) {
        if (initial[s] && final[s]) return true;
    }
    return false;
}

Language trim(const Language& a) {
    const auto from_start = reachable(a, a.initial);
    const auto to_end = reachable(reverse(a), a.final);
    std::vector<std::int32_t> number(static_cast<std::size_t>(a.n_states), -1);
    int kept = 0;
    for (int s = 0; s < a.n_states; ++s) {
        if (from_start[s] && to_end[s]) number[s] = kept++;
    }
    if (kept == a.n_states) return a;
    auto trimmed = make(std::max(kept, 1), a.n_labels);
    if (kept == 0) trimmed.initial[0] = 1;
    for (int s = 0; s < a.n_states; ++s) {
        if (number[s] < 0) continue;
        trimmed.initial[number[s]] = a.initial[s];
        trimmed.final[number[s]] = a.final[s];
    }
    for (const auto& arc : a.arcs) {
        const auto source = number[arc.source], target = number[arc.target];
        if (source >= 0 && target >= 0) trimmed.arcs.push_back({source, arc.label, target});
    }
    trimmed.finish();
    return trimmed;
}

Language reverse(const Language& a) {
    auto reversed = make(a.n_states, a.n_labels);
    reversed.initial = a.final;
    reversed.final = a.initial;
    reversed.arcs.reserve(a.arcs.size());
    for (const auto& arc : a.arcs) reversed.arcs.push_back({arc.target, arc.label, arc.source});
    reversed.finish();
    return reversed;
}

Language unite(const Language& a, const Language& b) {
    auto united = side_by_side(a, b);
    std::copy(b.initial.begin(), b.initial.end(),
              std::copy(a.initial.begin(), a.initial.end(), united.initial.begin()));
    std::copy(b.final.begin(), b.final.end(),
              std::copy(a.final.begin(), a.final.end(), united.final.begin()));
    return finished(std::move(united));
}

// Without empty steps: a final state of `a` also leaves as the initial states of `b` do.
Language concatenate(const Language& a, const Language& b) {
    auto joined = side_by_side(a, b);
    const auto first = leaving_initial(b);
    const bool a_may_be_empty = a.has_empty_string(), b_may_be_empty = b.has_empty_string();
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        joined.initial[s] = a.initial[s];
        joined.final[s] = a.final[s] && b_may_be_empty;
        if (!a.final[s]) continue;
        for (const auto& arc : first) {
            joined.arcs.push_back({s, arc.label, arc.target + a.n_states});
        }
    }
    for (std::int32_t s = 0; s < b.n_states; ++s) {
        joined.initial[a.n_states + s] = b.initial[s] && a_may_be_empty;
        joined.final[a.n_states + s] = b.final[s];
    }
    return finished(std::move(joined));
}

// A new initial state accepts the empty string: an old one may be re-entered in mid-word.
Language star(const Language& a) {
    auto starred = make(a.n_states + 1, a.n_labels);
    const auto start = a.n_states;
    const auto first = leaving_initial(a);
    std::copy(a.final.begin(), a.final.end(), starred.final.begin());
    starred.initial[start] = starred.final[start] = 1;
    starred.arcs = a.arcs;
    for (std::int32_t s = 0; s <= start; ++s) {
        if (!starred.final[s]) continue;
        for (const auto& arc : first) starred.arcs.push_back({s, arc.label, arc.target});
    }
    return finished(std::move(starred));
}

std::optional<Language> intersect(const Language& a, const Language& b, std::int64_t max_states) {
    require(a.n_labels == b.n_labels, "both languages must have the same labels");
    PairIndex pairs;
    for (std::int32_t p = 0; p < a.n_states; ++p) {
        for (std::int32_t q = 0; a.initial[p] && q < b.n_states; ++q) {
            if (b.initial[q]) pairs.add(p, q);
        }
    }
    const auto n_initial = pairs.size();
    std::vector<Arc> arcs;
    max_states = std::min(max_states, PairIndex::most);
    const auto max_arcs = static_cast<std::size_t>(most_arcs(max_states));
    for (std::int64_t id = 0; id < pairs.size(); ++id) {
        if (pairs.size() > max_states) return std::nullopt;
        const auto [p, q] = pairs[id];
        // Both runs are sorted by label: walk them as one merges sorted lists.
        auto right = b.leaving(q).begin();
        const auto end = b.leaving(q).end();
        for (const auto& left : a.leaving(p)) {
            if (arcs.size() > max_arcs) return std::nullopt;
            while (right != end && right->label < left.label) ++right;
            for (auto match = right; match != end && match->label == left.label; ++match) {
                const auto target = pairs.add(left.target, match->target);
                arcs.push_back({static_cast<std::int32_t>(id), left.label, target});
            }
        }
    }
    if (pairs.size() == 0) return trim(make(1, a.n_labels));
    auto met = make(static_cast<int>(pairs.size()), a.n_labels);
    met.arcs = std::move(arcs);
    for (std::int64_t id = 0; id < pairs.size(); ++id) {
        const auto [p, q] = pairs[id];
        met.initial[id] = id < n_initial;
        met.final[id] = a.final[p] && b.final[q];
    }
    return finished(std::move(met));
}

void accepts(const Language& a, std::span<const std::int64_t> labels,
             std::span<const std::int64_t> offsets, std::span<std::uint8_t> accepted) {
    std::vector<std::int32_t> start, now, next;
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        if (a.initial[s]) start.push_back(s);
    }
    std::vector<std::int64_t> seen(static_cast<std::size_t>(a.n_states), -1);  // at which token
    for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
        now = start;
        for (auto t = offsets[b]; t < offsets[b + 1] && !now.empty(); ++t) {
            next.clear();
            const auto label = static_cast<std::int32_t>(labels[t]);
            for (const auto s : now) {
                for (const auto& arc : a.leaving(s, label)) {
                    if (seen[arc.target] == t) continue;
                    seen[arc.target] = t;
                    next.push_back(arc.target);
                }
            }
            now.swap(next);
        }
        accepted[b] = std::any_of(now.begin(), now.end(), [&](auto s) { return a.final[s] != 0; });
    }
}

}  // namespace trelliswork
