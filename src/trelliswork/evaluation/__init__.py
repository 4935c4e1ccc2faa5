"""How good predictions are.

`Report` (token accuracy, precision, recall and F1 of segments as conlleval counts them, violations
of rules), confusion, calibration, approximate randomisation tests, plots.

Imports `constraints`, `planning` and the floors below. Reads labels, never models.
"""
