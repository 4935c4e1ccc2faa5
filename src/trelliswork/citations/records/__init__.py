"""Bibliographic records: `Work`, the works that ship with the package, and works from files.

References for training are written from records: those of the package, and those of users in BibTeX
or CSL-JSON files.
"""

from trelliswork.citations.records.works import WORK_TYPES, Name, Work, load_works

__all__ = ["WORK_TYPES", "Name", "Work", "load_works"]
