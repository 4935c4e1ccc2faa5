"""From fields to typed values: people, dates, pages, identifiers, the type of a work.

A model says which words are the authors and which the date; what they mean is decided here, by
plain rules on each field alone. `trelliswork.citations.meaning.interpret` puts it all together.
"""
