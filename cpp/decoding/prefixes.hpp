// Search over prefixes: hypotheses that carry the states of all constraints side by side.
//
//   P(y) = score(y) − Σ_i ρ_i v_i(y) − Σ_p ρ_p v_p(y)
//
// A hypothesis is the first t tokens labelled: a state of the model, a state of the violation
// automaton of every term, never multiplied, and the counts of predicates, which are functions of
// the caller. An upper bound on all completions is
//
//   f = score so far + h[t, state] − Σ_i ρ_i m_i − Σ_p ρ_p (counted so far)
//
// with h the best that the model alone can still add (a backward Viterbi pass) and m_i the least
// violation that term i can still end with. f never rises along a path, and is P at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "decoding/lagrangian.hpp"
#include "decoding/prefix_tables.hpp"
#include "decoding/solver.hpp"
#include "kernel/inference.hpp"
#include "kernel/score_reader.hpp"

namespace trelliswork {

// Functions of the caller. `count` is given a sequence, its first n_tags tags, how many of these
// are new, and the counts before them, and writes the counts with them, (Q,) each.
struct Predicates {
    std::vector<double> penalty;  // (Q,)
    bool reads_prefixes = false;  // else only complete labellings are asked about
    std::function<void(std::int64_t sequence, const std::vector<std::int32_t>& tags,
                       std::int64_t n_new, const std::int64_t* before, std::int64_t* after)>
        count;
};

enum class PrefixMethod : int { beam = 0, best_first = 1 };

struct PrefixOptions {
    PrefixMethod method = PrefixMethod::beam;
    std::int64_t width = 10;            // of the beam, 0: unbounded
    std::int64_t max_states = 100'000;  // that best-first search expands, before a beam takes over
    double seconds = 0.0;               // a sequence, 0: no limit
    double tolerance = 1e-9;            // of a gap, relative to 1 + |score|
};

// The answer to one sequence.
struct PrefixAnswer {
    Status status = Status::unsolved;
    PrefixMethod method = PrefixMethod::beam;
    Labelling path;                     // empty: none was found
    double score = kNegativeInfinity;   // P of it
    double bound = -kNegativeInfinity;  // no labelling has more
    std::int64_t n_expanded = 0;
};

// A hypothesis.
struct Prefix {
    double optimistic;                   // f
    double score;                        // of the model so far
    double paid;                         // Σ ρ v of soft terms so far
    double charged;                      // by predicates so far
    std::int64_t row;                    // where its states are kept, −1: not computed yet
    std::int64_t counts;                 // where the counts of predicates are, −1: not asked yet
    std::int32_t end;                    // t
    std::int32_t parent, arc, duration;  // −1 at the start
};

// The hypotheses of one sequence.
class Prefixes {
  public:
    Prefixes(const PrefixTables& tables, const Predicates& predicates);

    Prefixes(const Prefixes&) = delete;

    // Goes on to a sequence: forgets all hypotheses but the empty ones, numbers 0 … n_roots − 1.
    void read(std::int64_t sequence);

    std::int64_t length() const { return scores_.length; }
    std::int64_t size() const { return static_cast<std::int64_t>(prefixes_.size()); }
    const Prefix& operator[](std::int64_t id) const { return prefixes_[id]; }
    bool has_predicates() const { return n_predicates_ > 0; }

    // Whether predicates have something to say about a hypothesis that they were not asked yet.
    bool is_open(std::int64_t id) const;
    // Asks them: f may fall, to −inf where a hard one is broken.
    void ask(std::int64_t id);

    // Computes the states of a hypothesis whose f is final.
    void settle(std::int64_t id);
    // Whether two settled hypotheses have the same future; without predicates.
    bool same_future(std::int64_t one, std::int64_t other) const;
    std::size_t hash_future(std::int64_t id) const;

    // Makes all hypotheses that go on from a settled one by a segment; they get the next numbers.
    void expand(std::int64_t id);

    Labelling labelling(std::int64_t id) const;

  private:
    void run_backward();
    double arc_weight(std::int64_t t, std::int64_t arc) const;
    // Writes the row after an arc from that of a settled hypothesis, t aside, and returns the
    // charge of soft terms for it.
    double step(const Prefix& from, std::int64_t arc, std::int64_t* to) const;
    // Σ_i ρ_i (m_i − v_i) over soft terms after t tokens; infinite where a hard one is lost.
    double least_charge(std::int64_t t, const std::int64_t* row) const;

    const PrefixTables& tables_;
    const Predicates& predicates_;
    const Automaton& automaton_;
    std::size_t n_terms_, n_predicates_;
    // Of a row: t, the state of the model, those of all terms, the violations of hard ones.
    std::size_t width_;
    ScoreReader reader_;
    std::int64_t sequence_ = 0, first_token_ = 0;
    SequenceScores scores_;
    std::vector<double> best_rest_;                     // (T + 1, S): h
    std::vector<std::vector<std::int64_t>> own_least_;  // as least_left, of terms that read tokens
    std::vector<Prefix> prefixes_;
    std::vector<std::int64_t> rows_, counts_, scratch_;
    std::vector<std::int32_t> tags_;
};

// Whether a score is below its bound by rounding only.
bool is_settled(const PrefixAnswer& answer, double tolerance);

// Keeps the `width` best hypotheses of every length (beam.cpp).
void search_beam(Prefixes& prefixes, std::int64_t width, double tolerance, const Deadline& deadline,
                 PrefixAnswer& answer);

// Expands the hypothesis with the largest f until that is complete (best_first.cpp).
void search_best_first(Prefixes& prefixes, const PrefixOptions& options, const Deadline& deadline,
                       PrefixAnswer& answer);

// Searches every sequence: answers (B,). With predicates on one thread.
void search_prefixes(const Batch& batch, const std::vector<SearchTerm>& terms,
                     const Predicates& predicates, const PrefixOptions& options,
                     std::vector<PrefixAnswer>& answers);

}  // namespace trelliswork
