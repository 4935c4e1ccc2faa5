"""``trelliswork cite``: the commands of the reference parser.

`cite` is the group of commands, `parse` its default. One file a command: `parse` writes records or
a page, `review` a form for corrections, `train` trains a model on corrections and records, `adapt`
adapts one to references without labels. `input` reads the documents and models of all four.

Imports `cli.deferred`, `cli.errors`, `cli.help`, `citations`, `taggers` and the floors below.
"""
