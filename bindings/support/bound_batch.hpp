// A batch as Python hands it over, for all bindings that read one.
#pragma once

#include <nanobind/stl/optional.h>

#include "decoding/lagrangian.hpp"
#include "kernel/inference.hpp"
#include "support/arrays.hpp"

namespace trelliswork {

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

    // Writes the labelling of one sequence to those of all, labels and begins (N,); −1 where there
    // is none.
    void write(std::size_t sequence, const Labelling& path, std::int32_t* labels,
               std::uint8_t* begins) const {
        const auto first = batch_.offsets[sequence];
        if (path.labels.empty()) {
            std::fill_n(labels + first, batch_.offsets[sequence + 1] - first, -1);
            return;
        }
        std::copy(path.labels.begin(), path.labels.end(), labels + first);
        std::copy(path.begins.begin(), path.begins.end(), begins + first);
    }

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

}  // namespace trelliswork
