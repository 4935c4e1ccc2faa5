"""Plans: the compiled form and the cost of each rule.

A rule becomes a mask over labels, a token charge subtracted from ``φ``, an automaton in a product
with the model, or a row ``a·n(y) ≤ b`` that decoding prices; a predicate, a Python function, is
left to a search over prefixes. The violation sum is split into terms:

    Σ_c ρ_c v_c(y) = Σ_{terms i} ρ_i v_i(y),   v_i the excess of a row, or a bit.

`plan` holds the parts together, `placements` is the table that decides where a rule goes.
`splitting` splits rules into terms. `terms`, `hard_rules`, `training`, `pricing` and `costs` are
the parts of a plan. `products` and `term_products` multiply the model with rules and with terms,
which gives a `rule_product`. `violation_automata` makes automata of terms, and `cache` keeps
products on disk. `events`, `marked_automaton` and `marked_product` mark the arcs that prices
charge. `token_charges` and `predicates` find and evaluate the rules of those forms, `evidence`
evaluates token tests on a batch.

Imports `constraints`, `inference` and the floors below.
"""
