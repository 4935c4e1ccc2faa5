// Deterministic automata: the subset construction and the smallest automaton.
#include <algorithm>
#include <numeric>

#include "automata/algebra.hpp"

namespace trelliswork {

namespace {

using Arc = Language::Arc;

// Numbers sets of states in the order in which they are met; members lie in one flat array.
class SubsetIndex {
  public:
    SubsetIndex() : offsets_{0}, slots_(1024, -1) {}

    std::int64_t size() const { return static_cast<std::int64_t>(hashes_.size()); }
    std::span<const std::int32_t> operator[](std::int64_t id) const {
        return {members_.data() + offsets_[id], members_.data() + offsets_[id + 1]};
    }

    std::int32_t add(std::span<const std::int32_t> subset) {
        if (2 * hashes_.size() >= slots_.size()) grow();
        const auto hash = hash_of(subset);
        auto slot = hash & (slots_.size() - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            const auto id = slots_[slot];
            if (hashes_[id] == hash && std::ranges::equal((*this)[id], subset)) return id;
        }
        const auto id = static_cast<std::int32_t>(hashes_.size());
        slots_[slot] = id;
        hashes_.push_back(hash);
        members_.insert(members_.end(), subset.begin(), subset.end());
        offsets_.push_back(members_.size());
        return id;
    }

  private:
    static std::uint64_t hash_of(std::span<const std::int32_t> subset) {
        std::uint64_t hash = subset.size();
        for (const auto member : subset) {
            hash = (hash ^ static_cast<std::uint32_t>(member)) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 29;
        }
        return hash;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        for (std::size_t id = 0; id < hashes_.size(); ++id) {
            auto slot = hashes_[id] & (slots_.size() - 1);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<std::int32_t>(id);
        }
    }

    std::vector<std::int32_t> members_;
    std::vector<std::size_t> offsets_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::int32_t> slots_;
};

// A partition of 0 … n into blocks that can be split by marking elements.
class Partition {
  public:
    explicit Partition(int n)
        : elements_(static_cast<std::size_t>(n)),
          place_(elements_.size()),
          block_(elements_.size(), 0) {
        std::iota(elements_.begin(), elements_.end(), 0);
        std::iota(place_.begin(), place_.end(), 0);
        if (n > 0) add_block(0, n);
    }

    int n_blocks() const { return static_cast<int>(first_.size()); }
    int block_of(int element) const { return block_[element]; }
    std::span<const int> block(int b) const {
        return {elements_.data() + first_[b], elements_.data() + last_[b]};
    }

    void mark(int element) {
        const auto b = block_[element];
        const auto to = first_[b] + marked_[b];
        const auto from = place_[element];
        if (from < to) return;  // marked before
        if (marked_[b]++ == 0) touched_.push_back(b);
        std::swap(elements_[from], elements_[to]);
        place_[elements_[from]] = from;
        place_[elements_[to]] = to;
    }

    // Splits every touched block into its marked and unmarked part; the smaller part becomes the
    // new block, which is what bounds the work by n log n.
    void split() {
        for (const auto b : touched_) {
            const auto middle = first_[b] + marked_[b];
            marked_[b] = 0;
            if (middle == last_[b]) continue;
            const bool marked_is_smaller = middle - first_[b] <= last_[b] - middle;
            const auto from = marked_is_smaller ? first_[b] : middle;
            const auto to = marked_is_smaller ? middle : last_[b];
            (marked_is_smaller ? first_[b] : last_[b]) = middle;
            const auto fresh = add_block(from, to);
            for (auto i = from; i < to; ++i) block_[elements_[i]] = fresh;
        }
        touched_.clear();
    }

  private:
    int add_block(int first, int last) {
        first_.push_back(first);
        last_.push_back(last);
        marked_.push_back(0);
        return n_blocks() - 1;
    }

    std::vector<int> elements_, place_, block_;  // (n,)
    std::vector<int> first_, last_, marked_;     // one entry a block
    std::vector<int> touched_;
};

// Blocks of states that no string tells apart. `a` is deterministic and trimmed. Hopcroft's
// algorithm for partial transition functions: states and arcs are refined by turns. Two arcs stay
// together if they agree in label and in the block of their target, two states if they leave by
// the same blocks of arcs; the first block of states never has to split the arcs.
Partition equivalent_states(const Language& a) {
    const auto n_arcs = static_cast<int>(a.arcs.size());
    Partition states(a.n_states), arcs(n_arcs);
    for (int s = 0; s < a.n_states; ++s) {
        if (a.final[s]) states.mark(s);
    }
    states.split();
    std::vector<int> by_label(a.arcs.size()), by_target(a.arcs.size());
    std::iota(by_label.begin(), by_label.end(), 0);
    std::ranges::stable_sort(by_label, {}, [&](int i) { return a.arcs[i].label; });
    for (int i = 0; i < n_arcs;) {
        const auto label = a.arcs[by_label[i]].label;
        for (; i < n_arcs && a.arcs[by_label[i]].label == label; ++i) arcs.mark(by_label[i]);
        arcs.split();
    }
    std::vector<int> entering(static_cast<std::size_t>(a.n_states) + 1, 0);
    for (const auto& arc : a.arcs) ++entering[arc.target + 1];
    std::partial_sum(entering.begin(), entering.end(), entering.begin());
    auto next = entering;
    for (int i = 0; i < n_arcs; ++i) by_target[next[a.arcs[i].target]++] = i;

    // Once every state is alone nothing can split any more: common, and most of the work.
    const auto unsplit = [&] { return states.n_blocks() < a.n_states; };
    int done_states = 1;
    for (int done_arcs = 0; unsplit() && done_arcs < arcs.n_blocks(); ++done_arcs) {
        for (const auto i : arcs.block(done_arcs)) states.mark(a.arcs[i].source);
        states.split();
        for (; unsplit() && done_states < states.n_blocks(); ++done_states) {
            for (const auto s : states.block(done_states)) {
                for (auto k = entering[s]; k < entering[s + 1]; ++k) arcs.mark(by_target[k]);
            }
            arcs.split();
        }
    }
    return states;
}

}  // namespace

Language renumber(const Language& a) {
    std::vector<std::int32_t> number(static_cast<std::size_t>(a.n_states), -1), order;
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        if (!a.initial[s]) continue;
        number[s] = static_cast<std::int32_t>(order.size());
        order.push_back(s);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const auto& arc : a.leaving(order[i])) {
            if (number[arc.target] >= 0) continue;
            number[arc.target] = static_cast<std::int32_t>(order.size());
            order.push_back(arc.target);
        }
    }
    Language renumbered = a;
    for (std::size_t i = 0; i < order.size(); ++i) {
        renumbered.initial[i] = a.initial[order[i]];
        renumbered.final[i] = a.final[order[i]];
    }
    for (auto& arc : renumbered.arcs) {
        arc = {number[arc.source], arc.label, number[arc.target]};
    }
    renumbered.finish();
    return renumbered;
}

