"""Factor graphs: binary variables, factors on their literals, and the best assignment.

A graph with scores ``c`` and factors ``h_m`` is worth

    P(z) = c·z + Σ_m h_m(z_m),

and `solve` finds the best ``z`` by AD3 with branch and bound. `certificate`, `bounds` and `verify`
prove the answer again; they share no code with the solver.

Imports `automata` (for chains as factors) and the floors below. `trelliswork.factors` is the public
door.
"""
