"""Labelled references for training: works written in citation styles.

The package has styles of its own, by author and by number, and uses those of the Citation Style
Language (`csl`). Both write a work as pieces of text with a field each; `noise` distorts them as
printing and copying do; `generate` cuts them into labelled tokens. The public names are those of
`trelliswork.citations`.
"""
