// How far an answer is proven: one word for all solvers.
#pragma once

namespace trelliswork {

enum class Status : int {
    optimal = 0,     // the score equals the bound
    feasible = 1,    // it is below
    infeasible = 2,  // proven: there is no answer
    unsolved = 3,    // neither an answer nor a proof
    fractional = 4   // of AD³ alone: the relaxation has no integral solution
};

// proven: no better answer exists than the one that was found, or none at all.
constexpr Status status_of(bool proven, bool found) {
    if (proven) return found ? Status::optimal : Status::infeasible;
    return found ? Status::feasible : Status::unsolved;
}

}  // namespace trelliswork
