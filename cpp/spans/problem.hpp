// Spans with roles: a chain of intervals of which no two overlap, and rules about how often each
// role is filled.
//
//   P(y) = Σ_{(i, r) ∈ y} g_ir − Σ_c ρ_c v_c(n(y)),      n_r(y) = how many intervals have role r
//
//   v_c(n) = max(0, r_c(n)),      r_c(n) = Σ_r a_cr n_r − b_c
//
// so that prices λ_c ∈ [0, ρ_c] on rules bound P, as in decoding/lagrangian.hpp. I intervals, R
// roles, C rules, T tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "simd/semiring.hpp"

namespace trelliswork {

struct SpanTerm {
    std::int32_t role;
    double coefficient;
};

struct SpanRules {
    std::vector<std::int64_t> offsets{0};  // (C + 1,) into terms
    std::vector<SpanTerm> terms;
    std::vector<double> bound;    // (C,) b
    std::vector<double> penalty;  // (C,) ρ, ∞: hard

    int size() const { return static_cast<int>(bound.size()); }
    double excess(int rule, const std::vector<std::int32_t>& counts) const;  // r_c
    // Σ_c ρ_c v_c(n)
    double cost(const std::vector<std::int32_t>& counts) const;
};

struct SpanChoice {
    std::int32_t interval;
    std::int32_t role;
};

// "Interval i has role r", or has not.
struct SpanDecision {
    SpanChoice choice;
    bool taken;
};

// How often each role can be filled: the least that a hard rule about it alone allows, (R,).
std::vector<std::int32_t> most_of_roles(const SpanRules& rules, int n_roles, int n_spans);

struct SpanProblem {
    int n_tokens = 0;
    int n_roles = 0;
    std::vector<std::int32_t> start, end;  // (I,) by start
    std::vector<std::int32_t> span;        // (I,) which of the spans given an interval is
    std::vector<std::int32_t> first;       // (T + 1,) the intervals that start at each token
    std::vector<double> gains;             // (I, R), −inf: not allowed
    double constant = 0.0;                 // part of the value of every assignment
    const SpanRules* rules_given = nullptr;

    // Spans (S, 2) that must not overlap, with scores (S, R): a chain as it is.
    static SpanProblem apart(const std::int64_t* spans, const double* scores, int n_spans,
                             int n_roles, const SpanRules& rules);
    // Spans that may overlap, and have several roles: only how often a role is filled counts, so
    // that of its spans only the best can be needed. They stand side by side, an interval of one
    // token each.
    static SpanProblem free(const double* scores, int n_spans, int n_roles, const SpanRules& rules);

    // No assignment that satisfies the hard rules is worth less.
    double least() const;

    const SpanRules& rules() const { return *rules_given; }
    int n_intervals() const { return static_cast<int>(start.size()); }
    const double* gains_of(int interval) const {
        return gains.data() + static_cast<std::size_t>(interval) * n_roles;
    }
    bool overlap(int one, int other) const {
        return start[one] < end[other] && start[other] < end[one];
    }
};

// The part of a problem that some decisions leave open.
struct OpenSpans {
    std::vector<double> gains;         // (I, R)
    std::vector<std::int32_t> counts;  // (R,) of the choices decided to be taken
    std::vector<SpanChoice> taken;
    double gain = 0.0;               // of it
    std::vector<std::int32_t> most;  // (R,) how often a role can still be filled

    // Begins anew, with these decisions; false: hard rules leave no assignment.
    bool decide(const SpanProblem& problem, const std::vector<SpanDecision>& decisions);

  private:
    // Forbids the roles of which hard rules allow no more; false: these cannot be satisfied.
    bool close_roles(const SpanRules& rules);
};

}  // namespace trelliswork
