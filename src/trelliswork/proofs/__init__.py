"""The contract of all answers: labellings, assignments of factor graphs, assignments of spans.

An `answer.Answer` has a score, an upper bound, a status and a `certificate.Certificate`: leaves
that split what there is to choose from, each with a bound of its own. `verification.check` proves
an answer again from them:

    score ≥ max over leaves of bound(leaf)   ⟹   nothing is better

The bounds differ with the kind of problem and stay in `decoding`, `graphs` and `spans`. Imports
nothing but `errors` and `_utils`.
"""
