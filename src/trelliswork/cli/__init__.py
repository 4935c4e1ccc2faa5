"""The command line: ``trelliswork train | tag | evaluate | explain | inspect | select | cite``.

One file per command. `options` holds the options that commands share, a dataclass for each help
panel (`panels`); a command is imported when it runs (`deferred`), so that ``--help`` starts at
once. Errors end in one line on standard error and exit code 2 (`errors`).

Imports from any room below. Only ``__main__`` imports it.
"""

from trelliswork.cli.app import app, main

__all__ = ["app", "main"]
