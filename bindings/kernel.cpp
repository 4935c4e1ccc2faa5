#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/threads.hpp"
#include "kernel/layer.hpp"
#include "kernel/segments.hpp"
#include "simd/instruction_set.hpp"
#include "simd/semiring.hpp"
#include "support/arrays.hpp"
#include "support/bound_batch.hpp"

namespace trelliswork {

namespace {

void bind_inference(nb::module_& m) {
    nb::class_<BoundBatch>(m, "Batch")
        .def(nb::init<nb::object, In<std::int64_t, 1>, In<double, 3>, std::optional<In<double, 1>>,
                      std::optional<In<double, 1>>, std::optional<In<std::uint8_t, 3>>,
                      std::optional<In<double, 1>>, std::optional<In<double, 2>>,
                      std::optional<In<std::uint8_t, 1>>, std::size_t, int>(),
             nb::arg("automaton"), nb::arg("offsets"), nb::arg("scores"), nb::arg("start").none(),
             nb::arg("end").none(), nb::arg("allowed").none(), nb::arg("weights").none(),
             nb::arg("position_weights").none(), nb::arg("classes").none(), nb::arg("memory_limit"),
             nb::arg("n_jobs"))
        .def("log_partition",
             [](const BoundBatch& self, Out<double, 1> log_z, Out<double, 1> rest) {
                 require(log_z.size() == self.n_sequences() && rest.size() == self.n_sequences(),
                         "log_partition: wrong shape");
                 nb::gil_scoped_release release;
                 log_partition(self.get(), log_z.data(), rest.data());
             })
        .def(
            "posteriors",
            [](const BoundBatch& self, Out<double, 1> log_z, Out<double, 3> segments,
               Out<double, 1> pattern_counts, std::optional<Out<double, 2>> arcs,
               std::optional<Out<double, 1>> entropy) {
                const Batch& batch = self.get();
                require(
                    log_z.size() == self.n_sequences() &&
                        (!entropy || entropy->size() == self.n_sequences()) &&
                        segments.shape(0) == self.n_tokens() &&
                        segments.shape(1) == static_cast<std::size_t>(batch.n_durations) &&
                        segments.shape(2) == static_cast<std::size_t>(batch.automaton->n_labels) &&
                        pattern_counts.size() ==
                            static_cast<std::size_t>(batch.automaton->n_patterns),
                    "posteriors: wrong shape");
                require(!arcs ||
                            (arcs->shape(0) == self.n_tokens() &&
                             arcs->shape(1) == static_cast<std::size_t>(batch.automaton->n_arcs())),
                        "arcs: wrong shape");
                nb::gil_scoped_release release;
                posteriors(batch, log_z.data(), segments.data(), pattern_counts.data(),
                           data_or_null(arcs), data_or_null(entropy));
            },
            nb::arg("log_z"), nb::arg("segments"), nb::arg("pattern_counts"),
            nb::arg("arcs").none(), nb::arg("entropy").none())
        .def("best_path",
             [](const BoundBatch& self, Out<std::int32_t, 1> labels, Out<std::uint8_t, 1> begins,
                Out<double, 1> scores) {
                 require(labels.size() == self.n_tokens() && begins.size() == self.n_tokens() &&
                             scores.size() == self.n_sequences(),
                         "best_path: wrong shape");
                 nb::gil_scoped_release release;
                 best_path(self.get(), labels.data(), begins.data(), scores.data());
             })
        .def("best_paths",
             [](const BoundBatch& self, Out<std::int32_t, 2> labels, Out<std::uint8_t, 2> begins,
                Out<double, 2> scores) {
                 const auto k = scores.shape(1);
                 require(labels.shape(0) == k && labels.shape(1) == self.n_tokens() &&
                             begins.shape(0) == k && begins.shape(1) == self.n_tokens() &&
                             scores.shape(0) == self.n_sequences(),
                         "best_paths: wrong shape");
                 nb::gil_scoped_release release;
                 best_paths(self.get(), static_cast<std::int64_t>(k), labels.data(), begins.data(),
                            scores.data());
             })
        .def("sample", [](const BoundBatch& self, std::uint64_t seed, Out<std::int32_t, 2> labels,
                          Out<std::uint8_t, 2> begins, Out<double, 1> log_z) {
            require(labels.shape(1) == self.n_tokens() && begins.shape(1) == self.n_tokens() &&
                        labels.shape(0) == begins.shape(0) && log_z.size() == self.n_sequences(),
                    "sample: wrong shape");
            nb::gil_scoped_release release;
            sample(self.get(), static_cast<std::int64_t>(labels.shape(0)), seed, labels.data(),
                   begins.data(), log_z.data());
        });

    // Index of the first NaN or +inf in a flat array, −1 if there is none. (x < inf) is false for
    // both, which keeps the scan one comparison an entry.
    m.def("find_not_a_score", [](const In<double, 1>& values) {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!(values(i) < HUGE_VAL)) return static_cast<std::int64_t>(i);
        }
        return std::int64_t{-1};
    });
}

