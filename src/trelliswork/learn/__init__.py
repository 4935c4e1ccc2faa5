"""Learners: the weights and penalties ``(w, ρ)`` of a model, learned from data.

    min_w Σ_b −log p(y_b | x_b) + l2 ‖w‖² + l1 ‖w‖₁ + Ω(w)
    p(y | x) ∝ exp(score(y) − Σ_c ρ_c v_c(y))

`crf` minimises this; `hmm` counts instead, `perceptron` moves weights from wrong answers to gold
ones, and `codl` adds sequences without labels to any of the three. They share the interface in
`learner`. Training of a CRF runs through `crf_settings`, `setup` (structure and constraints),
`denominator` (labellings that the likelihood sums over), `objective`, `sparsity`, `optimizers` and
`train`. `protocols` defines the role of constraints in training, `penalties` learns their
penalties.

Imports `models`, `evaluation`, `decoding` and the floors below. Does not import `taggers`;
settings are passed in.
"""
