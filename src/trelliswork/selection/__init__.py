"""Which weights a model needs: regularisation paths and feature templates.

`path` refits along falling strengths of a regulariser, each model starting from the one before;
`templates` ranks the templates along such a path and picks a set by dev score and size.

Imports `taggers`, `learn` and the floors below.
"""
