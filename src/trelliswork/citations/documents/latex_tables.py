r"""What LaTeX commands stand for, in the text of a bibliography."""

from __future__ import annotations


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_COMBINING = _pairs(
    """
    ` 0300 ' 0301 ^ 0302 " 0308 ~ 0303 = 0304 . 0307 u 0306 v 030c H 030b r 030a c 0327 k 0328
    d 0323 b 0331 t 0361 G 030f U 030e
    """
)
ACCENTS = {command: chr(int(code, 16)) for command, code in _COMBINING.items()}
"""The combining mark that an accent puts on the letter after it."""

LETTERS = _pairs(
    r"""
    aa å AA Å ae æ AE Æ oe œ OE Œ o ø O Ø l ł L Ł ss ß SS ẞ i ı j ȷ dh ð DH Ð th þ TH Þ dj đ DJ Đ
    ng ŋ NG Ŋ S § P ¶ dag † ddag ‡ copyright © pounds £ euro € texteuro €
    ldots … dots … textellipsis … textendash – textemdash —
    textquoteleft ‘ textquoteright ’ textquotedblleft “ textquotedblright ” textquotesingle '
    textquotedbl " guillemotleft « guillemotright » quotedblbase „ quotesinglbase ‚
    glqq „ grqq “ flqq « frqq »
    textbackslash \ textasciicircum ^ textasciitilde ~ textbraceleft { textbraceright }
    textunderscore _ textdollar $ textbar | textless < textgreater >
    textordfeminine ª textordmasculine º textdegree ° textregistered ® texttrademark ™
    textbullet • textperiodcentered · textexclamdown ¡ textquestiondown ¿
    TeX TeX LaTeX LaTeX BibTeX BibTeX
    times × cdot · pm ± leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ sim ∼ infty ∞ to → rightarrow →
    leftarrow ← leftrightarrow ↔ sqrt √ sum ∑ partial ∂ ell ℓ prime ′ circ ∘
    alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ iota ι kappa κ
    lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
    BBA & BBOP ( BBCP ) BED Ed. BEDS Eds. BPG p. BPGS pp. BIn In BVOL Vol. BNUM No.
    """
)
"""Commands that are written out; the last line is what apacite has its styles say."""

_OPERATORS = """
    arg cos cosh cot deg det dim exp gcd hom inf ker lim ln log max min mod Pr sin sinh sup tan tanh
    """
OPERATORS = frozenset(_OPERATORS.split())
"""Functions of mathematics that are printed as they are called."""

_SPACES = """
    newblock par newline linebreak quad qquad space enspace thinspace hfill break smallskip medskip
    bigskip nobreakspace hskip vskip kern BibitemOpen
    """
SPACES = frozenset(_SPACES.split())
"""Commands that are white space."""

_DROPPED = _pairs(
    """
    href 1 href@noop 1 Eprint 1 bibinfo 1 bibfield 1 BibitemShut 1 textcolor 1 color 1
    foreignlanguage 1 selectlanguage 1 hspace 1 vspace 1 label 1 begin 1 end 1
    APACinsertmetastar 1 APACrefatitle 1 APACrefbtitle 1
    """
)
DROPPED_ARGUMENTS = {command: int(count) for command, count in _DROPPED.items()}
"""Commands whose first arguments are not printed, and how many of them."""

VERBATIM = frozenset({"url", "path", "nolinkurl", "doi"})
"""Commands whose argument is printed as it stands."""
