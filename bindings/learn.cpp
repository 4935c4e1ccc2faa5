#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "learn/feature_weights.hpp"
#include "learn/objective.hpp"
#include "learn/online.hpp"
#include "support/arrays.hpp"
#include "support/interrupt.hpp"

namespace trelliswork {

namespace {

constexpr std::ptrdiff_t kTokensAtATime = 256;

// A CSR matrix of tokens × features, checked, that keeps its arrays alive.
class BoundRows {
  public:
    BoundRows(In<std::int64_t, 1> offsets, In<std::int32_t, 1> features,
              std::optional<In<double, 1>> values)
        : offsets_(offsets), features_(features), values_(values) {
        check_offsets(offsets, features.size(), "features: indptr");
        require(!values || values->size() == features.size(), "features: one value an entry");
        const auto* end = features.data() + features.size();
        if (features.size() > 0) {
            const auto [low, high] = std::minmax_element(features.data(), end);
            require(*low >= 0, "features: indices must not be negative");
            largest_ = *high;
        }
    }

    TokenFeatures get() const { return {offsets_.data(), features_.data(), data_or_null(values_)}; }
    std::int64_t n_tokens() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
    std::int64_t largest() const { return largest_; }

  private:
    In<std::int64_t, 1> offsets_;
    In<std::int32_t, 1> features_;
    std::optional<In<double, 1>> values_;
    std::int64_t largest_ = -1;
};

FeatureLayout make_layout(int n_outputs, const In<std::int64_t, 1>& pair_offsets,
                          const In<std::int32_t, 1>& pair_outputs) {
    return {n_outputs, copy_of(pair_offsets), copy_of(pair_outputs)};
}

// Weights ready for scoring: immutable, so that threads can share one.
class FeatureScorer {
  public:
    FeatureScorer(int n_outputs, const In<std::int64_t, 1>& pair_offsets,
                  const In<std::int32_t, 1>& pair_outputs, const In<double, 1>& weights)
        : layout_(make_layout(n_outputs, pair_offsets, pair_outputs)) {
        require(static_cast<std::int64_t>(weights.size()) == layout_.n_pairs(),
                "weights: expected one a pair");
        slots_.assign(static_cast<std::size_t>(layout_.n_slots()), 0.0);
        layout_.spread(weights.data(), slots_.data());
    }

    void score(const BoundRows& rows, Out<double, 2> out, int n_jobs) const {
        require(rows.largest() < layout_.n_features(), "features: index out of range");
        require(static_cast<std::int64_t>(out.shape(0)) == rows.n_tokens() &&
                    static_cast<int>(out.shape(1)) == layout_.n_outputs(),
                "out: wrong shape");
        nb::gil_scoped_release release;
        const auto n_blocks = (rows.n_tokens() + kTokensAtATime - 1) / kTokensAtATime;
        std::vector<SplitFeatures> split(static_cast<std::size_t>(std::max(1, n_jobs)));
        parallel_for(n_jobs, n_blocks, 1, [&](int worker, std::ptrdiff_t block) {
            auto& mine = split[static_cast<std::size_t>(worker)];
            const auto first = block * kTokensAtATime;
            const auto last = std::min(first + kTokensAtATime, rows.n_tokens());
            mine.clear();
            layout_.split(rows.get(), first, last, mine);
            layout_.score(mine, 0, last - first, slots_.data(),
                          out.data() + first * layout_.n_outputs());
        });
    }

