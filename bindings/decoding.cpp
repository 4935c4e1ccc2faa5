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

// Counts of quantities, one list after the other.
std::vector<Count> make_counts(int n_quantities, const In<std::int64_t, 1>& offsets,
                               const In<std::int32_t, 1>& quantities,
                               const In<std::int64_t, 1>& times) {
    check_offsets(offsets, quantities.size(), "offsets");
    require(times.size() == quantities.size(), "CountRows: wrong shape");
    std::vector<Count> counts;
    for (std::size_t k = 0; k < quantities.size(); ++k) {
        require(quantities(k) >= 0 && quantities(k) < n_quantities, "CountRows: no such quantity");
        counts.push_back({quantities(k), times(k)});
    }
    return counts;
}

CountRows make_rows(const In<std::int32_t, 1>& pattern_event,
                    const std::optional<In<std::int32_t, 1>>& start_event, int n_quantities,
                    const In<std::int64_t, 1>& event_offsets,
                    const In<std::int32_t, 1>& event_quantities,
                    const In<std::int64_t, 1>& event_times, const In<std::int64_t, 1>& row_offsets,
                    const In<std::int32_t, 1>& row_quantities, const In<std::int64_t, 1>& row_times,
                    const In<double, 1>& bounds, const In<double, 1>& penalties) {
    require(bounds.size() + 1 == row_offsets.size() && penalties.size() == bounds.size(),
            "CountRows: wrong shape");
    CountRows rows;
    rows.n_quantities = n_quantities;
    rows.event_offsets = copy_of(event_offsets);
    rows.event_counts = make_counts(n_quantities, event_offsets, event_quantities, event_times);
    rows.row_offsets = copy_of(row_offsets);
    rows.row_counts = make_counts(n_quantities, row_offsets, row_quantities, row_times);
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

// A batch with additions to the weights of pairs of labels, by class of token.
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

// The answers for all sequences of a batch: labels and begins (N,); scores, bounds, status and
// methods (B,).
struct BatchAnswers {
    nb::object labels, begins, scores, bounds, status, methods;
};

struct SolverAnswers : BatchAnswers {
    nb::object iterations;       // (B,)
    nb::object prices, counted;  // (B, R)
    nb::list leaves;             // of branch and bound, (B,): (decisions, prices) of each
};

struct PrefixAnswers : BatchAnswers {
    nb::object expanded;  // (B,)
};

// score_of: the name of an answer's score.
template <class Found>
void write_answers(const BoundBatch& bound, const std::vector<Found>& answers,
                   double Found::* score_of, BatchAnswers& out) {
    const auto n_sequences = answers.size();
    std::vector<std::int32_t> labels(bound.n_tokens(), -1), status, methods;
    std::vector<std::uint8_t> begins(bound.n_tokens(), 0);
    std::vector<double> scores, bounds;
    for (std::size_t b = 0; b < n_sequences; ++b) {
        const Found& answer = answers[b];
        bound.write(b, answer.path, labels.data(), begins.data());
        scores.push_back(answer.*score_of);
        bounds.push_back(answer.bound);
        status.push_back(static_cast<std::int32_t>(answer.status));
        methods.push_back(static_cast<std::int32_t>(answer.method));
    }
    out.labels = nb::cast(to_numpy(std::move(labels)));
    out.begins = nb::cast(to_numpy(std::move(begins)));
    out.scores = nb::cast(to_numpy(std::move(scores)));
    out.bounds = nb::cast(to_numpy(std::move(bounds)));
    out.status = nb::cast(to_numpy(std::move(status)));
    out.methods = nb::cast(to_numpy(std::move(methods)));
}

nb::list leaves_of(const Answer& answer) {
    nb::list out;
    for (const Leaf& leaf : answer.leaves) {
        nb::list decisions;
        for (const Decision& decision : leaf.decisions) {
            decisions.append(nb::make_tuple(decision.token, decision.group, decision.inside));
        }
        out.append(nb::make_tuple(decisions, to_numpy(std::vector(leaf.prices))));
    }
    return out;
}

SolverAnswers run_solver(const BoundBatch& bound, const CountRows& rows,
                         const SolverOptions& options,
                         const std::optional<In<std::uint8_t, 1>>& classes,
                         const std::optional<In<double, 2>>& class_weights,
                         const std::optional<In<double, 2>>& warm_prices) {
    const Batch batch = with_classes(bound, classes, class_weights);
    const auto n_sequences = bound.n_sequences();
    const auto n_rows = static_cast<std::size_t>(rows.n_rows);
    const auto n_labels = static_cast<std::size_t>(batch.automaton->n_labels);
    require(options.group_of_tag.size() == 2 * n_labels, "group_of_tag: wrong shape");
    require(
        !warm_prices || (warm_prices->shape(0) == n_sequences && warm_prices->shape(1) == n_rows),
        "warm_prices: wrong shape");
    require(rows.pattern_event.size() == static_cast<std::size_t>(batch.automaton->n_patterns) &&
                (rows.start_event.empty() || rows.start_event.size() == n_labels),
            "rows: wrong shape");
    std::vector<Answer> answers;
    {
        nb::gil_scoped_release release;
        solve(batch, rows, options, data_or_null(warm_prices), answers);
    }
    SolverAnswers out;
    write_answers(bound, answers, &Answer::payoff, out);
    std::vector<std::int64_t> iterations;
    const auto prices = new_array<double>({n_sequences, n_rows});
    const auto counted = new_array<std::uint8_t>({n_sequences, n_rows});
    for (std::size_t b = 0; b < n_sequences; ++b) {
        iterations.push_back(answers[b].iterations);
        out.leaves.append(leaves_of(answers[b]));
        std::copy(answers[b].prices.begin(), answers[b].prices.end(), prices.data() + b * n_rows);
        std::copy(answers[b].counted.begin(), answers[b].counted.end(),
                  counted.data() + b * n_rows);
    }
    out.iterations = nb::cast(to_numpy(std::move(iterations)));
    out.prices = nb::cast(prices);
    out.counted = nb::cast(counted);
    return out;
}

void bind_answers(nb::module_& m) {
    nb::class_<BatchAnswers>(m, "BatchAnswers")
        .def_ro("labels", &BatchAnswers::labels)
        .def_ro("begins", &BatchAnswers::begins)
        .def_ro("scores", &BatchAnswers::scores)
        .def_ro("bounds", &BatchAnswers::bounds)
        .def_ro("status", &BatchAnswers::status)
        .def_ro("methods", &BatchAnswers::methods);
    nb::class_<SolverAnswers, BatchAnswers>(m, "SolverAnswers")
        .def_ro("iterations", &SolverAnswers::iterations)
        .def_ro("prices", &SolverAnswers::prices)
        .def_ro("counted", &SolverAnswers::counted)
        .def_ro("leaves", &SolverAnswers::leaves);
    nb::class_<PrefixAnswers, BatchAnswers>(m, "PrefixAnswers")
        .def_ro("expanded", &PrefixAnswers::expanded);
}

void bind_solver(nb::module_& m) {
    nb::class_<CountRows>(m, "CountRows")
        .def(
            "__init__",
            [](CountRows* self, const In<std::int32_t, 1>& pattern_event,
               const std::optional<In<std::int32_t, 1>>& start_event, int n_quantities,
               const In<std::int64_t, 1>& event_offsets,
               const In<std::int32_t, 1>& event_quantities, const In<std::int64_t, 1>& event_times,
               const In<std::int64_t, 1>& row_offsets, const In<std::int32_t, 1>& row_quantities,
               const In<std::int64_t, 1>& row_times, const In<double, 1>& bounds,
               const In<double, 1>& penalties) {
                new (self) CountRows(make_rows(
                    pattern_event, start_event, n_quantities, event_offsets, event_quantities,
                    event_times, row_offsets, row_quantities, row_times, bounds, penalties));
            },
            nb::arg("pattern_event"), nb::arg("start_event").none(), nb::arg("n_quantities"),
            nb::arg("event_offsets"), nb::arg("event_quantities"), nb::arg("event_times"),
            nb::arg("row_offsets"), nb::arg("row_quantities"), nb::arg("row_times"),
            nb::arg("bounds"), nb::arg("penalties"));

    nb::class_<SolverOptions>(m, "SolverOptions")
        .def(
            "__init__",
            [](SolverOptions* self, int method, std::int64_t max_iterations, double step,
               double tolerance, double seconds, std::int64_t max_states, std::int64_t max_nodes,
               const In<std::int32_t, 1>& group_of_tag) {
                new (self)
                    SolverOptions(make_options(method, max_iterations, step, tolerance, seconds,
                                               max_states, max_nodes, group_of_tag));
            },
            nb::kw_only(), nb::arg("method"), nb::arg("max_iterations"), nb::arg("step"),
            nb::arg("tolerance"), nb::arg("seconds"), nb::arg("max_states"), nb::arg("max_nodes"),
            nb::arg("group_of_tag"));

    m.def("solve", &run_solver, nb::arg("batch"), nb::arg("rows"), nb::arg("options"),
          nb::arg("classes").none() = nb::none(), nb::arg("class_weights").none() = nb::none(),
          nb::arg("warm_prices").none() = nb::none());
}

// Search over prefixes: violation automata of terms, and predicates that are Python functions.

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

// The violation automaton of a term, the penalty of a violation, and classes of tokens (N,), or
// none.
struct BoundTerm {
    nb::object automaton;
    double penalty;
    Classes classes;
};

// Python functions: `count` is given a sequence, its first tags, how many of them are new, and the
// counts before them.
struct BoundPredicates {
    std::vector<double> penalties;
    bool reads_prefixes;
    nb::object count;
};

std::vector<SearchTerm> make_terms(const BoundBatch& bound,
                                   const std::vector<const BoundTerm*>& given) {
    const auto n_labels = static_cast<std::int64_t>(bound.get().automaton->n_labels);
    std::vector<SearchTerm> terms;
    for (const BoundTerm* term : given) {
        require(term != nullptr, "search_prefixes: terms: expected a SearchTerm, got None");
        const auto& automaton = nb::cast<const ViolationAutomaton&>(term->automaton);
        const auto n_letters = automaton.n_letters;
        const auto& own = term->classes;
        require(n_letters % n_labels == 0 && (own || n_letters == n_labels),
                "search_prefixes: terms: wrong letters");
        require(!own || own->size() == bound.n_tokens(), "search_prefixes: classes: wrong shape");
        for (std::size_t t = 0; own && t < own->size(); ++t) {
            require((*own)(t) < n_letters / n_labels, "search_prefixes: classes: out of range");
        }
        terms.push_back({&automaton, term->penalty, data_or_null(own)});
    }
    return terms;
}

// Asks Python; the search runs without its lock.
Predicates make_predicates(const BoundPredicates& given) {
    Predicates predicates;
    predicates.penalty = given.penalties;
    predicates.reads_prefixes = given.reads_prefixes;
    predicates.count = [&given](std::int64_t sequence, const std::vector<std::int32_t>& tags,
                                std::int64_t n_new, const std::int64_t* before,
                                std::int64_t* after) {
        nb::gil_scoped_acquire acquire;
        const auto n_predicates = given.penalties.size();
        const std::vector<std::int64_t> counted(before, before + n_predicates);
        const auto found =
            nb::cast<std::vector<std::int64_t>>(given.count(sequence, tags, n_new, counted));
        require(found.size() == n_predicates, "search_prefixes: count: wrong shape");
        std::copy(found.begin(), found.end(), after);
    };
    return predicates;
}

PrefixOptions make_prefix_options(int method, std::int64_t width, std::int64_t max_states,
                                  double seconds, double tolerance) {
    require(method == 0 || method == 1, "search_prefixes: unknown method");
    require(width >= 0, "search_prefixes: width: must not be negative");
    return {static_cast<PrefixMethod>(method), width, max_states, seconds, tolerance};
}

PrefixAnswers run_prefixes(const BoundBatch& bound, const std::vector<const BoundTerm*>& given,
                           const BoundPredicates& asked, const PrefixOptions& options) {
    const Batch& batch = bound.get();
    require(batch.automaton->guards.empty(), "search_prefixes: the model has guards");
    const auto terms = make_terms(bound, given);
    const auto predicates = make_predicates(asked);
    std::vector<PrefixAnswer> answers;
    {
        nb::gil_scoped_release release;
        search_prefixes(batch, terms, predicates, options, answers);
    }
    PrefixAnswers out;
    write_answers(bound, answers, &PrefixAnswer::score, out);
    std::vector<std::int64_t> expanded;
    for (const PrefixAnswer& answer : answers) expanded.push_back(answer.n_expanded);
    out.expanded = nb::cast(to_numpy(std::move(expanded)));
    return out;
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

    nb::class_<BoundTerm>(m, "SearchTerm")
        .def(
            "__init__",
            [](BoundTerm* self, nb::handle_t<ViolationAutomaton> automaton, double penalty,
               Classes classes) {
                new (self) BoundTerm{nb::borrow(automaton), penalty, std::move(classes)};
            },
            nb::arg("automaton"), nb::arg("penalty"), nb::arg("classes").none());

    nb::class_<BoundPredicates>(m, "Predicates")
        .def(
            "__init__",
            [](BoundPredicates* self, const In<double, 1>& penalties, bool reads_prefixes,
               nb::object count) {
                new (self) BoundPredicates{copy_of(penalties), reads_prefixes, std::move(count)};
            },
            nb::arg("penalties"), nb::arg("reads_prefixes"), nb::arg("count").none());

    nb::class_<PrefixOptions>(m, "PrefixOptions")
        .def(
            "__init__",
            [](PrefixOptions* self, int method, std::int64_t width, std::int64_t max_states,
               double seconds, double tolerance) {
                new (self) PrefixOptions(
                    make_prefix_options(method, width, max_states, seconds, tolerance));
            },
            nb::kw_only(), nb::arg("method"), nb::arg("width"), nb::arg("max_states"),
            nb::arg("seconds"), nb::arg("tolerance"));

    m.def("search_prefixes", &run_prefixes, nb::arg("batch"), nb::arg("terms"),
          nb::arg("predicates"), nb::arg("options"));
}

}  // namespace

void bind_decoding(nb::module_& m) {
    bind_answers(m);
    bind_solver(m);
    bind_prefixes(m);
}

}  // namespace trelliswork
