"""The linter of rules: contradictions, dead rules and implied rules.

    contradiction: ∩_c L(c) ∩ U = ∅,   dead c: U ⊆ L(c),   implied c: ∩_{d ≠ c} L(d) ∩ U ⊆ L(c)

with the languages ``L(c)`` of the rules and the set ``U`` of all labellings. `lint` collects
`findings`: `languages` decides by automata, those of sets of rules from `queries`; `counts` judges
linear rules without an automaton by the ranges of their sums.

Imports the rules of `constraints`, `automata`, `labels` and the floors below. Does not import
`text`.
"""
