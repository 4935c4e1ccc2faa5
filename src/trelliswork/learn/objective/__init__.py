"""The loss of a model on a batch, and its gradient.

    f(w) = Σ_b weight_b (log Z_b − log Z_b,gold) + regulariser,   ∂W = Xᵀ ∂φ

Values and gradients are sums over sequences, in a fixed order, so that batches can be split.
"""
