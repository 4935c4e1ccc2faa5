"""References of .bbl files."""

import pytest

from trelliswork.citations.documents import split_references
from trelliswork.errors import DataError

BBL = r"""
\begin{thebibliography}{10}
\providecommand{\natexlab}[1]{#1}

\bibitem[Erd{\H{o}}s and R{\'e}nyi(1959)]{erdos59}
Paul Erd{\H{o}}s and Alfr{\'e}d R{\'e}nyi.
\newblock On random graphs {I}.
\newblock \emph{Publicationes Mathematicae Debrecen}, 6:\penalty0 290--297,
  1959.
% \bibitem{old} gone
\bibitem[{van der Maaten} et~al.({2008})]{maaten}
Laurens {van der Maaten} and Geoffrey Hinton.
\newblock Visualizing data using {$t$-SNE}.
\newblock \emph{J. Mach. Learn. Res.}, 9\penalty0 (2):\penalty0 2579--2605,
  2008.
\newblock URL \url{https://ex.org/a_b%20c}.

\bibitem{empty}

\bibitem{knuth}
D.~E. Knuth, ``{\TeX} \& friends,'' 1984.\hskip 1em plus
  0.5em minus 0.4em\relax Addison.

\end{thebibliography}
afterwards
"""


def test_bbl():
    entries = split_references(BBL, name="paper.bbl")
    assert [(entry.key, entry.text) for entry in entries] == [
        (
            "erdos59",
            "Paul Erdős and Alfréd Rényi. On random graphs I. Publicationes Mathematicae "
            "Debrecen, 6:290–297, 1959.",
        ),
        (
            "maaten",
            "Laurens van der Maaten and Geoffrey Hinton. Visualizing data using t-SNE. "
            "J. Mach. Learn. Res., 9(2):2579–2605, 2008. URL https://ex.org/a_b%20c.",
        ),
        ("knuth", "D. E. Knuth, “TeX & friends,” 1984. Addison."),
    ]
    first = entries[0].text.index("Erdős")
    start, end = entries[0].locate(first, first + 5)
    assert BBL[start:end] == r"Erd{\H{o}}s"
    start, end = entries[0].locate(0, len(entries[0].text))
    assert BBL[start:end].startswith("Paul")
    assert BBL[start:end].endswith("1959.")
    assert entries[0].locate(2, 2) == (start + 2, start + 2)


def test_bbl_of_biblatex_is_refused():
    text = "% $ biblatex auxiliary file $\n\\refsection{0}\n\\entry{a}{article}{}\n\\endentry\n"
    with pytest.raises(DataError, match=r"p.bbl: expected .* biblatex.*--from"):
        split_references(text, name="p.bbl")
