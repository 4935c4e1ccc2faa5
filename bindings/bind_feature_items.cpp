// Features that come ready-made, by name.
#include <nanobind/nanobind.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>

#include "feature_arrays.hpp"
#include "features_items.hpp"
#include "read_features.hpp"

namespace nb = nanobind;
using namespace trelliswork;
using namespace trelliswork::python;

namespace {

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

}  // namespace

namespace trelliswork {

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

}  // namespace trelliswork