std::optional<Language> determinise(const Language& any, std::int64_t max_states,
                                    std::int64_t max_steps) {
    const auto a = trim(any);
    if (a.is_deterministic()) {
        if (a.n_states > max_states) return std::nullopt;
        return renumber(a);
    }
    SubsetIndex subsets;
    std::vector<std::int32_t> members;
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        if (a.initial[s]) members.push_back(s);
    }
    subsets.add(members);
    Language made;
    made.n_labels = a.n_labels;
    std::vector<std::uint64_t> steps;  // (label, target) of all arcs that leave the subset
    std::int64_t n_steps = 0;
    for (std::int64_t id = 0; id < subsets.size(); ++id) {
        const auto subset = subsets[id];
        steps.clear();
        bool is_final = false;
        for (const auto s : subset) {
            is_final = is_final || a.final[s];
            for (const auto& arc : a.leaving(s)) {
                steps.push_back(static_cast<std::uint64_t>(arc.label) << 32 |
                                static_cast<std::uint32_t>(arc.target));
            }
        }
        n_steps += static_cast<std::int64_t>(steps.size());
        if (n_steps > std::min(max_steps, most_arcs(max_states))) return std::nullopt;
        if (subset.size() > 1) std::sort(steps.begin(), steps.end());
        made.final.push_back(is_final);
        for (std::size_t i = 0; i < steps.size();) {
            const auto label = static_cast<std::int32_t>(steps[i] >> 32);
            members.clear();
            for (; i < steps.size() && static_cast<std::int32_t>(steps[i] >> 32) == label; ++i) {
                const auto target = static_cast<std::int32_t>(steps[i] & 0xFFFFFFFFu);
                if (members.empty() || members.back() != target) members.push_back(target);
            }
            const auto target = subsets.add(members);
            made.arcs.push_back({static_cast<std::int32_t>(id), label, target});
        }
        if (subsets.size() > max_states) return std::nullopt;
    }
    made.n_states = static_cast<int>(subsets.size());
    made.initial.assign(static_cast<std::size_t>(made.n_states), 0);
    made.initial[0] = 1;
    made.finish();
    return made;
}

std::optional<Language> minimise(const Language& any, std::int64_t max_states,
                                 std::int64_t max_steps) {
    const auto made = determinise(any, max_states, max_steps);
    if (!made) return std::nullopt;
    const auto& a = *made;
    const auto blocks = equivalent_states(a);
    Language smallest;
    smallest.n_states = blocks.n_blocks();
    smallest.n_labels = a.n_labels;
    smallest.initial.assign(static_cast<std::size_t>(smallest.n_states), 0);
    smallest.final.assign(static_cast<std::size_t>(smallest.n_states), 0);
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        const auto block = blocks.block_of(s);
        if (a.initial[s]) smallest.initial[block] = 1;
        if (a.final[s]) smallest.final[block] = 1;
        if (blocks.block(block).front() != s) continue;  // one member speaks for all
        for (const auto& arc : a.leaving(s)) {
            smallest.arcs.push_back({block, arc.label, blocks.block_of(arc.target)});
        }
    }
    smallest.finish();
    return renumber(smallest);
}

Language complete(const Language& a) {
    auto completed = a;
    const std::int32_t sink = a.n_states;
    const auto n_labels = a.n_labels;
    for (std::int32_t s = 0; s < a.n_states; ++s) {
        std::int32_t expected = 0;
        for (const auto& arc : a.leaving(s)) {
            for (; expected < arc.label; ++expected) completed.arcs.push_back({s, expected, sink});
            expected = arc.label + 1;
        }
        for (; expected < n_labels; ++expected) completed.arcs.push_back({s, expected, sink});
    }
    const bool has_start = std::ranges::count(a.initial, 0) < a.n_states;
    if (has_start && completed.arcs.size() == a.arcs.size()) return a;
    for (std::int32_t y = 0; y < n_labels; ++y) completed.arcs.push_back({sink, y, sink});
    completed.n_states = a.n_states + 1;
    completed.initial.push_back(!has_start);
    completed.final.push_back(0);
    completed.finish();
    return completed;
}

std::optional<Language> complement(const Language& a, std::int64_t max_states) {
    const auto made = determinise(a, max_states);
    if (!made || std::int64_t{made->n_states} * made->n_labels > most_arcs(max_states)) {
        return std::nullopt;
    }
    auto flipped = complete(*made);
    for (auto& flag : flipped.final) flag = !flag;
    return trim(flipped);
}

}  // namespace trelliswork
