"""Helpers that every room may import. Nothing here knows what a label is.

Text tables, the progress bar of training, thread counts, checks of arguments and of arrays in model
files, lazy names of packages.

Imports `errors`, NumPy and the standard library; joblib and rich only inside functions.
"""
