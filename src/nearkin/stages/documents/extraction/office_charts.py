"""Text of charts in files of Word, Excel and PowerPoint: titles, labels, names of series, categories and trendlines."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_part_reading import ReadPart
from nearkin.stages.documents.extraction.office_xml import ExpansionLimit, TextElements

_CACHES = ("strCache", "multiLvlStrCache", "strDim")
_NUMBERS = ("numCache", "numLit", "numDim", "f", "formatCode", "Fallback", "pivotSource")
_TITLES = TextElements(
    ("t", "v", "pt", "name", "separator"), (*_CACHES, *_NUMBERS, "fld"), ("v", "pt", "name", "separator")
)
"""Titles and labels, and names of trendlines, without fields that stand for values."""
_LABELS = TextElements(_CACHES, _NUMBERS, ("v", "pt"))
"""Names of series and categories, which repeat cells of a workbook."""
_PLAIN_FORMATS = frozenset(("", "General", "0", "@"))
"""Formats in which a number is shown as it is stored, unlike dates."""


def chart_lines(part: ReadPart, kind: str, unknown: Callable[[list[str]], list[str]]) -> list[str]:
    """Return the lines of a chart, each of them once, and those of the headers of its page.

    Parameters
    ----------
    part : ReadPart
    kind : str
    unknown : callable
        Returns the lines that the cells of a workbook do not have.

    Raises
    ------
    ExpansionError
    """
    titles = [one for one in part.paragraphs(_TITLES) if any(map(str.isalnum, one))]
    labels = part.paragraphs(_LABELS)
    labels = unknown(labels) if kind == "xlsx" else [*labels, *_numbers_of_categories(part.data)]
    return list(dict.fromkeys([*titles, *labels, *part.headers()]))


def _numbers_of_categories(part: bytes) -> list[str]:
    """Return the numbers that name categories, such as years.

    Examples
    --------
    >>> numbers = b"<c:numLit><c:formatCode>0</c:formatCode><c:pt><c:v>2019</c:v></c:pt></c:numLit>"
    >>> _numbers_of_categories(b"<c:ser><c:cat>" + numbers + b"</c:cat><c:val>" + numbers + b"</c:val></c:ser>")
    ['2019']
    """
    if not (b"cat" in part or b"\0" in part):
        return []
    categories, parser = _Categories(ExpansionLimit(part)), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = categories.start, categories.end
    parser.CharacterDataHandler = categories.text
    parser.Parse(part, True)
    return categories.numbers


class _Categories:
    """Numbers of categories, as they are gathered by the handlers of a parser."""

    def __init__(self, limit: ExpansionLimit) -> None:
        self.numbers: list[str] = []
        self._take = limit.take
        self._open: list[str] = []
        self._n_categories = 0
        self._format = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._take(1)
        local = name.rpartition(":")[2]
        self._open.append(local)
        self._n_categories += local == "cat"
        if local in ("numCache", "numLit"):
            self._format = ""
        if local == "pt" and "formatCode" in attributes:
            self._format = attributes["formatCode"]

    def end(self, _name: str) -> None:
        self._n_categories -= self._open.pop() == "cat"

    def text(self, told: str) -> None:
        self._take(len(told))
        if not self._n_categories:
            return
        if self._open[-1] == "formatCode":
            self._format = told.strip()
        elif self._open[-2:] == ["pt", "v"] and self._open[-3] in ("numCache", "numLit"):
            self.numbers += [told.strip()] if self._format in _PLAIN_FORMATS else []
