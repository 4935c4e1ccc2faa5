"""Factor graphs: binary variables, factors on their literals, and the best assignment.

The score of an assignment ``z``, for scores ``c`` of variables and ``h_m`` of factors, is

    P(z) = c·z + Σ_m h_m(z_m),

and `solve` finds the best ``z`` by AD3 with branch and bound. `certificate`, `bounds` and `verify`
prove the answer again from the factors themselves, without the solver in the core.

Imports `automata` (for chains as factors) and the floors below. `trelliswork.factors` is the public
door.
"""
