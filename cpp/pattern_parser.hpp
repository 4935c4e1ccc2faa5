// From the text of a regular expression to the instructions that pattern.cpp runs.
#pragma once

#include <string_view>
#include <vector>

#include "pattern.hpp"

namespace trelliswork {

struct ParsedPattern {
    std::vector<Instruction> program;
    std::vector<CharacterSet> sets;
    bool ignore_case = false;
};

ParsedPattern parse_python_pattern(std::u32string_view expression);
ParsedPattern parse_wapiti_pattern(std::u32string_view expression);

}  // namespace trelliswork
