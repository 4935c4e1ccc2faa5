"""Automata: arc lists over labels, as languages and as models.

An automaton scores a labelling by its path: the pattern weights ``ψ_z`` of the arcs it takes,

    Σ_{patterns z fired} ψ_z  (+ start and end scores),

or says whether a labelling belongs to a language. Here are the algebra of languages (``& | ~``,
determinisation, ambiguity), products with arc maps, regular expressions over labels, label patterns
of any order with their Aho–Corasick automaton, and drawings.

Imports `errors`, `_typing`, `_core` and `_utils`. Knows neither sentences nor rules.
"""
