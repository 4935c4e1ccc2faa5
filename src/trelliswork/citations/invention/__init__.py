"""Invented works: bibliographic records put together at random, for training.

`works` is the entry point, `draft` an unfinished work. `parts` and `sites` add the fields of each
type of work, from `titles`, `foreign` titles, `people`, `venues` and `numbers`. `stock` reads the
text files with names, titles and venues. The parts of a work agree with one another.

Imports `records`, `styles.wording`, `fields` and `errors`.
"""

from trelliswork.citations.invention.works import invent_works

__all__ = ["invent_works"]
