// The dialect of Wapiti's pattern files.
#include "text/regex_fragment.hpp"

namespace trelliswork {

namespace {

using Kind = Instruction::Kind;

// One character test of Wapiti's dialect, from its escape letter.
CharacterSet wapiti_class(char32_t letter) {
    CharacterSet set;
    const bool complement = letter >= U'A' && letter <= U'Z';
    std::uint8_t bits = 0;
    switch (complement ? letter - U'A' + U'a' : letter) {
        case U'd':
            bits = is_digit;
            break;
        case U'a':
            bits = is_alpha;
            break;
        case U'w':
            bits = is_alnum;
            break;
        case U'l':
            bits = is_lower;
            break;
        case U'u':
            bits = is_upper;
            break;
        case U's':
            bits = is_space;
            break;
        case U'p':
            (complement ? set.not_punctuation : set.punctuation) = true;
            return set;
        default:
            set.ranges.emplace_back(letter, letter);
            return set;
    }
    (complement ? set.complements : set.classes).push_back(bits);
    return set;
}

}  // namespace

ParsedRegex parse_wapiti_regex(std::u32string_view expression) {
    ParsedRegex out;
    Fragment all;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        Fragment item;
        if (expression[i] == U'^' && i == 0) {
            all.append(single(Kind::begin));
            continue;
        }
        if (expression[i] == U'$' && i + 1 == expression.size()) {
            all.append(single(Kind::end));
            continue;
        }
        if (expression[i] == U'*' || expression[i] == U'?') {
            throw RegexError(i, "nothing to repeat");
        }
        if (expression[i] == U'\\') {
            if (i + 1 == expression.size()) throw RegexError(i, "a backslash at the end");
            out.sets.push_back(wapiti_class(expression[++i]));
            item = single(Kind::set, 0, static_cast<std::uint32_t>(out.sets.size() - 1));
        } else if (expression[i] == U'.') {
            item = single(Kind::any);
        } else {
            item = single(Kind::character, expression[i]);
        }
        const char32_t next = i + 1 < expression.size() ? expression[i + 1] : U'\0';
        if (next == U'*') item = star(item);
        if (next == U'?') item = optional(item);
        if (next == U'*' || next == U'?') ++i;
        all.append(item);
        if (all.size() > most_instructions) throw RegexError(i, "the expression is too large");
    }
    all.append(single(Kind::match));
    out.program = std::move(all.code);
    return out;
}

}  // namespace trelliswork
