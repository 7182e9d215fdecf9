"""Text of office files that xberg does not read: notes on cells, comments, text boxes, diagrams, charts and headers.

It follows the text that xberg reads, in the order of the sheets or slides. Only parts that are in use are read. Of what
xberg reads in some files, such as the diagrams of most presentations, only paragraphs that it omitted are added.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_missing_words import TextToFind
from nearkin.stages.documents.extraction.office_packages import UNREADABLE, PartsInUse
from nearkin.stages.documents.extraction.office_part_reading import OfficePart, PartLacking, ReadPart, expanding
from nearkin.stages.documents.extraction.office_vml import captions
from nearkin.stages.documents.extraction.office_xml import (
    ExpansionError,
    ExpansionLimit,
    LeftOut,
    TextElements,
    texts_of,
)

_CHARTS = ("chart", "chartEx")
_SHEETS = ("chartsheet", "dialogsheet")
_ROLES = {
    "docx": {*_CHARTS, "chartUserShapes", "diagramData"},
    "pptx": {*_CHARTS, "chartUserShapes", "diagramData", "comments"},
    "xlsx": {
        *(*_CHARTS, *_SHEETS, "chartUserShapes", "diagramData", "comments", "threadedComment", "drawing"),
    },
}  # fmt: skip
"""Roles of the parts that are read here."""
_SHAPES = TextElements(("t",), ("Fallback", "rPh"))
_COMMENTS = TextElements(("t", "text"), ("Fallback", "rPh"), ("text",))
_ELEMENTS = {"comments": _COMMENTS, "threadedComment": _COMMENTS}
_OF_THREAD = re.compile(r"tc=\{[^{}]*+\}")
"""Author of a note that repeats a threaded comment for older programs."""


class FurtherText:
    """Text that xberg does not read, as it is gathered.

    Parameters
    ----------
    archive : ZipFile
    kind : str
    text : TextToFind
        Text that xberg read, in which the words of other parts were found before.

    Attributes
    ----------
    lines : list of str
    lacking : PartLacking or None
        The first part that could not be read.
    """

    def __init__(self, archive: zipfile.ZipFile, kind: str, text: TextToFind) -> None:
        self.lines: list[str] = []
        self.lacking: PartLacking | None = None
        self._archive = archive
        self._text = text
        self._is_partly_read = kind not in ("docx", "xlsx", "ods")
        self._headers: set[str] = set()

    def add(
        self,
        name: str,
        lines_of: Callable[[ReadPart], Iterable[str]],
        *,
        are_headers: bool = False,
        are_partly_read: bool | None = None,
    ) -> None:
        """Add the lines that a function finds in a part, without those that xberg read, if it reads any of them."""
        part = ReadPart(self._archive, OfficePart(name, ""))
        if part.fault is not None:
            self.lacking = self.lacking or PartLacking("corrupt", f"its {name} {part.fault}: text may be missing")
            return
        try:
            lines = [one.strip() for one in lines_of(part)]
        except ExpansionError:
            self.lacking = self.lacking or expanding(name)
            return
        if are_headers:
            self.add_headers(lines)
        else:
            is_partly_read = self._is_partly_read if are_partly_read is None else are_partly_read
            self.lines += self.not_read(lines) if is_partly_read else lines

    def add_headers(self, lines: Iterable[str]) -> None:
        """Add lines of headers and footers, each of them once."""
        found = [one for one in dict.fromkeys(lines) if one not in self._headers]
        self._headers.update(found)
        self.lines += found

    def add_captions(self, names: Iterable[str]) -> None:
        """Add the captions of controls in drawings, which need not be XML, if newer drawings do not have them."""
        known = set(self.lines)
        for name in names:
            try:
                lines = captions(self._archive.read(name))
            except ExpansionError:
                self.lacking = self.lacking or expanding(name)
                continue
            except KeyError:  # a drawing that is missing shows nothing
                continue
            except UNREADABLE:
                self.lacking = self.lacking or PartLacking("corrupt", f"its {name} cannot be read: text may be missing")
                continue
            self.lines += [line for line in lines if line not in known]

    @property
    def is_page_number(self) -> bool:
        """Whether there is nothing but a header such as "Page 1 of 2"; programs write it on empty sheets, too."""
        return self._headers.issuperset(self.lines) and sum(len(one.split()) for one in self.lines) <= 2

    def not_read(self, lines: Iterable[str]) -> list[str]:
        """Return the lines that xberg did not read; each word of its text is found once."""
        return [one for one in lines if not self._text.takes(one)]

    def is_joined(self, lines: list[str]) -> bool:
        """Whether xberg read all lines of an object; it writes no spaces between them."""
        return self._text.takes_joined(lines)

    def unknown(self, lines: Iterable[str]) -> list[str]:
        """Return the lines with words that the text of xberg does not have."""
        return [one for one in lines if not self._text.knows(one)]


def add_package(
    further: FurtherText,
    kind: str,
    used: PartsInUse,
    headers: Mapping[str, list[str]],
) -> None:
    """Add the further text of a file of Word, Excel or PowerPoint.

    Parameters
    ----------
    further : FurtherText
    kind : str
    used : PartsInUse
    headers : mapping of str to list of str
        Lines of headers and footers by the names of sheets; each line is added once.
    """
    threaded = {one.source for one in used.parts if one.role == "threadedComment"}
    for one in used.parts:
        further.add_headers(headers.get(one.name, ()))
        if one.role not in _ROLES[kind]:
            continue
        if one.role in _SHEETS:
            further.lines += [one.title] if one.title else []
            further.add(one.name, ReadPart.headers, are_headers=True)
        elif one.role in _CHARTS:
            further.add(one.name, partial(chart_lines, kind=kind, unknown=further.unknown))
        elif one.role == "comments" and one.source in threaded:
            further.add(one.name, _without_copies)
        else:
            lines_of = partial(ReadPart.paragraphs, elements=_ELEMENTS.get(one.role, _SHAPES))
            further.add(one.name, lines_of, are_partly_read=None if one.role == "diagramData" else False)
    if kind == "xlsx":
        further.add_captions(one.name for one in used.parts if one.role == "vmlDrawing")
    for name in used.unreadable:
        further.add(name, lambda _: ())


def _without_copies(part: ReadPart) -> list[str]:
    """Return notes on cells without those that repeat a threaded comment."""
    authors = texts_of(part.data, "author")
    copies = {str(at) for at, one in enumerate(authors) if _OF_THREAD.fullmatch(one.strip())}
    return part.paragraphs(_COMMENTS, left_out=LeftOut("comment", "authorId", copies))


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
