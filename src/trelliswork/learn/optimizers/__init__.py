"""Optimisers: L-BFGS, OWL-QN, proximal steps and online passes, and which one is used.

All take an objective with a value and a gradient and return a `Result` with the reason it stopped.
"""
