"""Helpers without a subject of their own: nothing here knows what a label is.

Text tables, progress bars, thread counts, checks of arguments, lazy imports.

May be imported by every room. Imports only NumPy and the standard library (and joblib or rich
inside a function).
"""
