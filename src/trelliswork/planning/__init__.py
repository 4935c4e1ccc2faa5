"""Plans: what each rule compiles into, and what it costs.

A rule becomes a mask over labels, a token charge taken from ``φ``, an automaton in a product with
the model, or a row ``a·n(y) ≤ b`` that decoding prices. The violation sum is split into terms:

    Σ_c ρ_c v_c(y) = Σ_{terms i} ρ_i v_i(y),   v_i a row's excess or a bit.

`plan` holds the parts together, `placements` is the table that decides where a rule goes.
`splitting` splits rules into terms. `terms`, `hard_rules`, `training`, `pricing` and `costs` are
the parts of a plan. `evidence` evaluates token tests on a batch.

Imports `constraints`, `inference` and the floors below.
"""
