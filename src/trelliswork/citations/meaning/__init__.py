"""Typed values from labelled fields: people, dates, pages, identifiers, the type of a work.

The model labels the words of authors and dates; plain rules on each field decide here what they
mean. `interpret` combines the values to a reference, after `relabelled` has corrected labels and
`trimming` has removed marks. `people` cuts lists of names, `person` reads one name, `values` dates,
pages and titles, `identifiers` DOIs and addresses, and `entry_types` guesses the type.

Imports `records`, `reference` and `fields`.
"""
