"""Roles of a frame: which span fills which role, under rules between them.

"A blackberry resembles a loganberry" has two distinct entities (Entity_1, Entity_2), "most berries
resemble each other" has them as one (Entities). The lexicon says that the one excludes the other,
and that the first two require each other; scores alone know nothing of it.
"""

import numpy as np

import trelliswork as tw

TEXT = "This fruit , he says , resembles a loganberry in taste ."
TOKENS = TEXT.split()
SPANS = [(0, 2), (3, 4), (3, 5), (7, 9), (7, 11), (9, 11)]
ROLES = ["Entity_1", "Entity_2", "Entities", "Dimension"]
# Rows are spans, columns are roles: log-odds against leaving the role empty, say.
SCORES = np.array(
    [
        [1.6, -2.0, 1.3, -3.0],  # This fruit
        [0.3, -2.0, 0.2, -3.0],  # he
        [-1.0, -2.5, -1.0, -3.0],  # he says
        [-1.5, -0.2, -0.5, -2.0],  # a loganberry
        [-1.5, 0.1, -0.8, -1.0],  # a loganberry in taste
        [-3.0, -1.5, -2.0, 0.9],  # in taste
    ]
)


def show(title: str, found: tw.Assignment) -> None:
    filled = ", ".join(
        f"{role} = {' '.join(TOKENS[slice(*span)])!r}" for role, span in found.roles.items() if span
    )
    bound = f"score {found.score:.1f}, no better than {found.upper_bound:.1f}: {found.status}"
    print(f"{title}\n  {filled}\n  {bound}\n")


def main() -> None:
    print(TEXT, "\n")
    table = tw.SpanTable(SPANS, ROLES, SCORES)
    show("each role alone", tw.assign(table))

    rules = [tw.no_overlap()]
    show("no overlap", tw.assign(table, rules))

    rules += [tw.excludes("Entities", "Entity_1"), tw.excludes("Entities", "Entity_2")]
    show("… and the lexicon's exclusions", tw.assign(table, rules))

    # requires is one-way; both directions: both roles or none.
    rules += [tw.requires("Entity_1", "Entity_2"), tw.requires("Entity_2", "Entity_1")]
    best = tw.assign(table, rules)
    show("… and its requirements", best)
    print("checked from its certificate:", tw.verify(table, best).status, "\n")

    # A soft rule has a price: here, one that is worth paying.
    soft = [tw.no_overlap().soft(0.1), *rules[1:]]
    answer = tw.assign(table, soft)
    show("overlap at a price of 0.1", answer)
    print("broken:", dict(answer.violations))


if __name__ == "__main__":
    main()
