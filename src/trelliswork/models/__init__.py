"""Models: structure and weights, and the scores they give.

A model is a `Structure` (labels, automaton, segmentation, plan) and weights; on features ``X`` it
scores

    φ = X W,   ψ = the pattern weights.

`batches` cuts long corpora into batches and keeps their order.

Imports `decoding`, `features` and the floors below. Knows no training.
"""
