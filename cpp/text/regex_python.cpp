// The dialect of Python's re, by recursive descent.
#include <algorithm>
#include <limits>
#include <optional>

#include "text/regex_fragment.hpp"

namespace trelliswork {

namespace {

constexpr int deepest_group = 200;
constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

using Kind = Instruction::Kind;

class PythonParser {
  public:
    explicit PythonParser(std::u32string_view text) : text_(text) {}

    ParsedRegex parse() {
        if (text_.starts_with(U"(?i)")) {
            result_.ignore_case = true;
            at_ = 4;
        }
        Fragment all = alternatives(0);
        if (at_ < text_.size()) fail("unbalanced ')'");
        all.append(single(Kind::match));
        result_.program = std::move(all.code);
        return std::move(result_);
    }

  private:
    bool done() const { return at_ >= text_.size(); }
    bool next_is(char32_t c) const { return !done() && text_[at_] == c; }
    [[noreturn]] void fail(const std::string& message) const { throw RegexError(at_, message); }
    [[noreturn]] void fail_at(std::size_t at, const std::string& message) const {
        throw RegexError(at, message);
    }

    Fragment alternatives(int depth) {
        std::vector<Fragment> options{sequence(depth)};
        while (next_is(U'|')) {
            ++at_;
            options.push_back(sequence(depth));
        }
        Fragment out = std::move(options.back());
        for (std::size_t i = options.size() - 1; i-- > 0;) out = either(options[i], out);
        return limited(std::move(out));
    }

    Fragment sequence(int depth) {
        Fragment out;
        while (!done() && text_[at_] != U'|' && text_[at_] != U')') out.append(repeated(depth));
        return limited(std::move(out));
    }

    Fragment limited(Fragment fragment) const {
        if (fragment.code.size() > most_instructions) fail("the expression is too large");
        return fragment;
    }

    Fragment repeated(int depth) {
        const auto item_at = at_;
        Fragment item = atom(depth);
        const bool is_anchor =
            item.size() == 1 &&
            (item.code[0].kind == Kind::begin || item.code[0].kind == Kind::end) &&
            text_[item_at] != U'(';
        const auto quantifier_at = at_;
        const auto counts = quantifier();
        if (!counts) return item;
        if (is_anchor) fail_at(quantifier_at, "nothing to repeat");
        const auto after = at_;
        if (next_is(U'?') || next_is(U'+') || quantifier()) {
            fail_at(after,
                    "a repetition of a repetition; lazy and possessive ones are not supported");
        }
        return repeat(item, counts->first, counts->second);
    }

    // item{low,high} as low copies followed by nested options (or a star).
    Fragment repeat(const Fragment& item, std::uint32_t low, std::uint32_t high) const {
        const std::size_t copies = high == unlimited ? low + std::size_t{1} : high;
        if (copies * (item.code.size() + 2) > most_instructions) {
            fail("the repetition makes the expression too large");
        }
        Fragment rest;
        if (high == unlimited) {
            rest = star(item);
        } else {
            for (std::uint32_t i = low; i < high; ++i) {
                Fragment longer = item;
                longer.append(rest);
                rest = optional(longer);
            }
        }
        Fragment out;
        for (std::uint32_t i = 0; i < low; ++i) out.append(item);
        out.append(rest);
        return limited(std::move(out));
    }

    std::optional<std::pair<std::uint32_t, std::uint32_t>> quantifier() {
        if (done()) return std::nullopt;
        switch (text_[at_]) {
            case U'*':
                ++at_;
                return {{0, unlimited}};
            case U'+':
                ++at_;
                return {{1, unlimited}};
            case U'?':
                ++at_;
                return {{0, 1}};
            case U'{':
                return braces();
            default:
                return std::nullopt;
        }
    }

    // A brace that opens no count is an ordinary character, as in Python.
    std::optional<std::pair<std::uint32_t, std::uint32_t>> braces() {
        std::size_t i = at_ + 1;
        const auto number = [&]() -> std::optional<std::uint32_t> {
            std::optional<std::uint32_t> value;
            for (; i < text_.size() && text_[i] >= U'0' && text_[i] <= U'9'; ++i) {
                const auto digit = static_cast<std::uint32_t>(text_[i] - U'0');
                value = std::min<std::uint32_t>(value.value_or(0) * 10 + digit, 100000);
            }
            return value;
        };
        const auto low = number();
        auto high = low;
        bool comma = false;
        if (i < text_.size() && text_[i] == U',') {
            comma = true;
            ++i;
            high = number();
        }
        if (i >= text_.size() || text_[i] != U'}' || (!low && !comma)) return std::nullopt;
        if (low && high && *high < *low) fail("the least count is above the greatest");
        at_ = i + 1;
        return {{low.value_or(0), high.value_or(unlimited)}};
    }

