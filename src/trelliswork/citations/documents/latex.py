"""LaTeX of bibliographies to plain text and back.

This is not TeX: it knows the commands that occur in references, listed in the tables at the end. Of
any other command it drops the name and keeps the arguments. Every character of the plain text has
its origin in the source, so that a field can be shown in the ``.bbl`` it was read from.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def _token(comment: str) -> re.Pattern[str]:
    return re.compile(
        r"\\(?P<word>[A-Za-z]+(?:@[A-Za-z]+)*)\*?\s*"
        rf"|\\(?P<sign>.){comment}"
        r"|(?P<ligature>---?|``|''|[!?]`)"
        r"|(?P<plain>[^\\{}$~%`'!?-]+|[`'!?-])"
        r"|(?P<mark>.)",
        re.DOTALL,
    )


_TOKEN = _token(r"|(?P<comment>%[^\n\r]*(?:\r?\n[ \t]*)?)")

_TOKEN_NO_COMMENT = _token("")

_IN_URL = re.compile(
    r"\\(?P<sign>[^A-Za-z\s])(?:\{\})?"
    r"|(?P<comment>%\r?\n[ \t]*|[{}])"
    r"|(?P<plain>[^\\{}%]+|.)",
    re.DOTALL,
)

_LIGATURES = {"--": "–", "---": "—", "``": "“", "''": "”", "!`": "¡", "?`": "¿"}

_SIGNS = dict.fromkeys("/-!@()[]", "") | dict.fromkeys("\\,;:> \n\r\t", " ")

_LENGTH = re.compile(
    r"[-+]?[\d.]+\s*[a-z]{2}(?:\s*plus\s*[-\d.]+\s*[a-z]{2,5})?(?:\s*minus\s*[-\d.]+\s*[a-z]{2,5})?"
    r"\s*(?:\\relax\s*)?"
)

_PENALTY = re.compile(r"-?\d+\s?")

_ESCAPES = {
    "\\": r"\textbackslash{}",
    # BibTeX counts braces even where they are escaped.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
} | {sign: "\\" + sign for sign in "$&%#_"}

_SPECIAL = re.compile(r"[\\{}^~$&%#_]|(?<=-)-|(?<=')'|(?<=[`!?])`")


def decode_latex(text: str, *, comments: bool = True) -> tuple[str, Sequence[int]]:
    r"""Return LaTeX as plain text, and the origin of each of its characters.

    White space stays as it is; ``~``, ``\newblock`` and the like become a blank. Accents and their
    letters become one character. The content of ``$…$`` stays, without its braces.

    Parameters
    ----------
    text : str
        A stretch of LaTeX; braces need not match.
    comments : bool
        Whether a ``%`` begins a comment, as it does in a file but not always in a ``.bib`` field.

    Examples
    --------
    >>> decode_latex(r"K.~G{\"o}del, {\em \"Uber} 'x' --- $\alpha$ \& \url{a_b%20}")[0]
    "K. Gödel, Über 'x' — α & a_b%20"
    """
    plain, starts, _ = decode_latex_spans(text, comments=comments)
    return plain, starts


def decode_latex_spans(
    text: str, *, comments: bool = True
) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return plain text as `decode_latex` does, and start and end of each character's source."""
    decoder = _Decoder(text, comments)
    decoder.run()
    return "".join(decoder.pieces), decoder.starts, decoder.ends


def encode_latex(text: str) -> str:
    r"""Return plain text as LaTeX that BibTeX can read; letters stay as they are.

    Examples
    --------
    >>> encode_latex("Müller & Söhne: 100% {sic}")
    'Müller \\& Söhne: 100\\% \\textbraceleft{}sic\\textbraceright{}'
    """
    # An empty group keeps signs apart that would become another one together: "--".
    return _SPECIAL.sub(lambda match: _ESCAPES.get(match[0], "{}" + match[0]), text)


