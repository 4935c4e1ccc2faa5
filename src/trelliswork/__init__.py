"""Sequence labelling that obeys rules."""
