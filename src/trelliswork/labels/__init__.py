"""The meaning of labels: schemes, segments, and segments as token labels.

`LabelSet` maps names to ids and knows the scheme (plain, IOB1, BIO, BIOES, BILOU, path). `segments`
reads spans from labels. `segmentation` is the alphabet of a semi-Markov model: tag ``y`` begins a
segment of label ``y``, tag ``y + L`` continues it. `gold` turns gold labels, partial ones included,
into the sets of labels that training sums over.

Imports `data` and the floors below.
"""
