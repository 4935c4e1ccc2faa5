#include <nanobind/stl/string.h>

#include <string>

#include "support/read_features.hpp"

namespace nb = nanobind;

namespace trelliswork::python {

std::string_view utf8(nb::handle text, nb::object& scratch) {
    Py_ssize_t size = 0;
    if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
        return {data, static_cast<std::size_t>(size)};
    }
    PyErr_Clear();
    scratch = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
    if (!scratch.is_valid()) throw nb::python_error();
    char* data = nullptr;
    if (PyBytes_AsStringAndSize(scratch.ptr(), &data, &size) != 0) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

std::string text_bytes(nb::handle text) {
    nb::object scratch;
    return std::string(utf8(text, scratch));
}

std::vector<std::vector<std::string>> read_phrases(nb::list phrases) {
    std::vector<std::vector<std::string>> out;
    for (nb::handle phrase : phrases) {
        out.emplace_back();
        for (nb::handle word : phrase) out.back().push_back(text_bytes(word));
    }
    return out;
}

nb::object python_str(std::string_view text) {
    auto out = nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
    if (!out.is_valid()) throw nb::python_error();
    return out;
}

std::string type_of(nb::handle value) {
    return nb::cast<std::string>(value.type().attr("__name__"));
}

void raise_error(PyObject* type, const std::string& message) {
    PyErr_SetString(type, message.c_str());
    throw nb::python_error();
}

namespace {

[[noreturn]] void raise_template_error(const std::string& message) {
    const nb::object type = nb::module_::import_("trelliswork.errors").attr("TemplateError");
    raise_error(type.ptr(), message);
}

std::string ascii(nb::handle value) {
    const auto text = nb::steal(PyObject_ASCII(value.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    return nb::cast<std::string>(text);
}

// Borrowed items of a list or a tuple, without a call of Python code.
class Items {
  public:
    explicit Items(nb::handle sequence)
        : sequence_(sequence.ptr()), is_list_(PyList_Check(sequence_)) {}
    Py_ssize_t size() const { return is_list_ ? PyList_Size(sequence_) : PyTuple_Size(sequence_); }
    nb::handle operator[](Py_ssize_t i) const {
        return is_list_ ? PyList_GetItem(sequence_, i) : PyTuple_GetItem(sequence_, i);
    }

  private:
    PyObject* sequence_;
    bool is_list_;
};

bool is_list_or_tuple(nb::handle value) {
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

// A list or a tuple with the items of any sequence that is not text.
nb::object as_items(nb::handle value, const std::string& where) {
    if (is_list_or_tuple(value)) return nb::borrow(value);
    const bool is_text = PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
    if (is_text || PyDict_Check(value.ptr()) || !PySequence_Check(value.ptr())) {
        raise_error(PyExc_TypeError,
                    where + ": expected a list of tokens, got " + type_of(value) + ".");
    }
    auto list = nb::steal(PySequence_List(value.ptr()));
    if (!list.is_valid()) throw nb::python_error();
    return list;
}

class TokenReader {
  public:
    TokenReader(nb::list keys, const std::vector<Py_ssize_t>& in_rows)
        : keys_(keys), in_rows_(in_rows) {
        batch_.columns.resize(keys.size());
    }

    TokenBatch read(nb::list sentences) {
        for (index_ = 0; index_ < static_cast<Py_ssize_t>(sentences.size()); ++index_) {
            const nb::object sentence = nb::borrow(sentences[index_]);
            length_ = -1;
            if (is_list_or_tuple(sentence) || !nb::hasattr(sentence, "tokens")) {
                read_plain(as_items(sentence, place()));
            } else {
                read_object(sentence);
            }
            batch_.sequences.push_back(batch_.sequences.back() + length_);
        }
        return std::move(batch_);
    }

  private:
    std::string place() const { return "sentence " + std::to_string(index_); }

    void read_plain(const nb::object& sentence) {
        const Items items(sentence);
        if (items.size() > 0 && is_list_or_tuple(items[0])) {
            for (std::size_t c = 0; c < keys_.size(); ++c) read_rows(items, c);
            length_ = items.size();
            return;
        }
        length_ = items.size();
        for (std::size_t c = 0; c < keys_.size(); ++c) {
            if (!keys_[c].is_none() && length_ > 0) {
                raise_template_error(
                    place() + " has no column " + ascii(keys_[c]) +
                    ": it is a list of tokens only. Give (token, …) rows or a "
                    "Sentence with that column, or templates that do not read it.");
            }
            read_column(items, c);
        }
    }

    // Sentences of (token, …) rows.
    void read_rows(const Items& rows, std::size_t c) {
        const Py_ssize_t field = in_rows_[c];
        if (field < 0) {
            raise_template_error(place() + ": column " + ascii(keys_[c]) +
                                 " has no known place in (token, …) rows. Give a Sentence with "
                                 "named columns, or number the columns in the templates: %x[0,1].");
        }
        for (Py_ssize_t t = 0; t < rows.size(); ++t) {
            if (!is_list_or_tuple(rows[t])) {
                raise_error(PyExc_TypeError, place() + ", position " + std::to_string(t) +
                                                 ": expected a (token, …) row as before, got " +
                                                 type_of(rows[t]) + ".");
            }
            const Items row(rows[t]);
            if (field >= row.size()) {
                raise_template_error(place() + ", position " + std::to_string(t) + ": column " +
                                     ascii(keys_[c]) + " is missing, the row has " +
                                     std::to_string(row.size()) + " columns.");
            }
            append(batch_.columns[c], row[field], t);
        }
    }

    // Objects with .tokens and .columns, a mapping from names to sequences.
    void read_object(const nb::object& sentence) {
        const nb::object tokens = as_items(sentence.attr("tokens"), place());
        length_ = Items(tokens).size();
        for (std::size_t c = 0; c < keys_.size(); ++c) {
            if (keys_[c].is_none()) {
                read_column(Items(tokens), c);
                continue;
            }
            const nb::object values = as_items(find_column(sentence, keys_[c]), place());
            if (Items(values).size() != length_) {
                raise_template_error(place() + ": column " + ascii(keys_[c]) + " has " +
                                     std::to_string(Items(values).size()) + " values for " +
                                     std::to_string(length_) + " tokens.");
            }
            read_column(Items(values), c);
        }
    }

    nb::object find_column(const nb::object& sentence, nb::handle key) const {
        const nb::object columns = nb::getattr(sentence, "columns", nb::dict());
        if (!PyLong_Check(key.ptr())) {
            auto found = nb::steal(PyObject_GetItem(columns.ptr(), key.ptr()));
            if (found.is_valid()) return found;
            if (!PyErr_ExceptionMatches(PyExc_KeyError)) throw nb::python_error();
            PyErr_Clear();
        }
        const nb::list names(columns);
        if (PyLong_Check(key.ptr()) && nb::cast<std::size_t>(key) < names.size()) {
            return columns[names[nb::cast<std::size_t>(key)]];
        }
        raise_template_error(place() + " has no column " + ascii(key) + "; it has " + ascii(names) +
                             ".");
    }

    void read_column(const Items& items, std::size_t c) {
        for (Py_ssize_t t = 0; t < length_; ++t) append(batch_.columns[c], items[t], t);
    }

    void append(TokenColumn& column, nb::handle token, Py_ssize_t t) {
        if (!PyUnicode_Check(token.ptr())) {
            raise_error(PyExc_TypeError, place() + ", position " + std::to_string(t) +
                                             ": expected a str, got " + type_of(token) + ".");
        }
        const std::string_view text = utf8(token, scratch_);
        column.bytes.insert(column.bytes.end(), text.begin(), text.end());
        column.offsets.push_back(static_cast<std::int64_t>(column.bytes.size()));
    }

    nb::list keys_;
    const std::vector<Py_ssize_t>& in_rows_;
    TokenBatch batch_;
    Py_ssize_t index_ = 0;
    Py_ssize_t length_ = 0;
    nb::object scratch_;
};

}  // namespace

TokenBatch read_tokens(nb::list sentences, nb::list keys, const std::vector<Py_ssize_t>& in_rows) {
    if (keys.size() != in_rows.size()) throw nb::value_error("one place in rows a column");
    return TokenReader(keys, in_rows).read(sentences);
}

}  // namespace trelliswork::python
