"""Rules found in data.

`mine` counts, for families of rules, how often predictions break what gold labels keep, and ranks
them by

    importance = violations in predictions − violations in gold labels, a sentence.

Imports `taggers`, `constraints` and the floors below.
"""
