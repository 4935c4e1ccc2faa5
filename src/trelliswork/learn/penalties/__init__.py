"""Penalties of soft constraints, learned by counting or by decoding.

    counting:    ρ_c = log-odds that labelled data satisfies constraint c
    perceptron:  ρ_c ← max(0, ρ_c + η (v_c(ŷ) − v_c(y*)))
    SVM:         min_ρ ½‖ρ‖² + l1 Σ ρ_c + c Σ_b max_y [Δ(y, y*) + P_ρ(y) − P_ρ(y*)],   ρ ≥ 0

`counts` counts. `learn` decodes with a trained tagger whose weights stay fixed, by `perceptron` or
`svm`; both see the data through `run.LearningProblem`, which `problem` implements. `held_out`
learns penalties on sequences that the weights have not seen. Penalties learned together with the
weights are parameters of `learn.objective`.

Imports `decoding`, `evaluation` and the floors below. Does not import `taggers`;
a protocol stands for them.
"""
