"""The averaged structured perceptron, with constraints in training or after it.

    ŷ = argmax_y [ w·Φ(x, y) − Σ_c ρ_c v_c(y) ]
    w ← w + a (Φ(x, y*) − Φ(x, ŷ)),    ρ_c ← max(0, ρ_c + a (v_c(ŷ) − v_c(y*)))

`learner` runs the epochs, `passes` visits the sentences of one (in the core if neither constraints
nor features of transitions take part), `answers` decodes a sentence under the constraints,
`weights` holds the weights and their average, and `shrinkage` makes weights exactly 0.

Imports `learn.sparsity`, `learn.penalties`, `models`, `decoding` and the floors below.
"""
