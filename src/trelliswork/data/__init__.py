"""Sentences, corpora and their files.

`sentence` and `corpus` hold tokens, further columns and labels. `conll` and `jsonl` read files in
constant memory and write them atomically, by way of `files`. `tokenizer` splits raw text and keeps
the character offsets of tokens.

Imports `errors` and the floors below. Labels are plain strings here; their meaning is in `labels`.
"""
