"""Labelled references for training: works written in citation styles.

The package has styles of its own (`own`), by author (`by_author`) and by number (`by_number`), and
uses those of the Citation Style Language (`csl`). Both write a work as pieces of text with a field
each: `render` fills a `template`, with the `names` and the `wording` of the style; in text from
other programs, `marks` keep the fields. `noise` distorts references as printing and copying do;
`generate` cuts them into labelled tokens. The public names are those of `trelliswork.citations`.

Imports `records`, `fields` and `errors`.
"""
