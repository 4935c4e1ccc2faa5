#include <nanobind/stl/string.h>

#include <cmath>
#include <string>

#include "support/read_features.hpp"

namespace nb = nanobind;

namespace trelliswork::python {

namespace {

constexpr int deepest_dict = 50;

class ItemReader {
  public:
    ItemBatch read(nb::list sequences) {
        for (index_ = 0; index_ < sequences.size(); ++index_) {
            const nb::object sequence = nb::borrow(sequences[index_]);
            if (PyUnicode_Check(sequence.ptr()) || PyDict_Check(sequence.ptr()) ||
                !nb::hasattr(sequence, "__iter__")) {
                raise_error(PyExc_TypeError, "sequence " + std::to_string(index_) +
                                                 ": expected a list of feature dicts, got " +
                                                 type_of(sequence) + ".");
            }
            token_ = 0;
            for (nb::handle token : sequence) {
                if (PyUnicode_Check(token.ptr()) || !nb::hasattr(token, "__iter__")) {
                    raise_error(PyExc_TypeError, place() +
                                                     ": expected a feature dict or a list of "
                                                     "strings, got " +
                                                     type_of(token) + ".");
                }
                read_token("", token, 0);
                batch_.ends.push_back(static_cast<std::int64_t>(batch_.weights.size()));
                ++token_;
            }
            batch_.sequences.push_back(static_cast<std::int64_t>(batch_.ends.size()));
        }
        return std::move(batch_);
    }

  private:
    std::string place() const {
        return "sequence " + std::to_string(index_) + ", position " + std::to_string(token_);
    }

    std::string text_of(nb::handle key) {
        if (!PyUnicode_Check(key.ptr())) {
            raise_error(PyExc_TypeError,
                        place() + ": expected a feature name (str), got " + type_of(key) + ".");
        }
        return std::string(utf8(key, scratch_));
    }

    // A dict, or an iterable of names, whose features are all called prefix + name.
    void read_token(const std::string& prefix, nb::handle token, int depth) {
        if (depth > deepest_dict) {
            raise_error(PyExc_ValueError, place() + ": feature dicts are nested too deeply.");
        }
        if (PyDict_Check(token.ptr())) {
            for (auto [key, value] : nb::borrow<nb::dict>(token)) {
                // Held, because converting a value may run code that changes the dict.
                const nb::object held = nb::borrow(value);
                read_entry(prefix + text_of(key), held, depth);
            }
        } else if (nb::hasattr(token, "items")) {
            for (nb::handle entry : token.attr("items")()) {
                read_entry(prefix + text_of(entry[0]), entry[1], depth);
            }
        } else {
            for (nb::handle name : token) {
                const std::string full = prefix + text_of(name);
                add(full, 1.0, depth == 0 ? key_size(full) : prefix.size() - 1);
            }
        }
    }

    void read_entry(const std::string& name, nb::handle value, int depth) {
        if (PyUnicode_Check(value.ptr())) {
            add(name + ":" + text_of(value), 1.0, name.size());
        } else if (const double number = PyFloat_AsDouble(value.ptr());
                   number != -1.0 || !PyErr_Occurred()) {
            if (!std::isfinite(number)) {
                raise_error(PyExc_ValueError, place() + ": the value of feature '" + name +
                                                  "' is not a finite number.");
            }
            add(name, number, name.size());
        } else {
            PyErr_Clear();
            if (!nb::hasattr(value, "__iter__") || PyBytes_Check(value.ptr())) {
                raise_error(PyExc_TypeError,
                            place() + ": feature '" + name + "' has a value of type " +
                                type_of(value) +
                                "; expected str, number, bool, dict or a list of str.");
            }
            read_token(name + ":", value, depth + 1);
        }
    }

    // A weight of zero says nothing: the item is left out.
    void add(const std::string& name, double weight, std::size_t key_size) {
        if (weight == 0.0) return;
        batch_.names.bytes.insert(batch_.names.bytes.end(), name.begin(), name.end());
        batch_.names.offsets.push_back(static_cast<std::int64_t>(batch_.names.bytes.size()));
        batch_.key_sizes.push_back(static_cast<std::uint32_t>(key_size));
        batch_.weights.push_back(weight);
        batch_.weighted = batch_.weighted || weight != 1.0;
    }

    ItemBatch batch_;
    std::size_t index_ = 0;
    std::size_t token_ = 0;
    nb::object scratch_;
};

}  // namespace

ItemBatch read_items(nb::list sequences) {
    return ItemReader().read(sequences);
}

}  // namespace trelliswork::python
