"""Evaluation: the quality of predictions, and their violations of rules.

    precision = correct / predicted,  recall = correct / gold,  F1 = 2 correct / (predicted + gold)

of segments, as conlleval counts them. `scoring` counts sentence by sentence, `report` adds up the
counts by field, `confusion` compares token labels, `calibration` compares confidence with accuracy,
`significance` tests the difference of two systems by approximate randomisation, `rule_report`
counts violations of rules, and `plots` draws figures.

Imports `constraints`, `labels` and the floors below. Reads labels, never models.
"""
