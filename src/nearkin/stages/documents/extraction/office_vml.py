"""Text in drawings of older programs (VML): captions of buttons and other controls, and WordArt, such as watermarks."""

from __future__ import annotations

import html
import re
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_xml import ExpansionLimit, decoded, in_known_encoding

_TAG_AND_TEXT = re.compile(
    r"""<(/?)(?:[^\s<>/:"'=]++:)?([^\s<>/:"'=]++)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+(?=>)|[^<>]*+)>([^<]*+)"""
)
_STRING = re.compile(r"""\sstring\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)')""")
_BREAKS = frozenset(("textbox", "p", "div", "br"))
_OMITTED = frozenset(("Fallback", "oMath"))


def captions(part: bytes) -> list[str]:
    """Return the captions of controls, which are HTML, and the texts of WordArt; Excel omits end tags of ``br``.

    Raises
    ------
    ExpansionError

    Examples
    --------
    >>> captions(b"<v:shape><v:textbox><div><font>Press me<br>now</font></div></v:textbox><x:Row>3</x:Row></v:shape>")
    ['Press me', 'now']
    """
    try:
        drawing = _parsed(part)
    except (expat.ExpatError, LookupError, ValueError):
        drawing = _Drawing()
        for end, tag, attributes, text in _TAG_AND_TEXT.findall(decoded(part).replace("<![CDATA[", "")):
            art = _STRING.search(attributes) if tag == "textpath" else None
            named = {"string": html.unescape(art[1] or art[2] or "")} if art is not None else {}
            if not end:
                drawing.start(tag, named)
            if end or attributes.endswith("/"):
                drawing.end(tag)
            drawing.text(html.unescape(text.replace("]]>", "")))
    return drawing.lines()


def word_art(part: bytes) -> list[str]:
    """Return the texts of WordArt in a part that is well-formed, without those for older programs: they are attributes.

    Raises
    ------
    ExpansionError
    """
    return [one for one in _parsed(part).art if one]


def _parsed(part: bytes) -> _Drawing:
    known, drawing, parser = in_known_encoding(part), _Drawing(), expat.ParserCreate()
    limit = ExpansionLimit(known)

    def start(name: str, attributes: dict[str, str]) -> None:
        limit.take(1 + sum(map(len, attributes.values())))
        drawing.start(name.rpartition(":")[2], attributes)

    def text(told: str) -> None:
        limit.take(len(told))
        drawing.text(told)

    def end(name: str) -> None:
        drawing.end(name.rpartition(":")[2])

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.Parse(known, True)
    return drawing


class _Drawing:
    """Texts of a drawing, as they are gathered."""

    def __init__(self) -> None:
        self.art: list[str] = []
        self._pieces: list[str] = []
        self._n_inside = self._n_omitted = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Note the start of an element, by its name without a prefix."""
        self._n_omitted += tag in _OMITTED
        self._n_inside += tag == "textbox"
        if tag == "textpath" and not self._n_omitted:
            self.art.append(attributes.get("string", "").strip())
        if tag in _BREAKS:
            self._pieces.append("\n")

    def end(self, tag: str) -> None:
        """Note the end of an element; ``br`` may have none."""
        self._n_omitted -= tag in _OMITTED
        self._n_inside -= tag == "textbox"
        if tag in _BREAKS:
            self._pieces.append("\n")

    def text(self, told: str) -> None:
        """Note text; that of text boxes alone is kept."""
        if self._n_inside > 0:
            self._pieces.append(told.replace("\n", " "))

    def lines(self) -> list[str]:
        """Return the captions, and the texts of WordArt behind them."""
        lines = [*"".join(self._pieces).split("\n"), *(one.replace("\n", " ") for one in self.art)]
        return [line for line in map(str.strip, lines) if line]
