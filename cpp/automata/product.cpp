#include "automata/product.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "automata/pair_index.hpp"
#include "base/require.hpp"

namespace trelliswork {

namespace {

// Indices 0 … n − 1 grouped by key: those of key k are items[offsets[k]] … items[offsets[k + 1]].
struct Groups {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> items;

    Groups(const std::vector<std::int64_t>& keys, std::int64_t n_keys)
        : offsets(static_cast<std::size_t>(n_keys) + 1, 0), items(keys.size()) {
        for (const auto key : keys) ++offsets[static_cast<std::size_t>(key) + 1];
        std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
        auto next = offsets;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            items[next[keys[i]]++] = static_cast<std::int32_t>(i);
        }
    }
};

struct Arc {
    std::int32_t source, label, target, model_arc;
    std::uint64_t guard;

    bool same_way(const Arc& other) const {
        return source == other.source && target == other.target && model_arc == other.model_arc;
    }
};

class Builder {
  public:
    Builder(const Automaton& model, const Language& language, std::int64_t max_arcs)
        : model_(model),
          language_(language),
          max_arcs_(max_arcs),
          leaving_(by_source_and_label(model), model.n_states * std::int64_t{model.n_labels}) {}

    Product build() {
        explore();
        return keep_useful();
    }

  private:
    static std::vector<std::int64_t> by_source_and_label(const Automaton& model) {
        std::vector<std::int64_t> keys(model.source.size());
        for (std::size_t a = 0; a < keys.size(); ++a) {
            keys[a] = std::int64_t{model.source[a]} * model.n_labels + model.label[a];
        }
        return keys;
    }

    // Everything reachable, breadth first. Letters that differ in their class alone are one arc.
    void explore() {
        for (int m = 0; m < model_.n_states; ++m) {
            for (int q = 0; q < language_.n_states; ++q) {
                if (model_.initial[m] > -HUGE_VAL && language_.initial[q]) pairs_.add(m, q);
            }
        }
        const std::int64_t n_labels = model_.n_labels;
        for (std::int64_t head = 0; head < pairs_.size(); ++head) {
            const auto [m, q] = pairs_[head];
            const auto first = arcs_.size();
            for (const auto& letter : language_.leaving(q)) {
                const auto y = static_cast<std::int32_t>(letter.label % n_labels);
                const auto open = std::uint64_t{1} << (letter.label / n_labels);
                const auto cell = m * n_labels + y;
                for (auto j = leaving_.offsets[cell]; j < leaving_.offsets[cell + 1]; ++j) {
                    const auto arc = leaving_.items[j];
                    const auto to = pairs_.add(model_.target[arc], letter.target);
                    arcs_.push_back({static_cast<std::int32_t>(head), y, to, arc, open});
                }
            }
            if (language_.n_labels > n_labels) merge_classes(first);
            if (static_cast<std::int64_t>(arcs_.size()) > max_arcs_ ||
                pairs_.size() > PairIndex::most) {
                throw ProductTooLarge("product: more than " + std::to_string(max_arcs_) + " arcs");
            }
        }
    }

    void merge_classes(std::size_t first) {
        const auto begin = arcs_.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, arcs_.end(), [](const Arc& a, const Arc& b) {
            return std::tie(a.target, a.model_arc) < std::tie(b.target, b.model_arc);
        });
        auto last = begin;
        for (auto arc = begin; arc != arcs_.end(); ++arc) {
            if (arc != begin && arc->same_way(*last)) {
                last->guard |= arc->guard;
            } else {
                if (arc != begin) ++last;
                *last = *arc;
            }
        }
        if (begin != arcs_.end()) arcs_.erase(last + 1, arcs_.end());
    }

    // States from which the end can be reached, numbered by model state, then language state: the
    // states that one label enters are neighbours, which the kernel likes.
    Product keep_useful() {
        std::vector<std::int64_t> targets(arcs_.size());
        for (std::size_t a = 0; a < arcs_.size(); ++a) targets[a] = arcs_[a].target;
        const Groups entering(targets, pairs_.size());
        std::vector<std::int32_t> useful;
        std::vector<std::uint8_t> seen(static_cast<std::size_t>(pairs_.size()), 0);
        for (std::int64_t s = 0; s < pairs_.size(); ++s) {
            const auto [m, q] = pairs_[s];
            if (!(model_.final[m] > -HUGE_VAL) || !language_.final[q]) continue;
            seen[s] = 1;
            useful.push_back(static_cast<std::int32_t>(s));
        }
        for (std::size_t head = 0; head < useful.size(); ++head) {
            const auto s = useful[head];
            for (auto k = entering.offsets[s]; k < entering.offsets[s + 1]; ++k) {
                const auto before = arcs_[entering.items[k]].source;
                if (seen[before]) continue;
                seen[before] = 1;
                useful.push_back(before);
            }
        }
        std::sort(useful.begin(), useful.end(),
                  [this](auto a, auto b) { return pairs_[a] < pairs_[b]; });
        Product found;
        std::vector<std::int32_t> number(seen.size(), -1);
        for (const auto s : useful) {
            number[s] = static_cast<std::int32_t>(found.model_state.size());
            found.model_state.push_back(pairs_[s].first);
            found.language_state.push_back(pairs_[s].second);
        }
        std::erase_if(arcs_,
                      [&](const Arc& a) { return number[a.source] < 0 || number[a.target] < 0; });
        for (auto& arc : arcs_) {
            arc.source = number[arc.source];
            arc.target = number[arc.target];
        }
        std::sort(arcs_.begin(), arcs_.end(), [](const Arc& a, const Arc& b) {
            return std::tie(a.target, a.label, a.source) < std::tie(b.target, b.label, b.source);
        });
        for (const auto& arc : arcs_) {
            found.source.push_back(arc.source);
            found.label.push_back(arc.label);
            found.target.push_back(arc.target);
            found.model_arc.push_back(arc.model_arc);
            found.guard.push_back(arc.guard);
        }
        return found;
    }

    const Automaton& model_;
    const Language& language_;
    std::int64_t max_arcs_;
    Groups leaving_;   // arcs of the model
    PairIndex pairs_;  // (model state, language state)
    std::vector<Arc> arcs_;
};

}  // namespace

Product product(const Automaton& model, const Language& language, int n_classes,
                std::int64_t max_arcs) {
    require(n_classes >= 1 && n_classes <= 64 &&
                language.n_labels == std::int64_t{model.n_labels} * n_classes,
            "language: expected a letter for each label and class, and 1 to 64 classes");
    return Builder(model, language, max_arcs).build();
}

}  // namespace trelliswork
