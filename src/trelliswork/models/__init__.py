"""Models: structure and weights, and the scores they give.

    φ = X W,   score(y) = Σ_t φ_t(y_t) + Σ_patterns ψ_p

`structure` is a model before it has weights: labels, label patterns with their automaton, and
segments. `pair_weights` holds the weights of pairs of a feature and an output, `model` all weights
of a model: it scores sequences, decodes them, and turns into arrays and settings for a file.
`batches` scores and decodes long inputs in batches that fit into memory, in order.

Imports `decoding`, `planning`, `features` and the floors below. Does not import `learn`.
"""
