#include "learn/perceptron.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "support/arrays.hpp"

namespace trelliswork {

namespace {

// Labelled sentences, checked once, and passes over them.
class BoundPerceptron {
  public:
    BoundPerceptron(nb::object automaton, In<std::int64_t, 1> offsets,
                    In<std::int64_t, 1> feature_offsets, In<std::int32_t, 1> features,
                    std::optional<In<double, 1>> values, std::int64_t n_features,
                    In<std::int32_t, 1> gold, In<std::int64_t, 1> fired_offsets,
                    In<std::int32_t, 1> fired, In<double, 1> amounts)
        : automaton_(std::move(automaton)),
          offsets_(offsets),
          feature_offsets_(feature_offsets),
          features_(features),
          values_(values),
          gold_(gold),
          fired_offsets_(fired_offsets),
          fired_(fired),
          amounts_(amounts),
          n_features_(n_features) {
        const auto n_tokens = gold.size();
        check_offsets(offsets, n_tokens, "offsets");
        check_offsets(feature_offsets, features.size(), "features: indptr");
        check_offsets(fired_offsets, fired.size(), "fired_offsets");
        require(feature_offsets.size() == n_tokens + 1, "features: expected one row a token");
        require(fired_offsets.size() == n_tokens + 1, "fired_offsets: expected one a token, and 1");
        require(!values || values->size() == features.size(), "features: one value an entry");
        require(amounts.size() + 1 == offsets.size(), "amounts: expected one a sentence");
        check_below(features, n_features, "features");
        check_below(gold, built().n_labels, "gold");
        check_below(fired, built().n_patterns, "fired");
    }

    std::pair<std::int64_t, std::int64_t> pass(
        In<std::int64_t, 1> order, std::int64_t step, Out<double, 2> state,
        Out<double, 2> late_state, Out<double, 1> patterns, Out<double, 1> late_patterns,
        std::optional<In<std::uint8_t, 2>> learned_state,
        std::optional<In<std::uint8_t, 1>> learned_patterns) const {
        const Automaton& automaton = built();
        for (const auto& table : {state, late_state}) {
            require(static_cast<std::int64_t>(table.shape(0)) == n_features_ &&
                        static_cast<int>(table.shape(1)) == automaton.n_labels,
                    "state: expected shape (features, labels)");
        }
        for (const auto& table : {patterns, late_patterns}) {
            require(static_cast<std::int64_t>(table.size()) == automaton.n_patterns,
                    "patterns: expected one weight a pattern");
        }
        require(!learned_state || (learned_state->shape(0) == state.shape(0) &&
                                   learned_state->shape(1) == state.shape(1)),
                "learned_state: expected the shape of state");
        require(!learned_patterns || learned_patterns->size() == patterns.size(),
                "learned_patterns: expected one a pattern");
        check_below(order, static_cast<std::int64_t>(amounts_.size()), "order");
        nb::gil_scoped_release release;
        const LabelledSentences sentences{
            offsets_.data(), {feature_offsets_.data(), features_.data(), data_or_null(values_)},
            gold_.data(),    fired_offsets_.data(),
            fired_.data(),   amounts_.data()};
        const auto counts = perceptron_pass(
            automaton, sentences, order.data(), static_cast<std::int64_t>(order.size()), step,
            {state.data(), late_state.data(), patterns.data(), late_patterns.data(),
             data_or_null(learned_state), data_or_null(learned_patterns)});
        return {counts.mistakes, counts.wrong_tokens};
    }

  private:
    const Automaton& built() const { return nb::cast<const Automaton&>(automaton_); }

    template <class T>
    static void check_below(const In<T, 1>& values, std::int64_t end, const std::string& name) {
        const bool inside = std::all_of(values.data(), values.data() + values.size(),
                                        [&](T value) { return value >= 0 && value < end; });
        require(inside, name + ": out of range");
    }

    nb::object automaton_;
    In<std::int64_t, 1> offsets_, feature_offsets_;
    In<std::int32_t, 1> features_;
    std::optional<In<double, 1>> values_;
    In<std::int32_t, 1> gold_;
    In<std::int64_t, 1> fired_offsets_;
    In<std::int32_t, 1> fired_;
    In<double, 1> amounts_;
    std::int64_t n_features_;
};

}  // namespace

void bind_perceptron(nb::module_& m) {
    nb::class_<BoundPerceptron>(m, "Perceptron")
        .def(nb::init<nb::object, In<std::int64_t, 1>, In<std::int64_t, 1>, In<std::int32_t, 1>,
                      std::optional<In<double, 1>>, std::int64_t, In<std::int32_t, 1>,
                      In<std::int64_t, 1>, In<std::int32_t, 1>, In<double, 1>>(),
             nb::arg("automaton"), nb::arg("offsets"), nb::arg("feature_offsets"),
             nb::arg("features"), nb::arg("values").none(), nb::arg("n_features"), nb::arg("gold"),
             nb::arg("fired_offsets"), nb::arg("fired"), nb::arg("amounts"))
        .def("run", &BoundPerceptron::pass, nb::arg("order"), nb::arg("step"), nb::arg("state"),
             nb::arg("late_state"), nb::arg("patterns"), nb::arg("late_patterns"),
             nb::arg("learned_state").none() = nb::none(),
             nb::arg("learned_patterns").none() = nb::none());
}

}  // namespace trelliswork
