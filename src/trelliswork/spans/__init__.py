"""Spans that fill roles: tables of scores, rules about roles, the best assignment.

    P(y) = Σ_{(span, role) ∈ y} score − Σ_c ρ_c v_c(n(y)),   n(y) the counts of the roles.

`solve` decodes on a chain of spans with prices on rules and branches if a gap is left; `graph`
writes a table as a factor graph. `certificate`, `bounds` and `verify` prove the answer again.

Imports `graphs`, `constraints` and the floors below.
"""
