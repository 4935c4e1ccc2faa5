"""Invented works: thousands of names, titles and venues in the places where they belong.

The stock of words is in text files; the modules put it together, so that the parts of a work agree
with one another.
"""

from trelliswork.citations.invention.works import invent_works

__all__ = ["invent_works"]
