"""The command line: ``trelliswork train | tag | evaluate | explain | inspect | select | cite``.

Each command is a module of the same name, imported when it runs. Its options are dataclasses
(option groups), one for each help panel; see `trelliswork.cli.panels`.
"""

from trelliswork.cli.app import app, main

__all__ = ["app", "main"]
