"""Optimisers for a smooth function plus a regulariser.

    min_x f(x) + Ω(x),   x ← prox_{tΩ}(x − t ∇f(x))  or  x ← x − H ∇f(x)

`lbfgs` (smooth), `owlqn` (l1), `proximal` (SpaRSA and FISTA, any regulariser), `hybrid` (SpaRSA and
L-BFGS in turns, Euclidean group norms) and `online` (steps on single sequences). `minimizer` picks
one by name. All return an `OptimizeResult` with the point, its value, a duality gap where one is
known, and the reason to stop; `common` holds the stopping tests, `history` the quasi-Newton memory,
and `growing` starts OWL-QN on a part of the data.

Imports `learn.sparsity` and, for types, `learn.objective`. A new optimiser gets a file here and an
entry in `minimizer`.
"""
