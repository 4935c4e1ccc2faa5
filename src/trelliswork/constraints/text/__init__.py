"""Rules as text: the parser of rules and rule files.

`parser` reads rules by way of `grammar`, `calls` and `scanner`; `vocabulary` lists the words and
operators. Rule text is never executed as code.
"""
