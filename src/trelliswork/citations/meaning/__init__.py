"""Typed values from labelled fields: people, dates, pages, identifiers, the type of a work.

The model labels the words of authors and dates; plain rules on each field decide here what they
mean. `trelliswork.citations.meaning.interpret` combines the values to a reference.
"""
