"""Best labellings under rules, with proofs.

    ŷ = argmax_y score(y) − Σ_c ρ_c v_c(y)

`exact` decodes batches for taggers; `solve` decodes `problem`s, stacked in a `problem_batch`, by a
named method. The methods are `prices` (dual, A*, branch and bound; its results are
`priced_answers`), `lazy`, `milp` and `prefixes` (beam, and search under predicates). `masks` closes
labels, `conflicts` finds rules that cannot hold together, `on_products` and `probabilities` put
sums over labellings under rules.

`answers` has the public results, and `describe` makes them for taggers. `certificate`, `bounds`,
`counted_bounds` and `verify` prove them again without a search: prices and decisions come with the
certificate. They use the compiled automata of the plan and the Viterbi pass, and recompute the
value from the definitions of the rules.

Imports `planning`, `inference`, `proofs` and the floors below.
"""
