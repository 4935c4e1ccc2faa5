"""Best labellings under rules, with proofs.

    ŷ = argmax_y score(y) − Σ_c ρ_c v_c(y)

`exact` decodes batches for taggers, `solve` one `Problem` by a named method (product, lazy, dual,
A*, branch and bound, MILP, beam). `answers` has the public results; `certificate`, `bounds` and
`verify` prove them again without a search: no prices are sought, nothing is branched on. They use
the compiled automata of the plan and the Viterbi pass, and recompute the value from the definitions
of the rules.

Imports `planning`, `inference`, `proofs` and the floors below.
"""
