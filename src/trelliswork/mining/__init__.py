"""Mining: rules that gold labels satisfy and predictions break.

    importance(c) = (#predictions that break c + s) / (#gold labellings that break c + s)

`families` lists the candidates of each family of rules, `counts` counts the names in labellings so
that all candidates can be checked at once, `mine` ranks and prunes them and learns their penalties,
and `table` is the result, a sequence that prints as a table.

Imports `taggers` (for types), `learn.penalties`, `evaluation`, `constraints` and the floors below.
"""
