"""Bibliographic records: `Work`, the works that ship with the package, and works from files.

References for training are written from records. `works` holds those of the package
(``works.jsonl``), `read_bibtex` and `read_csl` read those of users; `records` has their common
parts, `bibtex_names` the names in BibTeX files. `csl` converts works to items of CSL-JSON.

Imports `documents`, `meaning.identifiers`, `meaning.values`, `fields` and `errors`.
"""

from trelliswork.citations.records.works import WORK_TYPES, Name, Work, load_works

__all__ = ["WORK_TYPES", "Name", "Work", "load_works"]
