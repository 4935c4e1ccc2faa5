"""The estimators: `CRFTagger`, `HMMTagger`, `PerceptronTagger`, `CODLTagger`.

    predict(x) = argmax_y score(y) − Σ_c ρ_c v_c(y)

They follow the conventions of scikit-learn: ``__init__`` stores parameters, ``fit`` checks them and
calls a learner, learned attributes end in ``_``. `trained` predicts with a model and its
constraints, `base` adds scoring and saving, `parameters` checks parameters and converts them to
JSON. `saving` and `model_file` turn a tagger into a file, `load` and `restoring` turn it back;
loading never executes code from the file. `inspection` reads sizes and weights off a tagger,
`changes` compares its answers with and without constraints.

Imports `learn`, `models`, `decoding` and the floors below.
"""