class _Decoder:
    """A pass over the text from left to right; braces vanish, groups are not nested calls."""

    def __init__(self, text: str, comments: bool) -> None:
        self.text = text
        self.comments = comments
        self.pieces: list[str] = []
        self.starts = array("q")
        self.ends = array("q")
        self._place = 0
        self._accents: list[tuple[str, int]] = []  # that wait for their letter, and their starts
        self._closing: dict[int, str] = {}  # the text printed for a closing brace
        self._url_end = -1
        self._braces: dict[int, int] | None = None

    def run(self) -> None:
        tokens = _TOKEN if self.comments else _TOKEN_NO_COMMENT
        while self._place < len(self.text):
            in_url = self._place < self._url_end
            match = (_IN_URL if in_url else tokens).match(self.text, self._place)
            assert match is not None  # the last alternative matches anything
            start, self._place = match.span()
            kind, value = match.lastgroup or "", match[match.lastgroup or 0]
            if kind == "plain":
                self._copy(start, self._place)
            elif kind == "word":
                self._command(value, start)
            elif kind == "sign":
                self._sign(value, start, in_url)
            elif kind == "ligature":
                self._emit(_LIGATURES[value], start)
            elif kind == "mark":
                self._mark(value, start)
        self._spend_accents(self._place)

    def _emit(self, characters: str, start: int) -> None:
        """Add the plain text for the source from `start` to here."""
        if self._accents and characters:
            if characters[0].isspace():
                self._spend_accents(start)
            else:
                characters, start = self._accented(characters, start)
        self.pieces.append(characters)
        self.starts.extend([start] * len(characters))
        self.ends.extend([self._place] * len(characters))

    def _copy(self, start: int, end: int) -> None:
        if self._accents:
            # The accent is for the first letter alone; the braces around it belong to it.
            begin = start
            while begin < end and self.text[begin].isspace():
                begin += 1
            if begin == end:
                return
            self._place = begin + 1
            if self.text[begin - 1] == "{" and self.text[begin + 1 : begin + 2] == "}":
                self._place += 1
            self._emit(self.text[begin], begin)
            start = begin + 1
            self._place = max(self._place, end)
        self.pieces.append(self.text[start:end])
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def _accented(self, characters: str, start: int) -> tuple[str, int]:
        base = {"ı": "i", "ȷ": "j"}.get(characters[0], characters[0])
        for accent, _ in reversed(self._accents):
            base += ACCENTS[accent]
        start = self._accents[0][1]
        self._accents.clear()
        return unicodedata.normalize("NFC", base) + characters[1:], start

    def _spend_accents(self, end: int) -> None:
        r"""Print accents without a letter: ``\~{}`` is a tilde."""
        accents, self._accents = self._accents, []
        for accent, start in accents:
            if not accent.isalpha():
                self.pieces.append(accent)
                self.starts.append(start)
                self.ends.append(max(end, start + 1))

    def _mark(self, mark: str, start: int) -> None:
        if mark == "~":
            self._emit(" ", start)
        elif mark == "%":
            self._emit(mark, start)
        elif mark == "}":
            if self._accents:
                self._spend_accents(self._place)
            if start in self._closing:
                self._emit(self._closing[start], start)

    def _sign(self, sign: str, start: int, in_url: bool) -> None:
        if in_url or sign not in ACCENTS:
            self._emit(sign if in_url else _SIGNS.get(sign, sign), start)
        else:
            self._accents.append((sign, start))

    def _command(self, name: str, start: int) -> None:
        if name in ACCENTS:
            self._accents.append((name, start))
        elif name in LETTERS:
            self._emit(LETTERS[name], start)
        elif name in OPERATORS:
            self._operator(name, start)
        elif name in SPACES:
            if length := _LENGTH.match(self.text, self._place):
                self._place = length.end()
            self._emit(" ", start)
        elif name == "penalty":
            if penalty := _PENALTY.match(self.text, self._place):
                self._place = penalty.end()
        elif name in VERBATIM:
            self._url_end = self._group_end(self._place)
        elif name == "enquote":
            if (end := self._group_end(self._place)) > 0:
                self._closing[end - 1] = "”"
                self._emit("“", start)
        else:
            for _ in range(DROPPED_ARGUMENTS.get(name, 0)):
                self._place = max(self._place, self._group_end(self._place))
                while self.text[self._place : self._place + 1].isspace():
                    self._place += 1

    def _operator(self, name: str, start: int) -> None:
        r"""Print the name of a function, apart from the letters around it: ``n\log n``."""
        if self.pieces and self.pieces[-1][-1:].isalnum():
            name = f" {name}"
        self._emit(name + " " * self.text[self._place : self._place + 1].isalnum(), start)

    def _group_end(self, place: int) -> int:
        """Return the end of the group that begins at a place, or -1 if there is none."""
        if self._braces is None:
            self._braces = _matching_braces(self.text)
        return self._braces.get(place, -1)


def _matching_braces(text: str) -> dict[int, int]:
    ends: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            ends[opened.pop()] = match.end()
    return ends


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
"""Commands for letters and words; the last line has those of the apacite styles."""

_OPERATORS = """
    arg cos cosh cot deg det dim exp gcd hom inf ker lim ln log max min mod Pr sin sinh sup tan tanh
    """

OPERATORS = frozenset(_OPERATORS.split())
"""Mathematical functions, printed by their names."""

_SPACES = """
    newblock par newline linebreak quad qquad space enspace thinspace hfill break smallskip medskip
    bigskip nobreakspace hskip vskip kern BibitemOpen
    """

SPACES = frozenset(_SPACES.split())
"""Commands that stand for white space."""

_DROPPED = _pairs(
    """
    href 1 href@noop 1 Eprint 1 bibinfo 1 bibfield 1 BibitemShut 1 textcolor 1 color 1
    foreignlanguage 1 selectlanguage 1 hspace 1 vspace 1 label 1 begin 1 end 1
    APACinsertmetastar 1 APACrefatitle 1 APACrefbtitle 1
    """
)

DROPPED_ARGUMENTS = {command: int(count) for command, count in _DROPPED.items()}
"""Commands whose first arguments are not printed, and the number of these arguments."""

VERBATIM = frozenset({"url", "path", "nolinkurl", "doi"})
"""Commands whose argument is printed unchanged."""
