"""Bibliographic records: what a work is, works that ship with the package, works from files.

Records are what references are made from, to train on: those of the package and those of users,
who keep them as BibTeX or CSL-JSON.
"""

from trelliswork.citations.records.works import WORK_TYPES, Name, Work, load_works

__all__ = ["WORK_TYPES", "Name", "Work", "load_works"]
