"""Rules as text: the parser of rules and rule files.

`parser` splits files into rules. `grammar` reads a rule: it takes tokens from `scanner`, calls
words by `calls` and applies operators by `operators` to `values`, which know their places.
`vocabulary` lists the words and operators. Rule text is never executed as code.

Imports the words of `constraints`, `labels` and `errors`. Does not import `lint`.
"""
