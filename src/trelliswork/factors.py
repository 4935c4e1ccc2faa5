"""Factors of graphs: the public door to `trelliswork.graphs`.

>>> import trelliswork as tw
>>> from trelliswork.factors import AtMostOne, Xor
>>> graph = tw.FactorGraph()
>>> z = graph.binary(3, scores=[1.0, 2.0, 3.0])
>>> graph.add(AtMostOne(z))
>>> tw.solve(graph)[z].tolist()
[False, False, True]
"""

from trelliswork.graphs.factors import (
    AtMostOne,
    Budget,
    Chain,
    Factor,
    Imply,
    Knapsack,
    NoOverlap,
    Or,
    OrOut,
    Pair,
    Rows,
    Xor,
    XorOut,
)

__all__ = [
    "AtMostOne",
    "Budget",
    "Chain",
    "Factor",
    "Imply",
    "Knapsack",
    "NoOverlap",
    "Or",
    "OrOut",
    "Pair",
    "Rows",
    "Xor",
    "XorOut",
]