void bind_segments(nb::module_& m) {
    // φ (N, D, L) of a ragged batch from its parts; `own` (nnz, L) are the scores of single
    // segments, by their last token.
    m.def(
        "segment_scores",
        [](const In<std::int64_t, 1>& offsets, const In<double, 2>& token,
           const std::optional<In<double, 2>>& begin, const std::optional<In<double, 2>>& end,
           const std::optional<In<double, 2>>& by_length, const In<std::int32_t, 1>& longest,
           const std::optional<In<std::int64_t, 1>>& segment_offsets,
           const std::optional<In<std::int32_t, 1>>& durations,
           const std::optional<In<double, 2>>& own, Out<double, 3> out, int n_jobs) {
            const auto n_tokens = token.shape(0);
            const auto n_labels = static_cast<std::int64_t>(token.shape(1));
            const auto n_durations = static_cast<std::int64_t>(out.shape(1));
            const auto fits = [&](const std::optional<In<double, 2>>& part, std::size_t n_rows) {
                return !part || (part->shape(0) == n_rows && part->shape(1) == token.shape(1));
            };
            require(out.shape(0) == n_tokens && out.shape(2) == token.shape(1) &&
                        fits(begin, n_tokens) && fits(end, n_tokens) &&
                        fits(by_length, out.shape(1)) && longest.size() == token.shape(1),
                    "segment_scores: wrong shape");
            check_offsets(offsets, n_tokens, "offsets");
            if (own) {
                require(segment_offsets && durations && fits(own, durations->size()) &&
                            segment_offsets->size() == n_tokens + 1,
                        "segment_scores: wrong shape of the features of segments");
                check_offsets(*segment_offsets, durations->size(), "segment_offsets");
            }
            nb::gil_scoped_release release;
            std::fill_n(out.data(), out.size(), kNegativeInfinity);
            const auto n_sequences = static_cast<std::ptrdiff_t>(offsets.size()) - 1;
            parallel_for(std::max(1, n_jobs), n_sequences, 8, [&](int, std::ptrdiff_t b) {
                const auto first = offsets(static_cast<std::size_t>(b));
                const auto last = offsets(static_cast<std::size_t>(b) + 1);
                SegmentParts parts;
                parts.length = last - first;
                parts.n_durations = n_durations;
                parts.n_labels = n_labels;
                parts.token = token.data() + first * n_labels;
                if (begin) parts.begin = begin->data() + first * n_labels;
                if (end) parts.end = end->data() + first * n_labels;
                parts.by_length = data_or_null(by_length);
                parts.longest = longest.data();
                double* phi = out.data() + first * n_durations * n_labels;
                compose_segments(parts, phi);
                for (auto t = first; own && t < last; ++t) {
                    const auto row = static_cast<std::size_t>(t);
                    for (auto k = (*segment_offsets)(row); k < (*segment_offsets)(row + 1); ++k) {
                        const auto d = (*durations)(static_cast<std::size_t>(k)) - 1;
                        if (d < 0 || d >= n_durations || d > t - first) continue;
                        double* to = phi + ((t - first) * n_durations + d) * n_labels;
                        const double* from = own->data() + k * n_labels;
                        for (std::int64_t y = 0; y < n_labels; ++y) to[y] += from[y];
                    }
                }
            });
        },
        nb::arg("offsets"), nb::arg("token"), nb::arg("begin").none(), nb::arg("end").none(),
        nb::arg("by_length").none(), nb::arg("longest"), nb::arg("segment_offsets").none(),
        nb::arg("durations").none(), nb::arg("own").none(), nb::arg("out"), nb::arg("n_jobs"));
}

// The layout of a padded batch, and the limits on its computation.
struct LayerOptions {
    bool batch_first;
    std::int64_t ignored_tag;
    std::size_t memory_limit;
    int n_workers;
};

// log_z and gold (B,); the gradients of emissions, start, end and transitions, or None.
struct LayerValues {
    nb::object log_z, gold, gradient;
};

