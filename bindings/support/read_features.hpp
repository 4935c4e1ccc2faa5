// Reading Python's strings and dicts into flat buffers. The readers need the GIL; their results
// refer to no Python object, so that the work on them can run without.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "text/features.hpp"
#include "text/features_items.hpp"

namespace trelliswork::python {

// The UTF-8 text of a str; surrogates are kept. `scratch` holds the bytes when they are not cached.
std::string_view utf8(nanobind::handle text, nanobind::object& scratch);
// The same, copied.
std::string text_bytes(nanobind::handle text);
// The words of the phrases of a lexicon: a list of lists of str.
std::vector<std::vector<std::string>> read_phrases(nanobind::list phrases);
// The str of UTF-8 text.
nanobind::object python_str(std::string_view text);

// The name of the type of `value`, for messages.
std::string type_of(nanobind::handle value);
[[noreturn]] void raise_error(PyObject* type, const std::string& message);

// sentences: a list. keys: one entry a column, None for the tokens, a name, or a number.
// in_rows: where each column lies in sentences of (token, …) rows, −1 when unknown.
TokenBatch read_tokens(nanobind::list sentences, nanobind::list keys,
                       const std::vector<Py_ssize_t>& in_rows);

// sequences: a list of lists of dicts (or of lists of strings).
ItemBatch read_items(nanobind::list sequences);

}  // namespace trelliswork::python
