"""Selection of weights and feature templates by regularisation paths.

    min_w f(w) + s Ω(w)   for falling strengths s

`path` trains a tagger along such a path, each point starting from the one before; `path_points`
holds the points and prints them as a table, and `plots` draws them. `template_sizes` counts the
weights of each template. `templates` runs a group lasso over templates and picks a point by its
score on a development set and its size.

Imports `taggers`, `learn`, `evaluation` and the floors below.
"""
