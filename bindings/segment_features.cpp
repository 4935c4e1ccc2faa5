// Features of whole segments: programs and indexes.
#include "text/segment_features.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "support/feature_arrays.hpp"
#include "support/read_features.hpp"

namespace nb = nanobind;
using namespace trelliswork;
using namespace trelliswork::python;

namespace {

using RuleTuple = std::tuple<int, std::uint32_t, std::uint32_t, nb::object>;

std::shared_ptr<SegmentProgram> make_program(std::uint32_t n_columns,
                                             const std::vector<RuleTuple>& rules,
                                             const std::vector<std::pair<nb::list, bool>>& lexicons,
                                             std::shared_ptr<UnicodeTable> unicode) {
    std::vector<SegmentRule> core_rules;
    for (const auto& [source, column, lexicon, name] : rules) {
        if (source < 0 || source > static_cast<int>(SegmentSource::lexicon)) {
            throw nb::value_error("unknown code");
        }
        core_rules.push_back(
            {static_cast<SegmentSource>(source), column, lexicon, text_bytes(name)});
    }
    std::vector<SegmentLexicon> core_lexicons;
    for (const auto& [phrases, ignore_case] : lexicons) {
        core_lexicons.emplace_back(read_phrases(phrases), ignore_case, *unicode);
    }
    return std::make_shared<SegmentProgram>(n_columns, std::move(core_rules),
                                            std::move(core_lexicons), std::move(unicode));
}

void check_columns(const SegmentProgram& program, const TokenBatch& batch) {
    if (batch.columns.size() != program.n_columns) {
        throw nb::value_error("the batch was read for other columns");
    }
}

// (offsets, durations, indices)
nb::tuple as_arrays(SegmentRows rows) {
    std::vector<std::int64_t> offsets(rows.ends.size() + 1, 0);
    std::copy(rows.ends.begin(), rows.ends.end(), offsets.begin() + 1);
    return nb::make_tuple(hand_over<std::int64_t>(std::move(offsets)),
                          hand_over<std::int32_t>(std::move(rows.durations)),
                          hand_over<std::int32_t>(std::move(rows.indices)));
}

nb::dict index_arrays(const SegmentIndex& index) {
    SegmentArrays arrays = index.arrays();
    nb::dict out;
    out["word_bytes"] = hand_over<std::uint8_t>(std::move(arrays.word_bytes));
    out["word_offsets"] = hand_over<std::int64_t>(std::move(arrays.word_offsets));
    out["word_counts"] = hand_over<std::int64_t>(std::move(arrays.word_counts));
    out["step_keys"] = hand_over<std::uint64_t>(std::move(arrays.step_keys));
    out["step_counts"] = hand_over<std::int64_t>(std::move(arrays.step_counts));
    out["node_features"] = hand_over<std::int32_t>(std::move(arrays.node_features));
    out["rule_features"] = hand_over<std::int32_t>(std::move(arrays.rule_features));
    return out;
}

}  // namespace

namespace trelliswork {

void bind_segment_features(nb::module_& m) {
    nb::class_<SegmentProgram>(m, "SegmentProgram", "Compiled templates of whole segments.")
        .def(nb::new_(&make_program), nb::arg("n_columns"), nb::arg("rules"), nb::arg("lexicons"),
             nb::arg("unicode"));

    nb::class_<SegmentIndex>(m, "SegmentIndex", "A program of segments with its vocabulary.")
        .def_static(
            "fit",
            [](std::shared_ptr<SegmentProgram> program, const TokenBatch& batch,
               Input<std::int64_t> starts, Input<std::int64_t> ends, std::int64_t max_duration,
               std::int64_t min_count) {
                check_columns(*program, batch);
                const nb::gil_scoped_release unlocked;
                return std::make_unique<SegmentIndex>(SegmentIndex::fit(std::move(program), batch,
                                                                        {view(starts), view(ends)},
                                                                        max_duration, min_count));
            },
            nb::arg("program"), nb::arg("batch"), nb::arg("starts"), nb::arg("ends"),
            nb::arg("max_duration"), nb::arg("min_count"))
        .def_static(
            "from_arrays",
            [](std::shared_ptr<SegmentProgram> program, Input<std::uint8_t> word_bytes,
               Input<std::int64_t> word_offsets, Input<std::int64_t> word_counts,
               Input<std::uint64_t> step_keys, Input<std::int64_t> step_counts,
               Input<std::int32_t> node_features, Input<std::int32_t> rule_features) {
                const SegmentArrays arrays{copy_of(word_bytes),   copy_of(word_offsets),
                                           copy_of(word_counts),  copy_of(step_keys),
                                           copy_of(step_counts),  copy_of(node_features),
                                           copy_of(rule_features)};
                const nb::gil_scoped_release unlocked;
                return std::make_unique<SegmentIndex>(std::move(program), arrays);
            },
            nb::arg("program"), nb::arg("word_bytes"), nb::arg("word_offsets"),
            nb::arg("word_counts"), nb::arg("step_keys"), nb::arg("step_counts"),
            nb::arg("node_features"), nb::arg("rule_features"))
        .def(
            "transform",
            [](const SegmentIndex& self, const TokenBatch& batch, std::int64_t max_duration,
               int n_workers) {
                check_columns(self.program(), batch);
                return as_arrays([&] {
                    const nb::gil_scoped_release unlocked;
                    return self.transform(batch, max_duration, n_workers);
                }());
            },
            nb::arg("batch"), nb::arg("max_duration"), nb::arg("n_workers"))
        .def(
            "select",
            [](const SegmentIndex& self, Input<std::uint8_t> keep,
               std::shared_ptr<SegmentProgram> program, Input<std::int64_t> origins) {
                return std::make_unique<SegmentIndex>(
                    self.select(view(keep), std::move(program), view(origins)));
            },
            nb::arg("keep"), nb::arg("program"), nb::arg("origins"))
        .def("arrays", &index_arrays)
        .def("names",
             [](const SegmentIndex& self) {
                 const FeatureNames names = self.names();
                 return name_list(names.bytes, names.ends);
             })
        .def("feature_rules",
             [](const SegmentIndex& self) { return hand_over<std::int32_t>(self.feature_rules()); })
        .def_prop_ro("n_features", &SegmentIndex::n_features);
}

}  // namespace trelliswork
