"""Works in citation styles, labelled: the references that models are trained on.

There are styles of our own, by author and by number, and those of the Citation Style Language.
Both write a work as pieces of text that know their field; noise distorts them as printing and
copying do; cut into tokens, they are labelled references. `trelliswork.citations` offers the
names that others need.
"""
