"""The linter of rules: contradictions, dead rules and implied rules.

`lint` decides on the languages of rules (`languages`, `queries`); linear rules without an automaton
are judged by the ranges of their sums (`counts`).
"""
