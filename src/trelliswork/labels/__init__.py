"""What labels mean: schemes, segments, and the token labels that segments are written as.

`LabelSet` maps names to ids and knows the scheme (plain, BIO, BIOES, path). `segments` reads spans
from labels, `segmentation` is the alphabet of a semi-Markov model: tag ``y`` begins a segment of
label ``y``, tag ``y + L`` continues it. `gold` turns gold labels, partial ones included, into the
label sets that training sums over.

Imports `data` and the floors below.
"""
