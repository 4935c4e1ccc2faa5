#include "automata/automaton.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/require.hpp"

namespace trelliswork {

namespace {

constexpr int kMostClasses = 64;
constexpr double kNoWeight = -HUGE_VAL;

// The fault of arc i, or null.
const char* fault_of(const Automaton& a, std::size_t i) {
    if (a.source[i] < 0 || a.source[i] >= a.n_states) return "no such source state";
    if (a.target[i] < 0 || a.target[i] >= a.n_states) return "no such target state";
    if (a.label[i] < 0 || a.label[i] >= a.n_labels) return "no such label";
    if (a.pattern_offsets[i] > a.pattern_offsets[i + 1]) return "pattern_offsets must not decrease";
    if (i > 0 && std::tie(a.target[i - 1], a.label[i - 1], a.source[i - 1]) >=
                     std::tie(a.target[i], a.label[i], a.source[i])) {
        return "arcs must be distinct and sorted by (target, label, source)";
    }
    return nullptr;
}

void check_arcs(const Automaton& a) {
    const auto n = a.source.size();
    require(a.n_states > 0 && a.n_labels >= 0 && a.n_patterns >= 0,
            "n_states must be at least 1, n_labels and n_patterns at least 0");
    require(a.label.size() == n && a.target.size() == n,
            "source, label and target must have one entry an arc");
    require(a.pattern_offsets.size() == n + 1 && a.pattern_offsets.front() == 0 &&
                a.pattern_offsets.back() == static_cast<std::int64_t>(a.pattern_ids.size()),
            "pattern_offsets must run from 0 to the number of pattern ids");
    require(a.initial.size() == static_cast<std::size_t>(a.n_states) &&
                a.final.size() == static_cast<std::size_t>(a.n_states),
            "initial and final must have one entry a state");
    // Messages are made where one is needed: products have millions of arcs.
    for (std::size_t i = 0; i < n; ++i) {
        if (const auto* fault = fault_of(a, i)) {
            throw std::invalid_argument("arc " + std::to_string(i) + ": " + fault);
        }
    }
    for (const auto id : a.pattern_ids) {
        if (id < 0 || id >= a.n_patterns) {
            throw std::invalid_argument("pattern " + std::to_string(id) + " does not exist");
        }
    }
    require(a.n_classes >= 1 && a.n_classes <= kMostClasses,
            "n_classes must be 1 to " + std::to_string(kMostClasses));
    require(a.guards.size() == n || (a.guards.empty() && a.n_classes == 1),
            "guards must have one entry an arc");
    require(a.contexts.empty() || a.contexts.size() == static_cast<std::size_t>(a.n_states),
            "contexts must have one entry a state");
    for (const auto context : a.contexts) {
        require(context >= 0 && context < a.n_states,
                "contexts must be at least 0 and below the number of states");
    }
    require(a.parents.empty() || a.parents.size() == static_cast<std::size_t>(a.n_states),
            "parents must have one entry a state");
    for (std::size_t s = 0; s < a.parents.size(); ++s) {
        // A chain of parents that does not end would pass more states than there are.
        auto above = a.parents[s];
        for (int steps = 0; above >= 0; ++steps) {
            require(above < a.n_states && steps < a.n_states, "parents must form a forest");
            above = a.parents[above];
        }
    }
    for (int s = 0; s < a.n_states; ++s) {
        if (!(a.initial[s] < HUGE_VAL) || !(a.final[s] < HUGE_VAL)) {  // NaN too
            throw std::invalid_argument("state " + std::to_string(s) +
                                        ": initial and final weights must be below +inf");
        }
    }
}

bool has_chain_shape(const Automaton& a) {
    const std::int64_t n_labels = a.n_labels;
    if (a.n_states != n_labels + 1 || a.n_arcs() != n_labels * (n_labels + 1) ||
        a.n_patterns != n_labels * n_labels || !a.guards.empty()) {
        return false;
    }
    for (int s = 0; s < a.n_states; ++s) {
        if (a.final[s] != 0.0 || (s == 0 ? a.initial[s] != 0.0 : a.initial[s] > -HUGE_VAL)) {
            return false;
        }
    }
    for (std::int64_t i = 0; i < a.n_arcs(); ++i) {
        const auto fired = a.pattern_offsets[i + 1] - a.pattern_offsets[i];
        if (a.target[i] != a.label[i] + 1) return false;
        if (a.source[i] == 0) {
            if (fired != 0) return false;
        } else if (fired != 1 || a.pattern_ids[a.pattern_offsets[i]] !=
                                     (a.source[i] - 1) * n_labels + a.label[i]) {
            return false;
        }
    }
    return true;
}

// Whether states of one context do fire the same patterns by the same label.
bool contexts_hold(const Automaton& a) {
    const auto n_contexts =
        a.contexts.empty() ? 0 : *std::max_element(a.contexts.begin(), a.contexts.end()) + 1;
    std::vector<std::int64_t> first(static_cast<std::size_t>(n_contexts) * a.n_labels, -1);
    for (std::int64_t i = 0; i < a.n_arcs(); ++i) {
        const auto context = a.contexts[a.source[i]];
        auto& known = first[static_cast<std::size_t>(context) * a.n_labels + a.label[i]];
        if (known < 0) known = i;
        const auto* ids = a.pattern_ids.data();
        if (!std::equal(ids + a.pattern_offsets[i], ids + a.pattern_offsets[i + 1],
                        ids + a.pattern_offsets[known], ids + a.pattern_offsets[known + 1])) {
            return false;
        }
    }
    return true;
}

// |R_n| for R_0 = initial states, R_{n+1} = successors of R_n, up to where R stays the same, and
// |R_1 ∪ … ∪ R_n|.
void count_reached(Automaton& a) {
    constexpr std::size_t most_rounds = 64;
    constexpr std::int64_t most_work = 20'000'000;  // arcs looked at
    std::vector<std::uint8_t> now(static_cast<std::size_t>(a.n_states));
    for (int s = 0; s < a.n_states; ++s) now[s] = a.initial[s] > kNoWeight;
    std::vector<std::int64_t> counts{std::count(now.begin(), now.end(), 1)};
    std::vector<std::uint8_t> met(now.size(), 0);
    std::vector<std::int64_t> met_counts{0};
    while (counts.size() < most_rounds &&
           static_cast<std::int64_t>(counts.size()) * a.n_arcs() < most_work) {
        std::vector<std::uint8_t> next(now.size(), 0);
        for (std::int64_t i = 0; i < a.n_arcs(); ++i) {
            if (now[a.source[i]]) met[a.target[i]] = next[a.target[i]] = 1;
        }
        counts.push_back(std::count(next.begin(), next.end(), 1));
        met_counts.push_back(std::count(met.begin(), met.end(), 1));
        if (next == now) {
            a.n_reached = std::move(counts);
            a.n_reached_within = std::move(met_counts);
            return;
        }
        now = std::move(next);
    }
    a.n_reached.clear();
    a.n_reached_within.clear();
}

}  // namespace

void Automaton::finish() {
    check_arcs(*this);
    step_label.clear();
    step_target.clear();
    step_offsets.clear();
    for (std::int64_t i = 0; i < n_arcs(); ++i) {
        if (i == 0 || target[i] != target[i - 1] || label[i] != label[i - 1]) {
            step_label.push_back(label[i]);
            step_target.push_back(target[i]);
            step_offsets.push_back(i);
        }
    }
    step_offsets.push_back(n_arcs());
    state_offsets.assign(static_cast<std::size_t>(n_states) + 1, 0);
    for (const auto state : step_target) ++state_offsets[static_cast<std::size_t>(state) + 1];
    for (int s = 0; s < n_states; ++s) state_offsets[s + 1] += state_offsets[s];
    is_chain = has_chain_shape(*this);
    best_final = *std::max_element(final.begin(), final.end());
    most_fired = 0.0;
    for (std::int64_t i = 0; i < n_arcs(); ++i) {
        most_fired =
            std::max(most_fired, static_cast<double>(pattern_offsets[i + 1] - pattern_offsets[i]));
    }
    count_reached(*this);
    require(contexts.empty() || contexts_hold(*this),
            "contexts: states of one context must fire the same patterns by the same label");
    // Guards are of arcs, not of contexts: no table can be shared.
    blocks = Blocks();
    forest = Forest(*this);
    if (forest.empty()) {
        blocks = Blocks(step_offsets, step_label, source,
                        guards.empty() ? contexts : std::vector<std::int32_t>{});
        step_port = blocks.port;
    }
    n_ports = forest.empty() ? blocks.n_ports : forest.n_ports;
    one_step = true;
    state_port.assign(static_cast<std::size_t>(n_states), static_cast<int>(n_ports));
    state_label.assign(static_cast<std::size_t>(n_states), 0);
    for (int s = 0; s < n_states; ++s) {
        const auto g = state_offsets[s];
        one_step &= state_offsets[s + 1] - g <= 1;
        if (state_offsets[s + 1] == g) continue;
        state_port[s] = step_port[g];
        state_label[s] = step_label[g];
    }
    state_runs.clear();
    for (int s = 0; s < n_states; ++s) {
        if (s == 0 || state_label[s] != state_label[s - 1]) {
            state_runs.push_back({s, s, state_label[s], state_port[s]});
        }
        auto& run = state_runs.back();
        if (run.port >= 0 && state_port[s] != run.port + (s - run.first)) run.port = -1;
        run.last = s + 1;
    }
}

}  // namespace trelliswork
