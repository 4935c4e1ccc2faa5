#include "text/regex.hpp"

#include <utility>

#include "text/regex_fragment.hpp"

namespace trelliswork {

bool CharacterSet::contains(char32_t c, bool ignore_case, const UnicodeTable& unicode) const {
    const auto in_ranges = [&](char32_t x) {
        for (const auto& [low, high] : ranges) {
            if (low <= x && x <= high) return true;
        }
        return false;
    };
    bool found = in_ranges(c);
    if (!found && ignore_case) {
        found = in_ranges(unicode.lower(c)) || in_ranges(unicode.upper(unicode.lower(c)));
    }
    for (std::size_t i = 0; !found && i < classes.size(); ++i) found = unicode.is(c, classes[i]);
    for (std::size_t i = 0; !found && i < complements.size(); ++i) {
        found = !unicode.is(c, complements[i]);
    }
    if (!found && (punctuation || not_punctuation)) {
        found = unicode.is(c, is_alnum | is_space) ? not_punctuation : punctuation;
    }
    if (!found && not_word) found = c != U'_' && !unicode.is(c, is_alnum);
    return found != negated;
}

// The states reached so far, in order of the start of their match, each state once.
struct Regex::Threads {
    struct Thread {
        std::uint32_t at;   // instruction
        std::size_t start;  // where in the text its match began
    };
    std::vector<Thread> list;
    std::vector<std::uint8_t> present;  // (instructions,)
    std::vector<std::uint32_t> marked;  // the instructions set in `present`
    std::vector<std::uint32_t> stack;

    explicit Threads(std::size_t n_instructions) : present(n_instructions) {}
    void clear() {
        for (const auto at : marked) present[at] = 0;
        marked.clear();
        list.clear();
    }
};

Regex::Regex(std::u32string_view expression, Dialect dialect,
             std::shared_ptr<const UnicodeTable> unicode)
    : unicode_(std::move(unicode)) {
    auto parsed = dialect == Dialect::python ? parse_python_regex(expression)
                                             : parse_wapiti_regex(expression);
    program_ = std::move(parsed.program);
    sets_ = std::move(parsed.sets);
    ignore_case_ = parsed.ignore_case;
}

bool Regex::consumes(const Instruction& instruction, char32_t c) const {
    switch (instruction.kind) {
        case Instruction::Kind::character:
            return c == instruction.character ||
                   (ignore_case_ && unicode_->lower(c) == unicode_->lower(instruction.character));
        case Instruction::Kind::any:
            return c != U'\n';
        case Instruction::Kind::set:
            return sets_[instruction.first].contains(c, ignore_case_, *unicode_);
        default:
            return false;
    }
}

// Adds the state `at` and all that it reaches without reading a character.
void Regex::follow(Threads& threads, std::uint32_t at, std::size_t start, std::size_t position,
                   std::u32string_view text) const {
    threads.stack.push_back(at);
    while (!threads.stack.empty()) {
        at = threads.stack.back();
        threads.stack.pop_back();
        if (threads.present[at]) continue;
        threads.present[at] = 1;
        threads.marked.push_back(at);
        const Instruction& instruction = program_[at];
        switch (instruction.kind) {
            case Instruction::Kind::jump:
                threads.stack.push_back(instruction.first);
                break;
            case Instruction::Kind::split:
                threads.stack.push_back(instruction.second);
                threads.stack.push_back(instruction.first);
                break;
            case Instruction::Kind::begin:
                if (position == 0) threads.stack.push_back(at + 1);
                break;
            case Instruction::Kind::end: {
                const auto left = text.size() - position;
                const bool before_last_newline = left == 1 && text.back() == U'\n';
                if (left == 0 || before_last_newline) threads.stack.push_back(at + 1);
                break;
            }
            default:
                threads.list.push_back({at, start});
        }
    }
}

// anchored: a match begins at the first and ends behind the last character.
template <bool anchored, bool any_is_enough>
std::optional<Regex::Span> Regex::run(std::u32string_view text) const {
    Threads current(program_.size());
    Threads next(program_.size());
    std::optional<Span> best;
    for (std::size_t position = 0; position <= text.size(); ++position) {
        // A later start never beats a match already found.
        if (anchored ? position == 0 : !best) follow(current, 0, position, position, text);
        if (current.list.empty() && (anchored || best)) break;
        for (const auto& [at, start] : current.list) {
            if (best && start > best->begin) break;
            const Instruction& instruction = program_[at];
            if (instruction.kind == Instruction::Kind::match) {
                if (anchored && position != text.size()) continue;
                if (any_is_enough) return Span{start, position};
                if (!best || start < best->begin || position > best->end) best = {start, position};
            } else if (position < text.size() && consumes(instruction, text[position])) {
                follow(next, at + 1, start, position + 1, text);
            }
        }
        std::swap(current, next);
        next.clear();
    }
    return best;
}

bool Regex::matches_all(std::u32string_view text) const {
    return run<true, true>(text).has_value();
}

bool Regex::occurs_in(std::u32string_view text) const {
    return run<false, true>(text).has_value();
}

std::optional<Regex::Span> Regex::find(std::u32string_view text) const {
    return run<false, false>(text);
}

}  // namespace trelliswork
