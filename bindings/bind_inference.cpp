#include <nanobind/stl/optional.h>

#include <cmath>

#include "arrays.hpp"
#include "inference.hpp"

namespace trelliswork {

namespace {

// A checked batch that keeps the arrays and the automaton it points to alive.
class BoundBatch {
  public:
    BoundBatch(nb::object automaton, In<std::int64_t, 1> offsets, In<double, 3> scores,
               std::optional<In<double, 1>> start, std::optional<In<double, 1>> end,
               std::optional<In<std::uint8_t, 3>> allowed, std::optional<In<double, 1>> patterns,
               std::optional<In<double, 2>> positional, std::optional<In<std::uint8_t, 1>> classes,
               std::size_t memory_limit, int n_workers)
        : automaton_(std::move(automaton)),
          offsets_(offsets),
          scores_(scores),
          start_(start),
          end_(end),
          allowed_(allowed),
          patterns_(patterns),
          positional_(positional),
          classes_(classes) {
        const auto& built = nb::cast<const Automaton&>(automaton_);
        const auto n_labels = static_cast<std::size_t>(built.n_labels);
        const auto n_patterns = static_cast<std::size_t>(built.n_patterns);
        require(built.n_labels > 0, "automaton: at least one label is needed");
        require(scores.shape(1) > 0 && scores.shape(2) == n_labels, "scores: wrong shape");
        check_offsets(offsets, scores.shape(0), "offsets");
        require(!start || start->size() == n_labels, "start: wrong shape");
        require(!end || end->size() == n_labels, "end: wrong shape");
        require(!allowed || (allowed->shape(0) == scores.shape(0) && allowed->shape(1) >= 1 &&
                             allowed->shape(1) <= 2 && allowed->shape(2) == n_labels),
                "allowed: wrong shape");
        require(!patterns || patterns->size() == n_patterns, "weights: wrong shape");
        require(!positional || (positional->shape(0) == scores.shape(0) &&
                                positional->shape(1) <= n_patterns &&
                                (!built.is_chain || positional->shape(1) == n_patterns)),
                "position_weights: wrong shape");
        require(classes || built.n_classes == 1, "classes: the automaton has guards, none given");
        require(!classes || classes->size() == scores.shape(0), "classes: wrong shape");
        for (std::size_t i = 0; classes && i < classes->size(); ++i) {
            require((*classes)(i) < built.n_classes, "classes: out of range");
        }
        batch_.automaton = &built;
        batch_.n_sequences = static_cast<std::int64_t>(offsets.size()) - 1;
        batch_.offsets = offsets_.data();
        batch_.n_durations = static_cast<int>(scores.shape(1));
        batch_.phi = scores_.data();
        batch_.start = data_or_null(start_);
        batch_.end = data_or_null(end_);
        batch_.allowed = data_or_null(allowed_);
        if (allowed) batch_.n_masks = static_cast<int>(allowed->shape(1));
        batch_.patterns = data_or_null(patterns_);
        batch_.positional = data_or_null(positional_);
        if (positional) batch_.n_positional = static_cast<int>(positional->shape(1));
        batch_.classes = data_or_null(classes_);
        batch_.memory_limit = memory_limit;
        batch_.n_workers = n_workers < 1 ? 1 : n_workers;
    }

    std::size_t n_tokens() const { return scores_.shape(0); }
    std::size_t n_sequences() const { return static_cast<std::size_t>(batch_.n_sequences); }
    const Batch& get() const { return batch_; }

  private:
    nb::object automaton_;
    In<std::int64_t, 1> offsets_;
    In<double, 3> scores_;
    std::optional<In<double, 1>> start_, end_;
    std::optional<In<std::uint8_t, 3>> allowed_;
    std::optional<In<double, 1>> patterns_;
    std::optional<In<double, 2>> positional_;
    std::optional<In<std::uint8_t, 1>> classes_;
    Batch batch_;
};

}  // namespace

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
