"""Rules as text: scanner, grammar, calls and the parser of rule files."""
