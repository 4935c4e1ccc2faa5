// Feature extraction by templates: programs, batches of tokens, indexes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>

#include "support/feature_arrays.hpp"
#include "support/read_features.hpp"
#include "text/features.hpp"
#include "text/features_items.hpp"
#include "text/regex.hpp"

namespace trelliswork {

using namespace python;

namespace {

// (state indptr, state indices, edge indptr, edge indices)
nb::tuple as_arrays(ExtractedFeatures features) {
    const nb::tuple state = row_arrays(std::move(features.state));
    const nb::tuple edge = row_arrays(std::move(features.edge));
    return nb::make_tuple(state[0], state[1], edge[0], edge[1]);
}

using AttributeTuple = std::tuple<int, std::uint32_t, std::vector<std::pair<int, std::uint32_t>>,
                                  std::uint32_t, std::uint32_t, bool>;
using TemplateTuple =
    std::tuple<std::vector<std::pair<std::uint32_t, std::int32_t>>, bool, std::uint32_t, nb::list>;

template <class Enum>
Enum checked(int value, Enum last) {
    if (value < 0 || value > static_cast<int>(last)) throw nb::value_error("unknown code");
    return static_cast<Enum>(value);
}

std::shared_ptr<FeatureProgram> make_program(std::uint32_t n_columns,
                                             const std::vector<AttributeTuple>& attributes,
                                             const std::vector<TemplateTuple>& templates,
                                             const std::vector<nb::object>& patterns,
                                             const std::vector<std::pair<nb::list, bool>>& lexicons,
                                             std::shared_ptr<UnicodeTable> unicode) {
    std::vector<Attribute> core_attributes;
    for (const auto& [source, column, operations, argument, second, padded] : attributes) {
        Attribute attribute{checked(source, Source::bias), column, {}, argument, second, padded};
        for (const auto& [operation, parameter] : operations) {
            attribute.operations.push_back({checked(operation, Operation::extract), parameter});
        }
        core_attributes.push_back(std::move(attribute));
    }
    std::vector<Template> core_templates;
    for (const auto& [terms, edge, group, literals] : templates) {
        Template feature{{}, edge, group, {}};
        for (const auto& [attribute, offset] : terms) feature.terms.push_back({attribute, offset});
        for (nb::handle literal : literals) feature.literals.push_back(text_bytes(literal));
        core_templates.push_back(std::move(feature));
    }
    std::vector<Regex> core_patterns;
    for (const auto& pattern : patterns) core_patterns.push_back(nb::cast<Regex&>(pattern));
    std::vector<Lexicon> core_lexicons;
    for (const auto& [phrases, ignore_case] : lexicons) {
        if (!unicode) throw nb::value_error("a lexicon needs the table of characters");
        core_lexicons.emplace_back(read_phrases(phrases), ignore_case, unicode.get());
    }
    return std::make_shared<FeatureProgram>(n_columns, std::move(core_attributes),
                                            std::move(core_templates), std::move(core_patterns),
                                            std::move(core_lexicons), std::move(unicode));
}

void check_columns(const FeatureProgram& program, const TokenBatch& batch) {
    if (batch.columns.size() != program.n_columns) {
        throw nb::value_error("the batch was read for other columns");
    }
}

nb::dict index_arrays(const FeatureIndex& index) {
    FeatureArrays arrays = index.arrays();
    nb::dict out;
    out["value_bytes"] = hand_over<std::uint8_t>(std::move(arrays.value_bytes));
    out["value_offsets"] = hand_over<std::int64_t>(std::move(arrays.value_offsets));
    out["value_counts"] = hand_over<std::int64_t>(std::move(arrays.value_counts));
    out["ngram_keys"] = hand_over<std::uint64_t>(std::move(arrays.ngram_keys));
    out["ngram_counts"] = hand_over<std::int64_t>(std::move(arrays.ngram_counts));
    out["feature_rows"] = hand_over<std::int32_t>(std::move(arrays.rows));
    out["n_features"] =
        hand_over<std::int64_t>(std::vector<std::int64_t>{arrays.n_state, arrays.n_edge});
    return out;
}

void bind_features(nb::module_& m) {
    nb::class_<FeatureProgram>(m, "FeatureProgram", "Compiled feature templates.")
        .def(nb::new_(&make_program), nb::arg("n_columns"), nb::arg("attributes"),
             nb::arg("templates"), nb::arg("patterns"), nb::arg("lexicons"),
             nb::arg("unicode").none());

    nb::class_<TokenBatch>(m, "TokenBatch", "Token columns copied out of Python's strings.")
        .def(nb::new_([](nb::list sentences, nb::list keys, const std::vector<Py_ssize_t>& rows) {
                 return std::make_unique<TokenBatch>(read_tokens(sentences, keys, rows));
             }),
             nb::arg("sentences"), nb::arg("keys"), nb::arg("in_rows"))
        .def("offsets", [](const TokenBatch& self) {
            return hand_over<std::int64_t>(std::vector<std::int64_t>(self.sequences));
        });

    nb::class_<FeatureIndex>(m, "FeatureIndex", "A program with its vocabulary.")
        .def_static(
            "fit",
            [](std::shared_ptr<FeatureProgram> program, const TokenBatch& batch,
               std::int64_t min_count) {
                check_columns(*program, batch);
                auto fitted = [&] {
                    const nb::gil_scoped_release unlocked;
                    return FeatureIndex::fit(std::move(program), batch, min_count);
                }();
                auto index = std::make_unique<FeatureIndex>(std::move(fitted.first));
                return nb::make_tuple(std::move(index), as_arrays(std::move(fitted.second)));
            },
            nb::arg("program"), nb::arg("batch"), nb::arg("min_count"))
        .def_static(
            "from_arrays",
            [](std::shared_ptr<FeatureProgram> program, Input<std::uint8_t> value_bytes,
               Input<std::int64_t> value_offsets, Input<std::int64_t> value_counts,
               Input<std::uint64_t> ngram_keys, Input<std::int64_t> ngram_counts,
               Input<std::int32_t> feature_rows, Input<std::int64_t> n_features) {
                if (n_features.size() != 2) throw nb::value_error("n_features needs two entries");
                const FeatureArrays arrays{copy_of(value_bytes),  copy_of(value_offsets),
                                           copy_of(value_counts), copy_of(ngram_keys),
                                           copy_of(ngram_counts), copy_of(feature_rows),
                                           n_features(0),         n_features(1)};
                const nb::gil_scoped_release unlocked;
                return std::make_unique<FeatureIndex>(std::move(program), arrays);
            },
            nb::arg("program"), nb::arg("value_bytes"), nb::arg("value_offsets"),
            nb::arg("value_counts"), nb::arg("ngram_keys"), nb::arg("ngram_counts"),
            nb::arg("feature_rows"), nb::arg("n_features"))
        .def(
            "transform",
            [](const FeatureIndex& self, const TokenBatch& batch, int n_workers) {
                check_columns(self.program(), batch);
                if (n_workers < 1) throw nb::value_error("expected at least one worker");
                return as_arrays([&] {
                    const nb::gil_scoped_release unlocked;
                    return self.transform(batch, n_workers);
                }());
            },
            nb::arg("batch"), nb::arg("n_workers"))
        .def(
            "select",
            [](const FeatureIndex& self, Input<std::uint8_t> state, Input<std::uint8_t> edge,
               std::shared_ptr<FeatureProgram> program, Input<std::int64_t> origins) {
                return std::make_unique<FeatureIndex>(
                    self.select(view(state), view(edge), std::move(program), view(origins)));
            },
            nb::arg("keep_state"), nb::arg("keep_edge"), nb::arg("program"), nb::arg("origins"))
        .def(
            "live_templates",
            [](const FeatureIndex& self, bool edge, Input<std::uint8_t> keep) {
                return hand_over<std::uint8_t>(self.live_templates(edge, view(keep)));
            },
            nb::arg("edge"), nb::arg("keep"))
        .def("arrays", &index_arrays)
        .def(
            "names",
            [](const FeatureIndex& self, bool edge) {
                const FeatureNames names = self.names(edge);
                return name_list(names.bytes, names.ends);
            },
            nb::arg("edge"))
        .def(
            "feature_templates",
            [](const FeatureIndex& self, bool edge) {
                return hand_over<std::int32_t>(self.feature_templates(edge));
            },
            nb::arg("edge"))
        .def_prop_ro("has_edges",
                     [](const FeatureIndex& self) { return !self.program().edge.empty(); })
        .def_prop_ro("n_state", &FeatureIndex::n_state)
        .def_prop_ro("n_edge", &FeatureIndex::n_edge);
}

// Features that come ready-made, by name.
// (indptr, indices, weights or None)
nb::tuple as_arrays(WeightedRows weighted, bool has_weights) {
    const nb::tuple rows = row_arrays(std::move(weighted.rows));
    nb::object weights = nb::none();
    if (has_weights) {
        weighted.weights.shrink();
        weights = nb::cast(hand_over<double>(std::move(weighted.weights)));
    }
    return nb::make_tuple(rows[0], rows[1], weights);
}

void bind_feature_items(nb::module_& m) {
    nb::class_<ItemBatch>(m, "ItemBatch", "Feature dicts flattened to names and weights.")
        .def(nb::new_([](nb::list sequences) {
                 return std::make_unique<ItemBatch>(read_items(sequences));
             }),
             nb::arg("sequences"))
        .def("offsets", [](const ItemBatch& self) {
            return hand_over<std::int64_t>(std::vector<std::int64_t>(self.sequences));
        });

    nb::class_<ItemIndex>(m, "ItemIndex", "The names of ready-made features.")
        .def(nb::new_([](Input<std::uint8_t> bytes, Input<std::int64_t> offsets) {
                 return std::make_unique<ItemIndex>(view(bytes), view(offsets));
             }),
             nb::arg("name_bytes"), nb::arg("name_offsets"))
        .def_static(
            "fit",
            [](const ItemBatch& batch, std::int64_t min_count) {
                auto fitted = [&] {
                    const nb::gil_scoped_release unlocked;
                    return ItemIndex::fit(batch, min_count);
                }();
                auto index = std::make_unique<ItemIndex>(std::move(fitted.first));
                return nb::make_tuple(std::move(index),
                                      as_arrays(std::move(fitted.second), batch.weighted));
            },
            nb::arg("batch"), nb::arg("min_count"))
        .def(
            "transform",
            [](const ItemIndex& self, const ItemBatch& batch) {
                auto rows = [&] {
                    const nb::gil_scoped_release unlocked;
                    return self.transform(batch);
                }();
                return as_arrays(std::move(rows), batch.weighted);
            },
            nb::arg("batch"))
        .def(
            "select",
            [](const ItemIndex& self, Input<std::uint8_t> keep) {
                return std::make_unique<ItemIndex>(self.select(view(keep)));
            },
            nb::arg("keep"))
        .def("arrays",
             [](const ItemIndex& self) {
                 const auto bytes = self.names().bytes();
                 const auto offsets = self.names().offsets();
                 nb::dict out;
                 out["name_bytes"] =
                     hand_over<std::uint8_t>(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
                 out["name_offsets"] = hand_over<std::int64_t>(
                     std::vector<std::int64_t>(offsets.begin(), offsets.end()));
                 return out;
             })
        .def("names",
             [](const ItemIndex& self) {
                 const auto bytes = self.names().bytes();
                 return name_list({bytes.data(), bytes.size()}, self.names().offsets().subspan(1));
             })
        .def("feature_templates",
             [](const ItemIndex& self) {
                 auto [keys, key_of] = self.feature_keys();
                 const auto bytes = keys.bytes();
                 return nb::make_tuple(
                     name_list({bytes.data(), bytes.size()}, keys.offsets().subspan(1)),
                     hand_over<std::int32_t>(std::move(key_of)));
             })
        .def_prop_ro("n_features", [](const ItemIndex& self) { return self.names().size(); });
}

// Regular expressions and the table of characters that they need.
std::u32string code_points(nb::str text) {
    nb::object scratch;
    std::u32string out;
    decode_utf8(utf8(text, scratch), out);
    return out;
}

void bind_patterns(nb::module_& m) {
    nb::class_<UnicodeTable>(m, "UnicodeTable", "Character classes and case of every code point.")
        .def(
            "__init__",
            [](UnicodeTable* self, Input<std::uint8_t> classes, Input<std::int32_t> lower,
               Input<std::int32_t> upper, nb::dict expansions) {
                std::unordered_map<char32_t, std::u32string> longer;
                for (auto [key, value] : expansions) {
                    longer[static_cast<char32_t>(nb::cast<std::uint32_t>(key))] =
                        code_points(nb::borrow<nb::str>(value));
                }
                new (self) UnicodeTable(view(classes), view(lower), view(upper), std::move(longer));
            },
            nb::arg("classes"), nb::arg("lower"), nb::arg("upper"), nb::arg("expansions"));

    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const RegexError& error) {
            const nb::object args = nb::make_tuple(error.what(), error.column);
            PyErr_SetObject(PyExc_ValueError, args.ptr());
        }
    });

    nb::class_<Regex>(m, "Regex", "A regular expression matched in linear time.")
        .def(
            "__init__",
            [](Regex* self, nb::str expression, bool wapiti,
               std::shared_ptr<UnicodeTable> unicode) {
                new (self) Regex(code_points(expression),
                                 wapiti ? Dialect::wapiti : Dialect::python, std::move(unicode));
            },
            nb::arg("expression"), nb::arg("wapiti"), nb::arg("unicode"))
        .def("fullmatch",
             [](const Regex& self, nb::str text) { return self.matches_all(code_points(text)); })
        .def("search", [](const Regex& self, nb::str text) -> nb::object {
            const auto found = self.find(code_points(text));
            return found ? nb::object(nb::make_tuple(found->begin, found->end)) : nb::none();
        });
}

}  // namespace

void bind_text(nb::module_& m) {
    bind_patterns(m);
    bind_features(m);
    bind_feature_items(m);
}

}  // namespace trelliswork
