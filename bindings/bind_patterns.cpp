// Regular expressions and the table of characters that they need.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <string>

#include "feature_arrays.hpp"
#include "pattern.hpp"
#include "read_features.hpp"

namespace nb = nanobind;
using namespace trelliswork;
using namespace trelliswork::python;

namespace {

std::u32string code_points(nb::str text) {
    nb::object scratch;
    std::u32string out;
    decode_utf8(utf8(text, scratch), out);
    return out;
}

}  // namespace

namespace trelliswork {

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
        } catch (const PatternError& error) {
            const nb::object args = nb::make_tuple(error.what(), error.column);
            PyErr_SetObject(PyExc_ValueError, args.ptr());
        }
    });

    nb::class_<Pattern>(m, "Pattern", "A regular expression matched in linear time.")
        .def(
            "__init__",
            [](Pattern* self, nb::str expression, bool wapiti,
               std::shared_ptr<UnicodeTable> unicode) {
                new (self) Pattern(code_points(expression),
                                   wapiti ? Dialect::wapiti : Dialect::python, std::move(unicode));
            },
            nb::arg("expression"), nb::arg("wapiti"), nb::arg("unicode"))
        .def("fullmatch",
             [](const Pattern& self, nb::str text) { return self.matches_all(code_points(text)); })
        .def("search", [](const Pattern& self, nb::str text) -> nb::object {
            const auto found = self.find(code_points(text));
            return found ? nb::object(nb::make_tuple(found->begin, found->end)) : nb::none();
        });
}

}  // namespace trelliswork
