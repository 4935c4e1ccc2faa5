#include <cmath>

#include "bound_batch.hpp"

namespace trelliswork {

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
             [](const BoundBatch& self, Out<double, 1> log_z) {
                 require(log_z.size() == self.n_sequences(), "log_z: wrong shape");
                 nb::gil_scoped_release release;
                 log_partition(self.get(), log_z.data());
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
                          Out<std::uint8_t, 2> begins) {
            require(labels.shape(1) == self.n_tokens() && begins.shape(1) == self.n_tokens() &&
                        labels.shape(0) == begins.shape(0),
                    "sample: wrong shape");
            nb::gil_scoped_release release;
            sample(self.get(), static_cast<std::int64_t>(labels.shape(0)), seed, labels.data(),
                   begins.data());
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

}  // namespace trelliswork
