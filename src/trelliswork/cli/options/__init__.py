"""Options that several commands share, by subject."""
