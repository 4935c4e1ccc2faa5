#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "decoding/prefixes.hpp"
#include "decoding/solver.hpp"
#include "support/bound_batch.hpp"

namespace trelliswork {

namespace {

// Counts of terms, one list after the other.
std::vector<Count> make_counts(int n_terms, const In<std::int64_t, 1>& offsets,
                               const In<std::int32_t, 1>& terms, const In<std::int64_t, 1>& times) {
    check_offsets(offsets, terms.size(), "offsets");
    require(times.size() == terms.size(), "CountRows: wrong shape");
    std::vector<Count> counts;
    for (std::size_t k = 0; k < terms.size(); ++k) {
        require(terms(k) >= 0 && terms(k) < n_terms, "CountRows: no such term");
        counts.push_back({terms(k), times(k)});
    }
    return counts;
}

CountRows make_rows(const In<std::int32_t, 1>& pattern_event,
                    const std::optional<In<std::int32_t, 1>>& start_event, int n_terms,
                    const In<std::int64_t, 1>& event_offsets,
                    const In<std::int32_t, 1>& event_terms, const In<std::int64_t, 1>& event_times,
                    const In<std::int64_t, 1>& row_offsets, const In<std::int32_t, 1>& row_terms,
                    const In<std::int64_t, 1>& row_times, const In<double, 1>& bounds,
                    const In<double, 1>& penalties) {
    require(bounds.size() + 1 == row_offsets.size() && penalties.size() == bounds.size(),
            "CountRows: wrong shape");
    CountRows rows;
    rows.n_terms = n_terms;
    rows.event_offsets = copy_of(event_offsets);
    rows.event_counts = make_counts(n_terms, event_offsets, event_terms, event_times);
    rows.row_offsets = copy_of(row_offsets);
    rows.row_counts = make_counts(n_terms, row_offsets, row_terms, row_times);
    rows.pattern_event = copy_of(pattern_event);
    if (start_event) rows.start_event = copy_of(*start_event);
    const auto n_events = static_cast<std::int32_t>(event_offsets.size()) - 1;
    for (const auto* part : {&rows.pattern_event, &rows.start_event}) {
        for (const auto event : *part) {
            require(event >= -1 && event < n_events, "CountRows: no such event");
        }
    }
    rows.bound = copy_of(bounds);
    rows.penalty = copy_of(penalties);
    for (std::size_t i = 0; i < penalties.size(); ++i) {
        require(penalties(i) >= 0.0 && std::isfinite(bounds(i)), "CountRows: no such penalty");
    }
    rows.finish();
    return rows;
}

// A batch with what tokens of each class add to the weights of pairs of labels.
Batch with_classes(const BoundBatch& bound, const std::optional<In<std::uint8_t, 1>>& classes,
                   const std::optional<In<double, 2>>& added) {
    Batch batch = bound.get();
    require(classes.has_value() == added.has_value(),
            "class_weights: classes and weights go together");
    if (!added) return batch;
    const auto n_patterns = static_cast<std::size_t>(batch.automaton->n_patterns);
    require(batch.automaton->n_classes == 1 && batch.positional == nullptr,
            "class_weights: expected neither guards nor position_weights");
    require(added->shape(0) > 0 && classes->size() == bound.n_tokens() &&
                added->shape(1) <= n_patterns &&
                (!batch.automaton->is_chain || added->shape(1) == n_patterns),
            "class_weights: wrong shape");
    for (std::size_t i = 0; i < classes->size(); ++i) {
        require((*classes)(i) < added->shape(0), "classes: out of range");
    }
    batch.classes = classes->data();
    batch.class_patterns = {added->data(), static_cast<int>(added->shape(0)),
                            static_cast<int>(added->shape(1))};
    return batch;
}

SolverOptions make_options(int method, std::int64_t max_iterations, double step, double tolerance,
                           double seconds, std::int64_t max_states, std::int64_t max_nodes,
                           const In<std::int32_t, 1>& group_of_tag) {
    require(method >= 0 && method <= static_cast<int>(SolverMethod::best), "solve: no such method");
    SolverOptions options;
    options.method = static_cast<SolverMethod>(method);
    options.max_iterations = max_iterations;
    options.step = step;
    options.tolerance = tolerance;
    options.seconds = seconds;
    options.max_states = max_states;
    options.max_nodes = max_nodes;
    options.group_of_tag = copy_of(group_of_tag);
    return options;
}

// The leaves of all answers, one after the other; those of sequence b are offsets[b] … of them.
auto flatten_leaves(const std::vector<Answer>& answers) {
    std::vector<std::int64_t> offsets{0}, decision_offsets{0}, tokens;
    std::vector<std::int32_t> groups;
    std::vector<std::uint8_t> inside;
    std::vector<double> prices;
    for (const Answer& answer : answers) {
        for (const Leaf& leaf : answer.leaves) {
            for (const Decision& decision : leaf.decisions) {
                tokens.push_back(decision.token);
                groups.push_back(decision.group);
                inside.push_back(decision.inside ? 1 : 0);
            }
            decision_offsets.push_back(static_cast<std::int64_t>(tokens.size()));
            prices.insert(prices.end(), leaf.prices.begin(), leaf.prices.end());
        }
        offsets.push_back(static_cast<std::int64_t>(decision_offsets.size()) - 1);
    }
    return std::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(decision_offsets)),
                           to_numpy(std::move(tokens)), to_numpy(std::move(groups)),
                           to_numpy(std::move(inside)), to_numpy(std::move(prices)));
}

