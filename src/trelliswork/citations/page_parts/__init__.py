"""The parts of the page that shows references: text, palette, summary, cards, style and script."""
