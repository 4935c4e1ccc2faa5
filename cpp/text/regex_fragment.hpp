// Pieces of a program for regex.cpp, and how they are put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/regex.hpp"

namespace trelliswork {

struct ParsedRegex {
    std::vector<Instruction> program;
    std::vector<CharacterSet> sets;
    bool ignore_case = false;
};

// Both throw RegexError.
ParsedRegex parse_python_regex(std::u32string_view expression);
ParsedRegex parse_wapiti_regex(std::u32string_view expression);

inline constexpr std::size_t most_instructions = 20000;

// Appends instructions; a node is its list of instructions with targets relative to its start, so
// that a repetition can copy it.
struct Fragment {
    std::vector<Instruction> code;

    void append(const Fragment& other) {
        const auto base = static_cast<std::uint32_t>(code.size());
        for (Instruction instruction : other.code) {
            if (instruction.kind == Instruction::Kind::split ||
                instruction.kind == Instruction::Kind::jump) {
                instruction.first += base;
                instruction.second += base;
            }
            code.push_back(instruction);
        }
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(code.size()); }
};

inline Fragment single(Instruction::Kind kind, char32_t character = 0, std::uint32_t first = 0) {
    return {{Instruction{kind, character, first, 0}}};
}

// body?  split(1, end) body
inline Fragment optional(const Fragment& body) {
    Fragment out = single(Instruction::Kind::split);
    out.append(body);
    out.code[0].first = 1;
    out.code[0].second = out.size();
    return out;
}

// body*  split(1, end) body jump(0)
inline Fragment star(const Fragment& body) {
    Fragment out = single(Instruction::Kind::split);
    out.append(body);
    out.append(single(Instruction::Kind::jump));
    out.code.back().first = 0;
    out.code[0].first = 1;
    out.code[0].second = out.size();
    return out;
}

// left|right  split(1, right) left jump(end) right
inline Fragment either(const Fragment& left, const Fragment& right) {
    Fragment out = single(Instruction::Kind::split);
    out.append(left);
    const auto jump = out.size();
    out.append(single(Instruction::Kind::jump));
    out.code[0].first = 1;
    out.code[0].second = out.size();
    out.append(right);
    out.code[jump].first = out.size();
    return out;
}

}  // namespace trelliswork
