"""The loss of a CRF on a training set, and its gradient.

    f(w) = Σ_b weight_b (log Z_b − log Z_b,gold) + Σ_k l2_k w_k²,   ∂f/∂W = Xᵀ ∂f/∂φ

with ``log Z_b`` over the labellings that constraints allow, and ``log Z_b,gold`` over those that
agree with the known labels. `objective` computes both in the core, as a sum over
sequences in a fixed order; any range of sequences can be asked for. `parts` decides which pairs
and patterns have a weight, `layout` says where each weight lies in the parameter vector, and
`soft_terms` adds the penalties of soft constraints as parameters.

Imports `models`, `planning`, `features` and the floors below, and no optimiser.
"""
