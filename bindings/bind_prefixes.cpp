// Search over prefixes: violation automata of items, and predicates that are Python functions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bound_batch.hpp"
#include "prefixes.hpp"

namespace trelliswork {

namespace {

using Classes = std::optional<In<std::uint8_t, 1>>;

ViolationAutomaton make_automaton(std::int64_t empty, std::int32_t start,
                                  const In<std::int32_t, 2>& next,
                                  const In<std::int64_t, 2>& step) {
    const auto n_states = static_cast<std::int64_t>(next.shape(0));
    require(next.shape(0) == step.shape(0) && next.shape(1) == step.shape(1) && start >= 0 &&
                start < n_states,
            "ViolationAutomaton: wrong shape");
    for (std::size_t i = 0; i < next.size(); ++i) {
        require(next.data()[i] >= 0 && next.data()[i] < n_states,
                "ViolationAutomaton: next: out of range");
    }
    return {empty,         start,        n_states, static_cast<std::int64_t>(next.shape(1)),
            copy_of(next), copy_of(step)};
}

std::vector<SearchItem> make_items(const BoundBatch& bound,
                                   const std::vector<const ViolationAutomaton*>& automata,
                                   const In<double, 1>& penalties,
                                   const std::vector<Classes>& classes) {
    const auto n_labels = static_cast<std::int64_t>(bound.get().automaton->n_labels);
    require(automata.size() == penalties.size() && automata.size() == classes.size(),
            "search_prefixes: items: wrong shape");
    std::vector<SearchItem> items;
    for (std::size_t i = 0; i < automata.size(); ++i) {
        const auto n_letters = automata[i]->n_letters;
        const auto& own = classes[i];
        require(n_letters % n_labels == 0 && (own || n_letters == n_labels),
                "search_prefixes: items: wrong letters");
        require(!own || own->size() == bound.n_tokens(), "search_prefixes: classes: wrong shape");
        for (std::size_t t = 0; own && t < own->size(); ++t) {
            require((*own)(t) < n_letters / n_labels, "search_prefixes: classes: out of range");
        }
        items.push_back({automata[i], penalties(i), data_or_null(own)});
    }
    return items;
}

// Asks Python; the search runs without its lock.
Predicates make_predicates(const In<double, 1>& penalties, bool reads_prefixes,
                           const nb::object& count) {
    Predicates predicates;
    predicates.penalty = copy_of(penalties);
    predicates.reads_prefixes = reads_prefixes;
    const auto n_predicates = penalties.size();
    predicates.count = [&count, n_predicates](
                           std::int64_t sequence, const std::vector<std::int32_t>& tags,
                           std::int64_t n_new, const std::int64_t* before, std::int64_t* after) {
        nb::gil_scoped_acquire acquire;
        const std::vector<std::int64_t> counted(before, before + n_predicates);
        const auto found =
            nb::cast<std::vector<std::int64_t>>(count(sequence, tags, n_new, counted));
        require(found.size() == n_predicates, "search_prefixes: count: wrong shape");
        std::copy(found.begin(), found.end(), after);
    };
    return predicates;
}

}  // namespace

void bind_prefixes(nb::module_& m) {
    nb::class_<ViolationAutomaton>(m, "ViolationAutomaton")
        .def(
            "__init__",
            [](ViolationAutomaton* self, std::int64_t empty, std::int32_t start,
               const In<std::int32_t, 2>& next, const In<std::int64_t, 2>& step) {
                new (self) ViolationAutomaton(make_automaton(empty, start, next, step));
            },
            nb::arg("empty"), nb::arg("start"), nb::arg("next"), nb::arg("step"));

    // Fills labels and begins (N,), scores and bounds (B,), status, methods and expanded (B,).
    m.def(
        "search_prefixes",
        [](const BoundBatch& bound, const std::vector<const ViolationAutomaton*>& automata,
           const In<double, 1>& penalties, const std::vector<Classes>& classes,
           const In<double, 1>& predicate_penalties, bool reads_prefixes, const nb::object& count,
           int method, std::int64_t width, std::int64_t max_states, double seconds,
           double tolerance, Out<std::int32_t, 1> labels, Out<std::uint8_t, 1> begins,
           Out<double, 1> scores, Out<double, 1> bounds, Out<std::int32_t, 1> status,
           Out<std::int32_t, 1> methods, Out<std::int64_t, 1> expanded) {
            const Batch& batch = bound.get();
            const auto n_sequences = bound.n_sequences();
            require(labels.size() == bound.n_tokens() && begins.size() == bound.n_tokens() &&
                        scores.size() == n_sequences && bounds.size() == n_sequences &&
                        status.size() == n_sequences && methods.size() == n_sequences &&
                        expanded.size() == n_sequences,
                    "search_prefixes: wrong shape");
            require(batch.automaton->guards.empty(), "search_prefixes: the model has guards");
            require(method == 0 || method == 1, "search_prefixes: unknown method");
            require(width >= 0, "search_prefixes: width: must not be negative");
            const auto items = make_items(bound, automata, penalties, classes);
            const auto predicates = make_predicates(predicate_penalties, reads_prefixes, count);
            const PrefixOptions options{static_cast<PrefixMethod>(method), width, max_states,
                                        seconds, tolerance};
            std::vector<PrefixAnswer> answers;
            {
                nb::gil_scoped_release release;
                search_prefixes(batch, items, predicates, options, answers);
            }
            for (std::size_t b = 0; b < n_sequences; ++b) {
                const PrefixAnswer& answer = answers[b];
                bound.write(b, answer.path, labels.data(), begins.data());
                scores(b) = answer.score;
                bounds(b) = answer.bound;
                status(b) = static_cast<std::int32_t>(answer.status);
                methods(b) = static_cast<std::int32_t>(answer.method);
                expanded(b) = answer.n_expanded;
            }
        },
        nb::arg("batch"), nb::arg("automata"), nb::arg("penalties"), nb::arg("classes"),
        nb::arg("predicate_penalties"), nb::arg("reads_prefixes"), nb::arg("count").none(),
        nb::arg("method"), nb::arg("width"), nb::arg("max_states"), nb::arg("seconds"),
        nb::arg("tolerance"), nb::arg("labels"), nb::arg("begins"), nb::arg("scores"),
        nb::arg("bounds"), nb::arg("status"), nb::arg("methods"), nb::arg("expanded"));
}

}  // namespace trelliswork