void bind_solver(nb::module_& m) {
    nb::class_<CountRows>(m, "CountRows")
        .def(
            "__init__",
            [](CountRows* self, const In<std::int32_t, 1>& pattern_event,
               const std::optional<In<std::int32_t, 1>>& start_event, int n_terms,
               const In<std::int64_t, 1>& event_offsets, const In<std::int32_t, 1>& event_terms,
               const In<std::int64_t, 1>& event_times, const In<std::int64_t, 1>& row_offsets,
               const In<std::int32_t, 1>& row_terms, const In<std::int64_t, 1>& row_times,
               const In<double, 1>& bounds, const In<double, 1>& penalties) {
                new (self) CountRows(make_rows(pattern_event, start_event, n_terms, event_offsets,
                                               event_terms, event_times, row_offsets, row_terms,
                                               row_times, bounds, penalties));
            },
            nb::arg("pattern_event"), nb::arg("start_event").none(), nb::arg("n_terms"),
            nb::arg("event_offsets"), nb::arg("event_terms"), nb::arg("event_times"),
            nb::arg("row_offsets"), nb::arg("row_terms"), nb::arg("row_times"), nb::arg("bounds"),
            nb::arg("penalties"));

    // Fills labels and begins (N,), scores and bounds (B,), status, methods and iterations (B,),
    // prices and counted (B, R); returns the leaves of branch and bound.
    m.def(
        "solve",
        [](const BoundBatch& bound, const CountRows& rows, int method, std::int64_t max_iterations,
           double step, double tolerance, double seconds, std::int64_t max_states,
           std::int64_t max_nodes, const In<std::int32_t, 1>& group_of_tag,
           const std::optional<In<std::uint8_t, 1>>& classes,
           const std::optional<In<double, 2>>& class_weights,
           const std::optional<In<double, 2>>& warm_prices, Out<std::int32_t, 1> labels,
           Out<std::uint8_t, 1> begins, Out<double, 1> scores, Out<double, 1> bounds,
           Out<std::int32_t, 1> status, Out<std::int32_t, 1> methods,
           Out<std::int64_t, 1> iterations, Out<double, 2> prices, Out<std::uint8_t, 2> counted) {
            const Batch batch = with_classes(bound, classes, class_weights);
            const auto n_sequences = bound.n_sequences();
            const auto n_rows = static_cast<std::size_t>(rows.n_rows);
            const auto n_labels = static_cast<std::size_t>(batch.automaton->n_labels);
            const auto is_table = [&](std::size_t height, std::size_t width) {
                return height == n_sequences && width == n_rows;
            };
            require(labels.size() == bound.n_tokens() && begins.size() == bound.n_tokens() &&
                        scores.size() == n_sequences && bounds.size() == n_sequences &&
                        status.size() == n_sequences && methods.size() == n_sequences &&
                        iterations.size() == n_sequences &&
                        is_table(prices.shape(0), prices.shape(1)) &&
                        is_table(counted.shape(0), counted.shape(1)) &&
                        group_of_tag.size() == 2 * n_labels &&
                        (!warm_prices || is_table(warm_prices->shape(0), warm_prices->shape(1))) &&
                        rows.pattern_event.size() ==
                            static_cast<std::size_t>(batch.automaton->n_patterns) &&
                        (rows.start_event.empty() || rows.start_event.size() == n_labels),
                    "solve: wrong shape");
            const auto options = make_options(method, max_iterations, step, tolerance, seconds,
                                              max_states, max_nodes, group_of_tag);
            std::vector<Answer> answers;
            {
                nb::gil_scoped_release release;
                solve(batch, rows, options, data_or_null(warm_prices), answers);
            }
            for (std::size_t b = 0; b < n_sequences; ++b) {
                const Answer& answer = answers[b];
                bound.write(b, answer.path, labels.data(), begins.data());
                scores(b) = answer.payoff;
                bounds(b) = answer.bound;
                status(b) = static_cast<std::int32_t>(answer.status);
                methods(b) = static_cast<std::int32_t>(answer.method);
                iterations(b) = answer.iterations;
                std::copy(answer.prices.begin(), answer.prices.end(), prices.data() + b * n_rows);
                std::copy(answer.counted.begin(), answer.counted.end(),
                          counted.data() + b * n_rows);
            }
            return flatten_leaves(answers);
        },
        nb::arg("batch"), nb::arg("rows"), nb::arg("method"), nb::arg("max_iterations"),
        nb::arg("step"), nb::arg("tolerance"), nb::arg("seconds"), nb::arg("max_states"),
        nb::arg("max_nodes"), nb::arg("group_of_tag"), nb::arg("classes").none(),
        nb::arg("class_weights").none(), nb::arg("warm_prices").none(), nb::arg("labels"),
        nb::arg("begins"), nb::arg("scores"), nb::arg("bounds"), nb::arg("status"),
        nb::arg("methods"), nb::arg("iterations"), nb::arg("prices"), nb::arg("counted"));
}

// Search over prefixes: violation automata of items, and predicates that are Python functions.

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

}  // namespace

void bind_decoding(nb::module_& m) {
    bind_solver(m);
    bind_prefixes(m);
}

}  // namespace trelliswork
