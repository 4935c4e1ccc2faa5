// Regular expressions over code points, matched in time linear in the text: the expression becomes
// a nondeterministic automaton whose states are advanced together, so no input can make it
// backtrack or overflow the stack.
//
// Python dialect: literals, \d \w \s \D \W \S, \n \t \r \f \v, \xhh \uhhhh, escaped punctuation,
// [classes], (groups), (?:groups), |, * + ? {m} {m,} {,n} {m,n}, ., ^, $, a leading (?i).
// Wapiti dialect: ., \d \a \w \l \u \p and their complements in upper case, ^ first, $ last, * ?.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unicode.hpp"

namespace trelliswork {

enum class Dialect : std::uint8_t { python, wapiti };

// Thrown for an expression outside the dialect; `column` counts code points from 0.
struct RegexError : std::invalid_argument {
    RegexError(std::size_t column_, const std::string& message)
        : std::invalid_argument(message), column(column_) {}
    std::size_t column;
};

// A set of characters: ranges, unions of classes and of their complements, or all but those.
struct CharacterSet {
    std::vector<std::pair<char32_t, char32_t>> ranges;  // inclusive
    std::vector<std::uint8_t> classes;                  // bits: any of them is enough
    std::vector<std::uint8_t> complements;              // bits: none of them may hold
    bool punctuation = false;                           // neither letter, digit nor space
    bool not_punctuation = false;                       // letter, digit or space
    bool not_word = false;                              // \W: neither letter, digit nor _
    bool negated = false;

    bool contains(char32_t c, bool ignore_case, const UnicodeTable& unicode) const;
};

struct Instruction {
    enum class Kind : std::uint8_t { character, any, set, split, jump, begin, end, match };
    Kind kind = Kind::match;
    char32_t character = 0;    // character
    std::uint32_t first = 0;   // split, jump: next instruction; set: index of the set
    std::uint32_t second = 0;  // split: the other next instruction
};

class Regex {
  public:
    struct Span {
        std::size_t begin;
        std::size_t end;
    };

    Regex(std::u32string_view expression, Dialect dialect,
          std::shared_ptr<const UnicodeTable> unicode);

    bool matches_all(std::u32string_view text) const;
    // The leftmost, then longest match.
    std::optional<Span> find(std::u32string_view text) const;
    bool occurs_in(std::u32string_view text) const;

  private:
    struct Threads;
    template <bool anchored, bool any_is_enough>
    std::optional<Span> run(std::u32string_view text) const;
    void follow(Threads& threads, std::uint32_t at, std::size_t start, std::size_t position,
                std::u32string_view text) const;
    bool consumes(const Instruction& instruction, char32_t c) const;

    std::vector<Instruction> program_;
    std::vector<CharacterSet> sets_;
    bool ignore_case_ = false;
    std::shared_ptr<const UnicodeTable> unicode_;
};

}  // namespace trelliswork
