"""The estimators: `CRFTagger`, `HMMTagger`, `PerceptronTagger`, `CODLTagger`.

scikit-learn conventions: ``__init__`` stores, ``fit`` validates, learned state ends in ``_``.
`trained` predicts with a model, `base` adds scoring and saving, `saving` and `load` turn a tagger
into a file and back; loading never executes code from the file.

Imports `learn`, `models` and the floors below.
"""
