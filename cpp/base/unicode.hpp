// Code points: UTF-8 in and out, and the character properties that shapes, case and patterns need.
// The properties come from the caller as flat tables, so that the core agrees with the Python it
// runs in and holds no generated data. Surrogates are coded as three bytes, as "surrogatepass"
// does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/vocabulary.hpp"

namespace trelliswork {

enum CharacterClass : std::uint8_t {
    is_upper = 1,
    is_lower = 2,
    is_alpha = 4,
    is_digit = 8,     // superscripts too: the digits of shapes
    is_decimal = 16,  // the matches of \d
    is_alnum = 32,
    is_space = 64,
};

inline constexpr std::size_t n_code_points = 0x110000;

// A table over all code points in two stages: equal blocks of 256 are stored once, which shrinks
// megabytes to a few cache lines per script in use.
template <class Entry>
class CodePointTable {
  public:
    // entries: (n_code_points,)
    explicit CodePointTable(std::span<const Entry> entries) {
        if (entries.size() != n_code_points) {
            throw std::invalid_argument("expected one table entry for every code point");
        }
        StringPool seen;
        for (std::size_t begin = 0; begin < n_code_points; begin += block_size) {
            const auto block = entries.subspan(begin, block_size);
            const auto id = seen.insert(
                {reinterpret_cast<const char*>(block.data()), block_size * sizeof(Entry)});
            const bool is_new = id * block_size > blocks_.size();
            if (is_new) blocks_.insert(blocks_.end(), block.begin(), block.end());
            block_of_.push_back(static_cast<std::uint16_t>(id - 1));
        }
    }

    Entry operator[](char32_t code_point) const {
        return blocks_[block_of_[code_point / block_size] * block_size + code_point % block_size];
    }

  private:
    static constexpr std::size_t block_size = 256;
    std::vector<Entry> blocks_;            // (distinct blocks × 256,)
    std::vector<std::uint16_t> block_of_;  // (n_code_points / 256,)
};

class UnicodeTable {
  public:
    // classes: bits of CharacterClass. lower, upper: distance to the mapped code point, 0 where
    // there is none. expansions: code points whose lower case is longer than one.
    UnicodeTable(std::span<const std::uint8_t> classes, std::span<const std::int32_t> lower,
                 std::span<const std::int32_t> upper,
                 std::unordered_map<char32_t, std::u32string> expansions)
        : classes_(classes), lower_(lower), upper_(upper), expansions_(std::move(expansions)) {}

    bool is(char32_t c, std::uint8_t any_of) const { return (classes_[c] & any_of) != 0; }
    char32_t lower(char32_t c) const { return shifted(c, lower_[c]); }
    char32_t upper(char32_t c) const { return shifted(c, upper_[c]); }

    void append_lower(char32_t c, std::u32string& out) const {
        if (c >= 0x80 && !expansions_.empty()) {
            if (const auto found = expansions_.find(c); found != expansions_.end()) {
                out += found->second;
                return;
            }
        }
        out.push_back(lower(c));
    }

  private:
    static char32_t shifted(char32_t c, std::int32_t distance) {
        return static_cast<char32_t>(static_cast<std::int32_t>(c) + distance);
    }

    CodePointTable<std::uint8_t> classes_;
    CodePointTable<std::int32_t> lower_;
    CodePointTable<std::int32_t> upper_;
    std::unordered_map<char32_t, std::u32string> expansions_;
};

// Appends the code points of `bytes` to `out`. A malformed byte becomes U+FFFD: the decoder never
// reads past the end of any input.
inline void decode_utf8(std::string_view bytes, std::u32string& out) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    for (std::size_t i = 0; i < bytes.size();) {
        const unsigned lead = byte(i);
        const std::size_t length = lead < 0x80                    ? 1
                                   : lead >= 0xF0 && lead <= 0xF4 ? 4
                                   : lead >= 0xE0 && lead < 0xF0  ? 3
                                   : lead >= 0xC2 && lead < 0xE0  ? 2
                                                                  : 0;
        char32_t code_point = length == 1 ? lead : lead & (0x7Fu >> length);
        bool valid = length != 0 && i + length <= bytes.size();
        for (std::size_t k = 1; valid && k < length; ++k) {
            valid = (byte(i + k) & 0xC0u) == 0x80u;
            code_point = (code_point << 6) | (byte(i + k) & 0x3Fu);
        }
        valid = valid && code_point < n_code_points;
        out.push_back(valid ? code_point : U'\uFFFD');
        i += valid ? length : 1;
    }
}

inline void encode_utf8(std::u32string_view text, std::string& out) {
    const auto put = [&](char32_t bits) { out.push_back(static_cast<char>(bits)); };
    for (const char32_t c : text) {
        if (c < 0x80) {
            put(c);
        } else if (c < 0x800) {
            put(0xC0 | (c >> 6));
            put(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            put(0xE0 | (c >> 12));
            put(0x80 | ((c >> 6) & 0x3F));
            put(0x80 | (c & 0x3F));
        } else {
            put(0xF0 | (c >> 18));
            put(0x80 | ((c >> 12) & 0x3F));
            put(0x80 | ((c >> 6) & 0x3F));
            put(0x80 | (c & 0x3F));
        }
    }
}

}  // namespace trelliswork
