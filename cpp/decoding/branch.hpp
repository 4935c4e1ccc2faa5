// Best-first branch and bound over the labels of tokens.
//
// A node is a set of decisions "token t has a label of this group", or not; its bound is D under
// prices of its own. The node with the highest bound is split where two labellings that its dual
// met differ, until no node is above the best labelling known. The leaves are the proof.
#pragma once

#include "decoding/dual.hpp"
#include "decoding/solver.hpp"

namespace trelliswork {

// Closes the gap of `answer`, whose root has the prices in it. True where proven.
bool branch(Lagrangian& lagrangian, const DualResult& root, const SolverOptions& options,
            const Deadline& deadline, Answer& answer);

}  // namespace trelliswork
