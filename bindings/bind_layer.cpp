#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "layer.hpp"

namespace trelliswork {

namespace {

template <class Float>
void bind_log_likelihood(nb::module_& m, const char* name) {
    m.def(
        name,
        [](const Automaton& automaton, const In<Float, 3>& emissions,
           const std::optional<In<std::int64_t, 2>>& tags,
           const std::optional<In<std::uint8_t, 2>>& mask, const In<double, 1>& start,
           const In<double, 1>& end, const In<double, 2>& transitions, bool batch_first,
           std::int64_t ignored_tag, std::size_t memory_limit, int n_workers,
           const Out<double, 1>& log_z, const Out<double, 1>& gold,
           const std::optional<In<double, 1>>& weights,
           const std::optional<Out<Float, 3>>& emission_gradient,
           const std::optional<Out<double, 1>>& start_gradient,
           const std::optional<Out<double, 1>>& end_gradient,
           const std::optional<Out<double, 2>>& transition_gradient) {
            const auto n_labels = static_cast<std::size_t>(automaton.n_labels);
            const auto rows = emissions.shape(0), columns = emissions.shape(1);
            const auto n_sequences = batch_first ? rows : columns;
            const bool all_or_none = emission_gradient.has_value() == start_gradient.has_value() &&
                                     start_gradient.has_value() == end_gradient.has_value() &&
                                     end_gradient.has_value() == transition_gradient.has_value();
            const auto by_row = [&](const auto& array) {
                return array.shape(0) == rows && array.shape(1) == columns;
            };
            const auto square = [&](const auto& array) {
                return array.shape(0) == n_labels && array.shape(1) == n_labels;
            };
            require(emissions.shape(2) == n_labels, "emissions: wrong shape");
            require(static_cast<std::size_t>(automaton.n_patterns) == n_labels * n_labels,
                    "automaton: needs one pattern a pair of labels");
            require((!tags || by_row(*tags)) && (!mask || by_row(*mask)),
                    "tags, mask: wrong shape");
            require(start.size() == n_labels && end.size() == n_labels && square(transitions),
                    "start, end, transitions: wrong shape");
            require(log_z.size() == n_sequences && gold.size() == n_sequences &&
                        (!weights || weights->size() == n_sequences),
                    "log_z, gold, weights: wrong shape");
            require(all_or_none &&
                        (!emission_gradient ||
                         (by_row(*emission_gradient) && emission_gradient->shape(2) == n_labels &&
                          start_gradient->size() == n_labels && end_gradient->size() == n_labels &&
                          square(*transition_gradient))),
                    "gradients: wrong shape");
            PaddedBatch batch;
            batch.automaton = &automaton;
            batch.n_sequences = static_cast<std::int64_t>(n_sequences);
            batch.n_positions = static_cast<std::int64_t>(batch_first ? columns : rows);
            batch.sequence_stride = batch_first ? batch.n_positions : 1;
            batch.position_stride = batch_first ? 1 : batch.n_sequences;
            batch.mask = data_or_null(mask);
            batch.tags = data_or_null(tags);
            batch.ignored_tag = ignored_tag;
            batch.start = start.data();
            batch.end = end.data();
            batch.transitions = transitions.data();
            batch.memory_limit = memory_limit;
            batch.n_workers = n_workers < 1 ? 1 : n_workers;
            const LayerGradient<Float> gradient{
                data_or_null(weights), data_or_null(emission_gradient),
                data_or_null(start_gradient), data_or_null(end_gradient),
                data_or_null(transition_gradient)};
            nb::gil_scoped_release release;
            log_likelihood<Float>(batch, emissions.data(), log_z.data(), gold.data(),
                                  emission_gradient ? &gradient : nullptr);
        },
        nb::arg("automaton"), nb::arg("emissions"), nb::arg("tags").none(), nb::arg("mask").none(),
        nb::arg("start"), nb::arg("end"), nb::arg("transitions"), nb::arg("batch_first"),
        nb::arg("ignored_tag"), nb::arg("memory_limit"), nb::arg("n_jobs"), nb::arg("log_z"),
        nb::arg("gold"), nb::arg("weights").none(), nb::arg("emission_gradient").none(),
        nb::arg("start_gradient").none(), nb::arg("end_gradient").none(),
        nb::arg("transition_gradient").none());
}

}  // namespace

void bind_layer(nb::module_& m) {
    // Two names: an overload would try to convert, that is copy, before it looks further.
    bind_log_likelihood<float>(m, "log_likelihood_float32");
    bind_log_likelihood<double>(m, "log_likelihood_float64");
}

}  // namespace trelliswork
