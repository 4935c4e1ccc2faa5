"""Regularisers that make weights exactly 0: l1 and norms of groups.

    Ω(w) = Σ_k λ_k |w_k| + Σ_levels Σ_g λ_g ‖w_g‖,   prox_{tΩ}(v) = argmin_z ½‖z − v‖² + t Ω(z)

`group_lasso` is the user's description of the groups, `group_norms` one level of them,
`regularizer` the whole of Ω with its proximal operator and dual norm, `group_penalty` one level and
a square. `duality` bounds the distance from the optimum. `task` pairs an objective with its
regulariser, leaves out weights that are 0 at every optimum, and fits the remaining ones again.
`pruning` removes weights of 0 from a model.

Imports `learn.objective`, `models` and the floors below. Imports no optimiser.
"""
