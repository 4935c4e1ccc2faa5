"""The command line: ``trelliswork train | tag | evaluate | inspect``."""

from trelliswork.cli.app import app, main

__all__ = ["app", "main"]
