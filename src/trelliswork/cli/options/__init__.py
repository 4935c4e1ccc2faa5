"""Options that several commands share, by subject.

`shared` has the options of most commands: labels, separators, threads. `data` reads labelled files,
`dev` the development set, `unlabelled` sentences without labels, and `rules` rules with their
places. `structure` (features, order, segments), `sparsity` and `training` are the options of a
model. A help panel is a dataclass.

Imports `cli.errors`, `cli.streaming`, `taggers` (for types), `learn` and the floors below. Imports
no command.
"""
