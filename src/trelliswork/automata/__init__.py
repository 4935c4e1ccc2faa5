"""Automata: arc lists over labels, as languages and as models.

A model scores a labelling by its path in an automaton: the weights ``ψ_z`` of the patterns that the
arcs fire,

    score(y) = Σ_{patterns z fired} ψ_z  (+ start and end scores).

A language accepts or rejects a labelling. Here live `Automaton` with the algebra of languages
(``& | ~``, determinisation, ambiguity), products with arc maps, regular expressions over labels,
label patterns of any order with their Aho–Corasick automaton, and drawings.

Imports `errors`, `_typing`, `_core` and `_utils`. Sentences and rules are unknown here.
"""
