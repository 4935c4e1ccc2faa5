"""Choices that depend on each other: a factor graph, its relaxation, and a proof."""

import numpy as np

import trelliswork as tw
from trelliswork.factors import AtMostOne, Chain, Imply, NoOverlap, Xor, XorOut

TOKENS = ["Ann", "sold", "Bob", "the", "red", "car", "yesterday"]
SPANS = [(0, 1), (2, 3), (2, 6), (3, 6), (6, 7)]  # first token, and the one after the last
ROLES = ["Seller", "Buyer", "Goods", "Time"]
SCORES = np.array(  # (roles, spans): how well a span fills a role
    [
        [2.0, 0.5, 0.2, 0.1, -1.0],
        [1.5, 1.2, 0.3, 0.1, -1.0],
        [-1.0, 0.2, 1.8, 1.5, -1.0],
        [-2.0, -1.0, -1.0, -0.5, 0.8],
    ]
)


def roles() -> None:
    """Fill each role with one span at most; spans do not overlap; a buyer needs goods."""
    graph = tw.FactorGraph()
    z = graph.binary(SCORES.shape, SCORES, name="z")
    empty = graph.binary(len(ROLES), name="empty")  # the role stays empty
    graph.add(*(Xor([row, none]) for row, none in zip(z, empty, strict=True)))
    graph.add(NoOverlap(z, np.tile(SPANS, (len(ROLES), 1))))
    graph.add(Imply(~empty[1], ~empty[2]))
    found = tw.solve(graph)
    print(f"{graph}\n{found.status}, worth {found.score:.1f}:")
    for role, row in zip(ROLES, found[z], strict=True):
        for start, end in np.array(SPANS)[row]:
            print(f"  {role}: {' '.join(TOKENS[start:end])}")
    print(tw.verify(graph, found).reason)


def sentences() -> None:
    """Tag two sentences whose common word has one label."""
    stay = 0.5 * np.eye(2)
    graph = tw.FactorGraph()
    x = graph.categorical(3, 2, [[0.0, 1.0], [0.0, 0.4], [1.0, 0.0]])
    y = graph.categorical(2, 2, [[1.0, 0.0], [0.7, 0.0]])
    graph.add(Chain(x, stay), Chain(y, stay))
    apart = tw.solve(graph)
    graph.add(*(XorOut([x[1] == v], y[1] == v) for v in range(2)))
    together = tw.solve(graph)
    print(f"\napart {apart[x]} {apart[y]}, together {together[x]} {together[y]}")


def cycle() -> None:
    """Neighbours exclude each other, and their number is odd: nothing but halves in the LP."""
    graph = tw.FactorGraph()
    z = graph.binary(9, 1.0)
    graph.add(*(AtMostOne([z[i], z[i - 1]]) for i in range(9)))
    print()
    for method in ("ad3", "lp", "branch", "milp"):
        found = tw.solve(graph, method)
        print(f"{method:6} {found.status:10} bound {found.upper_bound:.2f} nodes {found.nodes}")


if __name__ == "__main__":
    roles()
    sentences()
    cycle()
