"""Invented works: bibliographic records put together at random, for training.

The stock of names, titles and venues is in text files. The modules combine it so that the parts of
a work agree with one another. `invent_works` is the entry point.
"""

from trelliswork.citations.invention.works import invent_works

__all__ = ["invent_works"]