  private:
    FeatureLayout layout_;
    std::vector<double> slots_;
};

// Segments with features lie inside their sequences and are not longer than D.
void check_segments(const TrainingData& data, const std::vector<std::int64_t>& segment_offsets,
                    const std::vector<std::int32_t>& durations) {
    for (std::size_t b = 0; b + 1 < data.offsets.size(); ++b) {
        for (auto t = data.offsets[b]; t < data.offsets[b + 1]; ++t) {
            for (auto k = segment_offsets[t]; k < segment_offsets[t + 1]; ++k) {
                require(durations[k] >= 1 && durations[k] <= data.n_durations &&
                            durations[k] <= t - data.offsets[b] + 1,
                        "segment_durations: a segment leaves its sequence, or is too long");
            }
        }
    }
}

using Fired = std::tuple<In<std::int64_t, 1>, In<std::int32_t, 1>>;
using Segments = std::tuple<In<std::int64_t, 1>, In<std::int32_t, 1>>;

// A caller's data beside the features, checked; M masks a token, see forbid_segments.
TrainingData read_data(const Automaton& automaton, const In<std::int64_t, 1>& offsets,
                       const In<std::int32_t, 1>& gold,
                       const std::optional<In<std::uint8_t, 1>>& begins, const Fired& gold_patterns,
                       const std::optional<In<std::uint8_t, 3>>& allowed,
                       const std::optional<In<double, 1>>& weights,
                       const std::optional<In<std::uint8_t, 1>>& classes,
                       const std::optional<In<std::uint8_t, 3>>& open, int n_durations,
                       const std::optional<In<std::int32_t, 1>>& longest) {
    const auto& [fired_offsets, fired] = gold_patterns;
    TrainingData data;
    const auto n_labels = automaton.n_labels;
    const auto n_tokens = gold.size();
    check_offsets(offsets, n_tokens, "offsets");
    check_offsets(fired_offsets, fired.size(), "fired_offsets");
    require(fired_offsets.size() == n_tokens + 1, "fired_offsets: expected one a token, and one");
    for (std::size_t i = 0; i < fired.size(); ++i) {
        require(fired(i) >= 0 && fired(i) < automaton.n_patterns, "fired: no such pattern");
    }
    for (std::size_t i = 0; i < n_tokens; ++i) {
        require(gold(i) < n_labels && (gold(i) >= 0 || allowed), "gold: label out of range");
    }
    require(!begins || begins->size() == n_tokens, "begins: expected one a token");
    require(!weights || weights->size() + 1 == offsets.size(), "weights: one a sequence");
    const auto is_mask = [&](const In<std::uint8_t, 3>& mask) {
        return mask.shape(0) == n_tokens && (mask.shape(1) == 1 || mask.shape(1) == 2) &&
               mask.shape(2) == static_cast<std::size_t>(n_labels);
    };
    require(!allowed || is_mask(*allowed), "allowed: wrong shape");
    require(!open || is_mask(*open), "open: wrong shape");
    require(!allowed || !open || allowed->shape(1) == open->shape(1),
            "allowed and open: expected as many masks a token");
    require(classes ? classes->size() == n_tokens : automaton.n_classes == 1,
            "classes: expected one a token");
    for (std::size_t i = 0; classes && i < classes->size(); ++i) {
        require((*classes)(i) < automaton.n_classes, "classes: out of range");
    }
    require(n_durations >= 1, "n_durations: expected 1 or more");
    for (std::size_t b = 0; begins && b + 1 < offsets.size(); ++b) {
        std::int64_t length = 0;
        for (auto i = offsets(b); i < offsets(b + 1); ++i) {
            const auto token = static_cast<std::size_t>(i);
            length = (*begins)(token) || gold(token) < 0 ? 1 : length + 1;
            require(length <= n_durations, "begins: a gold segment is longer than n_durations");
        }
    }
    require(!longest || longest->size() == static_cast<std::size_t>(n_labels),
            "longest: expected one a label");
    data.offsets = copy_of(offsets);
    data.gold = copy_of(gold);
    if (begins) data.begins = copy_of(*begins);
    data.fired_offsets = copy_of(fired_offsets);
    data.fired = copy_of(fired);
    if (allowed) data.allowed = copy_of(*allowed);
    if (weights) data.weights = copy_of(*weights);
    if (classes) data.classes = copy_of(*classes);
    if (open) data.open = copy_of(*open);
    const auto& mask = allowed ? allowed : open;
    if (mask) data.n_masks = static_cast<int>(mask->shape(1));
    data.n_durations = n_durations;
    if (longest) data.longest = copy_of(*longest);
    return data;
}

// The automaton and the data that were checked against it.
struct BoundData {
    nb::object automaton;
    std::shared_ptr<const TrainingData> data;
};

std::shared_ptr<FeaturePart> make_part(const BoundRows& rows, int n_outputs,
                                       const In<std::int64_t, 1>& pair_offsets,
                                       const In<std::int32_t, 1>& pair_outputs) {
    auto layout = make_layout(n_outputs, pair_offsets, pair_outputs);
    require(rows.largest() < layout.n_features(), "features: index out of range");
    nb::gil_scoped_release release;
    return std::make_shared<FeaturePart>(std::move(layout), rows.get(), rows.n_tokens());
}

std::unique_ptr<Objective> make_objective(const BoundData& bound,
                                          const std::vector<std::shared_ptr<FeaturePart>>& features,
                                          const In<std::int32_t, 1>& patterns,
                                          std::shared_ptr<FeaturePart> edge,
                                          const std::optional<Segments>& segments) {
    const auto& automaton = nb::cast<const Automaton&>(bound.automaton);
    const auto& data = *bound.data;
    const auto n_tokens = data.offsets.back();
    ModelParts parts;
    require(features.size() == kKinds, "features: expected one part a kind");
    if (segments) {
        const auto& [segment_offsets, durations] = *segments;
        check_offsets(segment_offsets, durations.size(), "segment_offsets");
        require(static_cast<std::int64_t>(segment_offsets.size()) == n_tokens + 1,
                "segment_offsets: expected one a token, and one");
        parts.segment_offsets = copy_of(segment_offsets);
        parts.segment_durations = copy_of(durations);
        check_segments(data, parts.segment_offsets, parts.segment_durations);
    }
    const std::array<std::int64_t, kKinds> n_rows = {
        n_tokens, n_tokens, n_tokens, static_cast<std::int64_t>(parts.segment_durations.size()),
        data.n_durations};
    for (std::size_t k = 0; k < kKinds; ++k) {
        require(!features[k] || (features[k]->layout.n_outputs() == automaton.n_labels &&
                                 features[k]->n_rows() == n_rows[k]),
                "features: wrong shape");
        parts.features[k] = features[k];
    }
    require(
        !edge || (edge->layout.n_outputs() <= automaton.n_patterns && edge->n_rows() == n_tokens &&
                  (!automaton.is_chain || edge->layout.n_outputs() == automaton.n_patterns)),
        "edge features: wrong shape");
    parts.edge = std::move(edge);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        require(patterns(i) >= 0 && patterns(i) < automaton.n_patterns, "patterns: no such one");
    }
    parts.patterns = copy_of(patterns);
    nb::gil_scoped_release release;
    return std::make_unique<Objective>(automaton, bound.data, std::move(parts));
}

void bind_objective(nb::module_& m) {
    nb::class_<BoundRows>(m, "FeatureRows")
        .def(nb::init<In<std::int64_t, 1>, In<std::int32_t, 1>, std::optional<In<double, 1>>>(),
             nb::arg("indptr"), nb::arg("indices"), nb::arg("values").none());

    nb::class_<FeatureScorer>(m, "FeatureScorer")
        .def(nb::init<int, In<std::int64_t, 1>, In<std::int32_t, 1>, In<double, 1>>(),
             nb::arg("n_outputs"), nb::arg("pair_offsets"), nb::arg("pair_outputs"),
             nb::arg("weights"))
        .def("score", &FeatureScorer::score, nb::arg("rows"), nb::arg("out"), nb::arg("n_jobs"));

    nb::class_<FeaturePart>(m, "FeaturePart")
        .def(nb::new_(&make_part), nb::arg("rows"), nb::arg("n_outputs"), nb::arg("pair_offsets"),
             nb::arg("pair_outputs"));

    // fired: offsets (N + 1,) into the patterns that fire with the gold segments.
    nb::class_<BoundData>(m, "TrainingData")
        .def(
            "__init__",
            [](BoundData* self, nb::handle_t<Automaton> automaton,
               const In<std::int64_t, 1>& offsets, const In<std::int32_t, 1>& gold,
               const std::optional<In<std::uint8_t, 1>>& begins, const Fired& fired,
               const std::optional<In<std::uint8_t, 3>>& allowed,
               const std::optional<In<double, 1>>& weights,
               const std::optional<In<std::uint8_t, 1>>& classes,
               const std::optional<In<std::uint8_t, 3>>& open, int n_durations,
               const std::optional<In<std::int32_t, 1>>& longest) {
                auto data = read_data(nb::cast<const Automaton&>(automaton), offsets, gold, begins,
                                      fired, allowed, weights, classes, open, n_durations, longest);
                new (self) BoundData{nb::borrow(automaton),
                                     std::make_shared<const TrainingData>(std::move(data))};
            },
            nb::kw_only(), nb::arg("automaton"), nb::arg("offsets"), nb::arg("gold"),
            nb::arg("begins").none(), nb::arg("fired"), nb::arg("allowed").none(),
            nb::arg("weights").none(), nb::arg("classes").none(), nb::arg("open").none(),
            nb::arg("n_durations"), nb::arg("longest").none());

    // segments: offsets (N + 1,) into the durations of segments that have features of their own.
    nb::class_<Objective>(m, "Objective")
        .def(nb::new_(&make_objective), nb::arg("data"), nb::arg("features"), nb::arg("patterns"),
             nb::arg("edge").none(), nb::arg("segments").none())
        .def_prop_ro("n_parameters", &Objective::n_parameters)
        .def_prop_ro("n_sequences", &Objective::n_sequences)
        .def("gold_counts",
             [](const Objective& self, Out<double, 1> counts) {
                 const auto& found = self.gold_counts();
                 require(counts.size() == found.size(), "gold_counts: wrong shape");
                 std::copy(found.begin(), found.end(), counts.data());
             })
        .def(
            "value_and_grad",
            [](Objective& self, const In<double, 1>& parameters, Out<double, 1> gradient,
               const In<double, 1>& l2, std::int64_t first, std::int64_t last, int n_jobs) {
                const auto n = static_cast<std::size_t>(self.n_parameters());
                require(parameters.size() == n && gradient.size() == n,
                        "value_and_grad: expected " + std::to_string(n) + " parameters");
                require(l2.size() == 1 || l2.size() == n, "l2: expected one, or one a parameter");
                require(0 <= first && first <= last && last <= self.n_sequences(),
                        "value_and_grad: no such range of sequences");
                nb::gil_scoped_release release;
                return self.value_and_grad(parameters.data(), gradient.data(), l2.data(),
                                           l2.size() == 1, first, last, std::max(1, n_jobs));
            },
            nb::arg("parameters"), nb::arg("gradient"), nb::arg("l2"), nb::arg("first"),
            nb::arg("last"), nb::arg("n_jobs"));

    m.def(
        "observed_pairs",
        [](const BoundRows& rows, std::int64_t n_features, int n_labels,
           const In<std::int32_t, 1>& labels, std::optional<In<std::uint8_t, 2>> allowed,
           bool all) {
            require(static_cast<std::int64_t>(labels.size()) == rows.n_tokens(),
                    "labels: expected one a token");
            require(rows.largest() < n_features, "features: index out of range");
            require(!allowed || (allowed->shape(0) == labels.size() &&
                                 allowed->shape(1) == static_cast<std::size_t>(n_labels)),
                    "allowed: wrong shape");
            for (std::size_t i = 0; i < labels.size(); ++i) {
                require(labels(i) < n_labels, "labels: out of range");
            }
            auto pairs =
                std::make_unique<std::pair<std::vector<std::int64_t>, std::vector<std::int32_t>>>();
            {
                nb::gil_scoped_release release;
                observed_pairs(rows.get(), rows.n_tokens(), n_features, n_labels, labels.data(),
                               data_or_null(allowed), all, pairs->first, pairs->second);
            }
            auto* held = pairs.release();
            nb::capsule owner(held, [](void* p) noexcept {
                delete static_cast<
                    std::pair<std::vector<std::int64_t>, std::vector<std::int32_t>>*>(p);
            });
            return std::make_pair(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(
                                      held->first.data(), {held->first.size()}, owner),
                                  nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>(
                                      held->second.data(), {held->second.size()}, owner));
        },
        nb::arg("rows"), nb::arg("n_features"), nb::arg("n_labels"), nb::arg("labels"),
        nb::arg("allowed").none(), nb::arg("all"));
}

bool all_non_negative(const In<double, 1>& values) {
    return std::all_of(values.data(), values.data() + values.size(),
                       [](double value) { return value >= 0.0 && std::isfinite(value); });
}

void check_size(const OnlinePass& pass, std::size_t size) {
    const auto n = pass.objective().n_parameters();
    require(static_cast<std::int64_t>(size) == n,
            "online: expected " + std::to_string(n) + " parameters");
}

std::unique_ptr<OnlinePass> make_pass(Objective& objective, const In<std::int32_t, 1>& groups,
                                      const In<double, 1>& strengths, double l2) {
    require(static_cast<std::int64_t>(groups.size()) == objective.n_parameters(),
            "groups: expected one a parameter");
    for (std::size_t k = 0; k < groups.size(); ++k) {
        require(groups(k) >= -1 && groups(k) < static_cast<std::int64_t>(strengths.size()),
                "groups: no such group");
    }
    require(all_non_negative(strengths), "strengths: expected finite numbers from 0 up");
    require(l2 >= 0.0 && std::isfinite(l2), "l2: expected a finite number from 0 up");
    auto own = copy_of(strengths);
    nb::gil_scoped_release release;
    return std::make_unique<OnlinePass>(objective, groups.data(), std::move(own), l2);
}

double run(OnlinePass& self, const In<std::int64_t, 1>& order, const In<double, 1>& rates) {
    require(self.is_running(), "online: begin has to come first");
    require(order.size() == rates.size(), "rates: expected one a step");
    require(all_non_negative(rates), "rates: expected finite numbers from 0 up");
    for (std::size_t i = 0; i < order.size(); ++i) {
        require(order(i) >= 0 && order(i) < self.objective().n_sequences(),
                "order: no such sequence");
    }
    Interrupt interrupt;
    double loss = 0.0;
    {
        nb::gil_scoped_release release;
        loss = self.run(order.data(), rates.data(), static_cast<std::int64_t>(order.size()),
                        [&] { return interrupt.asked(); });
    }
    interrupt.raise();
    return loss;
}

void bind_online(nb::module_& m) {
    nb::class_<OnlinePass>(m, "OnlinePass")
        .def(nb::new_(&make_pass), nb::arg("objective"), nb::arg("groups"), nb::arg("strengths"),
             nb::arg("l2"), nb::keep_alive<0, 2>())
        .def(
            "begin",
            [](OnlinePass& self, const In<double, 1>& parameters) {
                check_size(self, parameters.size());
                nb::gil_scoped_release release;
                self.begin(parameters.data());
            },
            nb::arg("parameters"))
        .def("run", &run, nb::arg("order"), nb::arg("rates"))
        .def(
            "end",
            [](OnlinePass& self, Out<double, 1> parameters) {
                check_size(self, parameters.size());
                require(self.is_running(), "online: begin has to come first");
                nb::gil_scoped_release release;
                self.end(parameters.data());
            },
            nb::arg("parameters"));
}

}  // namespace

void bind_learn(nb::module_& m) {
    bind_objective(m);
    bind_online(m);
}

}  // namespace trelliswork