template <class Float>
LayerValues run_layer(const Automaton& automaton, const In<Float, 3>& emissions,
                      const std::optional<In<std::int64_t, 2>>& tags,
                      const std::optional<In<std::uint8_t, 2>>& mask, const In<double, 1>& start,
                      const In<double, 1>& end, const In<double, 2>& transitions,
                      const LayerOptions& options, const std::optional<In<double, 1>>& weights,
                      bool with_gradient) {
    const auto n_labels = static_cast<std::size_t>(automaton.n_labels);
    const auto rows = emissions.shape(0), columns = emissions.shape(1);
    const auto n_sequences = options.batch_first ? rows : columns;
    const auto by_row = [&](const auto& array) {
        return array.shape(0) == rows && array.shape(1) == columns;
    };
    require(emissions.shape(2) == n_labels, "emissions: wrong shape");
    require(static_cast<std::size_t>(automaton.n_patterns) == n_labels * n_labels,
            "automaton: needs one pattern a pair of labels");
    require((!tags || by_row(*tags)) && (!mask || by_row(*mask)), "tags, mask: wrong shape");
    require(start.size() == n_labels && end.size() == n_labels &&
                transitions.shape(0) == n_labels && transitions.shape(1) == n_labels,
            "start, end, transitions: wrong shape");
    require(!weights || weights->size() == n_sequences, "weights: wrong shape");
    PaddedBatch batch;
    batch.automaton = &automaton;
    batch.n_sequences = static_cast<std::int64_t>(n_sequences);
    batch.n_positions = static_cast<std::int64_t>(options.batch_first ? columns : rows);
    batch.sequence_stride = options.batch_first ? batch.n_positions : 1;
    batch.position_stride = options.batch_first ? 1 : batch.n_sequences;
    batch.mask = data_or_null(mask);
    batch.tags = data_or_null(tags);
    batch.ignored_tag = options.ignored_tag;
    batch.start = start.data();
    batch.end = end.data();
    batch.transitions = transitions.data();
    batch.memory_limit = options.memory_limit;
    batch.n_workers = options.n_workers;
    const auto log_z = new_array<double>({n_sequences});
    const auto gold = new_array<double>({n_sequences});
    if (!with_gradient) {
        {
            nb::gil_scoped_release release;
            log_likelihood<Float>(batch, emissions.data(), log_z.data(), gold.data(), nullptr);
        }
        return {nb::cast(log_z), nb::cast(gold), nb::none()};
    }
    const auto of_emissions = new_array<Float>({rows, columns, n_labels});
    const auto of_start = new_array<double>({n_labels});
    const auto of_end = new_array<double>({n_labels});
    const auto of_transitions = new_array<double>({n_labels, n_labels});
    {
        const LayerGradient<Float> gradient{data_or_null(weights), of_emissions.data(),
                                            of_start.data(), of_end.data(), of_transitions.data()};
        nb::gil_scoped_release release;
        log_likelihood<Float>(batch, emissions.data(), log_z.data(), gold.data(), &gradient);
    }
    return {nb::cast(log_z), nb::cast(gold),
            nb::make_tuple(of_emissions, of_start, of_end, of_transitions)};
}

template <class Float>
void bind_log_likelihood(nb::module_& m, const char* name) {
    m.def(name, &run_layer<Float>, nb::arg("automaton"), nb::arg("emissions"),
          nb::arg("tags").none(), nb::arg("mask").none(), nb::arg("start"), nb::arg("end"),
          nb::arg("transitions"), nb::arg("options"), nb::arg("weights").none(),
          nb::arg("with_gradient"));
}

void bind_layer(nb::module_& m) {
    nb::class_<LayerOptions>(m, "LayerOptions")
        .def(
            "__init__",
            [](LayerOptions* self, bool batch_first, std::int64_t ignored_tag,
               std::size_t memory_limit, int n_workers) {
                new (self)
                    LayerOptions{batch_first, ignored_tag, memory_limit, std::max(1, n_workers)};
            },
            nb::kw_only(), nb::arg("batch_first"), nb::arg("ignored_tag"), nb::arg("memory_limit"),
            nb::arg("n_jobs"));
    nb::class_<LayerValues>(m, "LayerValues")
        .def_ro("log_z", &LayerValues::log_z)
        .def_ro("gold", &LayerValues::gold)
        .def_ro("gradient", &LayerValues::gradient);
    // Two names: an overload would try to convert, that is copy, before it looks further.
    bind_log_likelihood<float>(m, "log_likelihood_float32");
    bind_log_likelihood<double>(m, "log_likelihood_float64");
}

}  // namespace

void bind_kernel(nb::module_& m) {
    m.def("instruction_set", &instruction_set_name);
    bind_inference(m);
    bind_layer(m);
    bind_segments(m);
}

}  // namespace trelliswork
