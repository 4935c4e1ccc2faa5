"""Sentences and the files they come from.

`Sentence` (tokens, further columns, labels) and `Corpus`; CoNLL columns and JSON lines, read in
constant memory and written atomically; tokenizers for raw text with character offsets.

Imports `errors` and `_utils`. Knows nothing of labels beyond their spelling.
"""