    Fragment atom(int depth) {
        const char32_t c = text_[at_];
        switch (c) {
            case U'(':
                return group(depth);
            case U'[':
                return set();
            case U'.':
                ++at_;
                return single(Kind::any);
            case U'^':
                ++at_;
                return single(Kind::begin);
            case U'$':
                ++at_;
                return single(Kind::end);
            case U'*':
            case U'+':
            case U'?':
                fail("nothing to repeat");
            case U'\\': {
                CharacterSet set;
                const auto literal = escape(set);
                return literal ? single(Kind::character, *literal) : add_set(std::move(set));
            }
            default:
                break;
        }
        if (const auto before = at_; c == U'{' && quantifier()) {
            fail_at(before, "nothing to repeat");
        }
        ++at_;
        return single(Kind::character, c);
    }

    Fragment group(int depth) {
        const auto opened = at_++;
        if (depth >= deepest_group) fail_at(opened, "groups are nested too deeply");
        if (next_is(U'?')) {
            if (at_ + 1 >= text_.size() || text_[at_ + 1] != U':') {
                fail_at(opened, "only (…), (?:…) and a leading (?i) are supported");
            }
            at_ += 2;
        }
        Fragment inside = alternatives(depth + 1);
        if (!next_is(U')')) fail_at(opened, "expected ')' to close this group");
        ++at_;
        return inside;
    }

    Fragment add_set(CharacterSet set) {
        result_.sets.push_back(std::move(set));
        return single(Kind::set, 0, static_cast<std::uint32_t>(result_.sets.size() - 1));
    }

    // Reads an escape: a literal character, or nothing and a class added to `set`.
    std::optional<char32_t> escape(CharacterSet& set) {
        const auto started = at_++;
        if (done()) fail_at(started, "a backslash at the end");
        const char32_t c = text_[at_++];
        switch (c) {
            case U'd':
                set.classes.push_back(is_decimal);
                return std::nullopt;
            case U'D':
                set.complements.push_back(is_decimal);
                return std::nullopt;
            case U's':
                set.classes.push_back(is_space);
                return std::nullopt;
            case U'S':
                set.complements.push_back(is_space);
                return std::nullopt;
            case U'w':
                set.classes.push_back(is_alnum);
                set.ranges.emplace_back(U'_', U'_');
                return std::nullopt;
            case U'W':
                set.not_word = true;
                return std::nullopt;
            case U'n':
                return U'\n';
            case U't':
                return U'\t';
            case U'r':
                return U'\r';
            case U'f':
                return U'\f';
            case U'v':
                return U'\v';
            case U'x':
                return hexadecimal(2, started);
            case U'u':
                return hexadecimal(4, started);
            default:
                break;
        }
        const bool is_ascii_alnum =
            (c >= U'0' && c <= U'9') || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
        if (is_ascii_alnum) {
            fail_at(started,
                    "this escape is not supported; known are \\d \\w \\s \\D \\W \\S \\n "
                    "\\t \\r \\f \\v \\xhh \\uhhhh");
        }
        return c;
    }

    char32_t hexadecimal(int n_digits, std::size_t started) {
        char32_t value = 0;
        for (int i = 0; i < n_digits; ++i) {
            const char32_t c = done() ? U'!' : text_[at_++];
            const char32_t digit = c >= U'0' && c <= U'9'   ? c - U'0'
                                   : c >= U'a' && c <= U'f' ? c - U'a' + 10
                                   : c >= U'A' && c <= U'F' ? c - U'A' + 10
                                                            : 16;
            if (digit == 16) fail_at(started, "expected hexadecimal digits");
            value = value * 16 + digit;
        }
        return value;
    }

    Fragment set() {
        const auto opened = at_++;
        CharacterSet out;
        if (next_is(U'^')) {
            out.negated = true;
            ++at_;
        }
        bool is_first = true;
        while (true) {
            if (done()) fail_at(opened, "expected ']' to close this class");
            if (text_[at_] == U']' && !is_first) break;
            is_first = false;
            const auto low_at = at_;
            const auto low = member(out);
            const bool is_range = next_is(U'-') && at_ + 1 < text_.size() && text_[at_ + 1] != U']';
            if (!is_range) {
                if (low) out.ranges.emplace_back(*low, *low);
                continue;
            }
            ++at_;
            const auto high = member(out);
            if (!low || !high || *high < *low)
                fail_at(low_at, "a range needs two characters in order");
            out.ranges.emplace_back(*low, *high);
        }
        ++at_;
        return add_set(std::move(out));
    }

    std::optional<char32_t> member(CharacterSet& out) {
        if (done()) fail("expected ']' to close this class");
        if (text_[at_] == U'\\') return escape(out);
        return text_[at_++];
    }

    std::u32string_view text_;
    std::size_t at_ = 0;
    ParsedRegex result_;
};

}  // namespace

ParsedRegex parse_python_regex(std::u32string_view expression) {
    return PythonParser(expression).parse();
}

}  // namespace trelliswork
