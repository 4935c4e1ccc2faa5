// Text operations of templates: lower case and shapes, code point by code point.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/unicode.hpp"

namespace trelliswork {

inline std::u32string lower_case(std::u32string_view text, const UnicodeTable& unicode) {
    std::u32string out;
    for (const char32_t c : text) unicode.append_lower(c, out);
    return out;
}

// Xxxx99-: capitals X, other letters x, digits 9, the rest as it is.
inline std::u32string shape(std::u32string_view text, const UnicodeTable& unicode) {
    std::u32string out(text);
    for (char32_t& c : out) {
        if (unicode.is(c, is_upper)) {
            c = U'X';
        } else if (unicode.is(c, is_lower | is_alpha)) {
            c = U'x';
        } else if (unicode.is(c, is_digit)) {
            c = U'9';
        }
    }
    return out;
}

// Xx9-: the shape with runs collapsed.
inline std::u32string short_shape(std::u32string_view text, const UnicodeTable& unicode) {
    std::u32string out = shape(text, unicode);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace trelliswork
