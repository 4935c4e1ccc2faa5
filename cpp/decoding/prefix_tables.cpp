#include "decoding/prefix_tables.hpp"

#include <algorithm>
#include <limits>

namespace trelliswork {

// least[k, q] = min over letters y and lengths d of  step(q, y) + least[k − d, next(q, y)]
//
// and least[0, ·] = 0. The automaton of the model is ignored: it could only raise the minimum.
void fill_least(const ViolationAutomaton& term, const std::uint8_t* classes, std::int64_t length,
                int n_labels, int n_durations, std::vector<std::int64_t>& table) {
    const auto n_states = term.n_states;
    table.assign(static_cast<std::size_t>((length + 1) * n_states), 0);
    std::vector<std::int64_t> after(static_cast<std::size_t>(n_states));
    for (std::int64_t k = 1; k <= length; ++k) {
        std::copy_n(table.begin() + (k - 1) * n_states, n_states, after.begin());
        for (std::int64_t d = 2; d <= std::min<std::int64_t>(k, n_durations); ++d) {
            const auto* row = table.data() + (k - d) * n_states;
            for (std::int64_t q = 0; q < n_states; ++q) after[q] = std::min(after[q], row[q]);
        }
        const auto letter =
            classes == nullptr ? std::int64_t{0} : std::int64_t{classes[length - k]} * n_labels;
        for (std::int64_t q = 0; q < n_states; ++q) {
            const auto first = q * term.n_letters + letter;
            auto best = std::numeric_limits<std::int64_t>::max();
            for (auto y = first; y < first + n_labels; ++y) {
                best = std::min(best, term.step[y] + after[term.next[y]]);
            }
            table[k * n_states + q] = best;
        }
    }
}

PrefixTables::PrefixTables(const Batch& batch_, const std::vector<SearchTerm>& terms_)
    : batch(batch_), terms(terms_) {
    const Automaton& automaton = *batch.automaton;
    out_offsets.assign(static_cast<std::size_t>(automaton.n_states) + 1, 0);
    for (const auto source : automaton.source) ++out_offsets[source + 1];
    for (std::int64_t s = 0; s < automaton.n_states; ++s) out_offsets[s + 1] += out_offsets[s];
    out_arcs.resize(automaton.source.size());
    auto place = out_offsets;
    weight.assign(automaton.source.size(), 0.0);
    for (std::int64_t a = 0; a < automaton.n_arcs(); ++a) {
        out_arcs[place[automaton.source[a]]++] = static_cast<std::int32_t>(a);
        if (batch.patterns == nullptr) continue;
        for (auto k = automaton.pattern_offsets[a]; k < automaton.pattern_offsets[a + 1]; ++k) {
            weight[a] += batch.patterns[automaton.pattern_ids[k]];
        }
    }
    std::int64_t longest = 0;
    for (std::int64_t b = 0; b < batch.n_sequences; ++b) {
        longest = std::max(longest, batch.offsets[b + 1] - batch.offsets[b]);
    }
    least_left.resize(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms[i].classes != nullptr) continue;
        fill_least(*terms[i].automaton, nullptr, longest, automaton.n_labels, batch.n_durations,
                   least_left[i]);
    }
}

}  // namespace trelliswork
