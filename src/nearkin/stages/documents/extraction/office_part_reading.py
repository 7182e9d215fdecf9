"""One XML file (part) of an office file: whether it is complete, and its text."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Container
from contextlib import suppress
from functools import partial
from typing import NamedTuple
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_missing_words import TextToFind
from nearkin.stages.documents.extraction.office_packages import ROLES, UNREADABLE
from nearkin.stages.documents.extraction.office_vml import word_art
from nearkin.stages.documents.extraction.office_xml import (
    MASTER_PAGES,
    MAX_EXPANSION,
    OOXML,
    OPEN_DOCUMENT,
    PAGE_OF_BOOK,
    STYLES,
    ExpansionLimit,
    LeftOut,
    TextElements,
    TextListener,
    in_known_encoding,
    is_in_other_encoding,
    quick_pieces,
    starts_of,
    without_omitted,
)
from nearkin.stages.documents.origin import ExceptionKind

_ELEMENTS = {
    "content": OPEN_DOCUMENT, "styles": STYLES, "masters": MASTER_PAGES, "page": PAGE_OF_BOOK,
    **dict.fromkeys((one for one in ROLES if one != "main"), OOXML), "document": OOXML,
}  # fmt: skip
"""Elements with text, by the role of a part."""
USUAL_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
_END_OF_PAGE = re.compile(rb"</(?:\w+:)?html\s*>", re.IGNORECASE)
_OF_WORD = frozenset(("document", "header", "footer", "footnotes", "endnotes"))
MISSING = "is missing"
_STRING_OF_FORMULA = (b'"str"', b"'str'")
_STRICT = b"//purl.oclc.org/ooxml/"
_HEAD_BYTES = 4096
_AT_END = frozenset(
    expat.errors.codes[one]
    for one in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
"""Errors that only the end of a file causes."""


_MAX_PARSERS = 100
"""Elements of a sheet that are parsed one by one; a usual sheet has one, and one more for each of its views."""
_HEADERS_OF_PAGES = [f"{one}{what}" for one in ("odd", "even", "first") for what in ("Header", "Footer")]
_HEADERS = TextElements(_HEADERS_OF_PAGES, (), _HEADERS_OF_PAGES)
_SECTION = re.compile(r"&[LCR]")
_FIELD = re.compile(r"&(?:[PN](?:[+-]\d+)?|[DTFZAG])")
_FONT = re.compile(r"""&(?:"[^"]*"|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d{1,3}|[BIUESXYOH])""")
_AMPERSAND = "\0"


class PartLacking(NamedTuple):
    """Reason why text of an office file may be missing."""

    exception: ExceptionKind
    sentence: str


def expanding(name: str) -> PartLacking:
    """Return the reason for a part with entities that expand too far."""
    what = f"entities of its {name} expand to more than {MAX_EXPANSION} times its size"
    return PartLacking("unsupported", f"{what}: text may be missing")


class OfficePart(NamedTuple):
    """A part of an office file.

    Parameters
    ----------
    name : str
        Its name in the archive.
    role : str
        One of `ROLES`, "document" (the main part of a file of Word), "content", "styles", "masters" or "page";
        empty if only its XML is looked at.
    """

    name: str
    role: str

    @property
    def is_once(self) -> bool:
        """Whether its text is no repetition, as that of headers of several sections may be."""
        return self.role not in ("header", "footer")


class ReadPart:
    """A part that was parsed once; its text is gathered in a second pass, if the first one does not suffice.

    Attributes
    ----------
    fault : str or None
        What is wrong with its XML.
    is_unusual : bool
        See `office_parts.PartsChecked`.
    """

    def __init__(self, archive: zipfile.ZipFile, part: OfficePart) -> None:
        self._part = part
        self._is_page = part.role == "page"
        self._is_sheet = part.role == "worksheet"
        self._needs_parser = self._is_page
        self._has_entities = False
        self._pieces: list[bytes] | None = None
        self._data = b""
        self.is_unusual = False
        self.fault = self._fault(archive)

    def is_found(self, text: TextToFind) -> bool:
        """Whether a part without words, or all its text as it is, is found quickly."""
        if self._part.role not in _ELEMENTS or self._data == b"":
            return True
        if self._is_sheet and not any(one in self._data for one in (b"inlineStr", *_STRING_OF_FORMULA, b"\0")):
            return True
        if self._is_sheet and any(one in self._data for one in _STRING_OF_FORMULA):
            return False
        take = self._part.is_once
        if self._pieces is not None:
            return text.holds(self._pieces, take=take)
        if self._needs_parser:
            return False
        pieces = quick_pieces(self._data)
        if pieces is None or not text.holds(pieces, take=take):
            rest = without_omitted(self._data)
            pieces = None if rest is self._data else quick_pieces(rest)
            return pieces is not None and text.holds(pieces, take=take)
        return True

    def not_found(self, text: TextToFind, used: Container[int] | None) -> list[str] | None:
        """Return the paragraphs of a part that is not found as it is; None if it is found.

        ``used`` are the shared strings that cells show; None if this is not known.

        Raises
        ------
        ExpansionError
        """
        paragraphs = self.paragraphs(_ELEMENTS[self._part.role], used)
        is_found = text.holds([one.encode() for one in paragraphs], take=self._part.is_once)
        return None if is_found else paragraphs

    def paragraphs(
        self, elements: TextElements, used: Container[int] | None = None, left_out: LeftOut | None = None
    ) -> list[str]:
        """Return the text of some elements of a part that was read.

        Raises
        ------
        ExpansionError
        """
        parser = self._parser()
        listener = TextListener(parser, elements, ExpansionLimit(self._data), used, left_out)
        parser.Parse(self._data, True)
        return listener.paragraphs()

    def has(self, word: bytes) -> bool:
        """Whether a part that was read may have a name or a word in it, in whatever encoding."""
        return word in self._data or b"\0" in self._data

    def headers(self) -> list[str]:
        """Return the headers and footers of a sheet, without their codes for fields and fonts.

        Raises
        ------
        ExpansionError
        """
        if not self.has(b"headerFooter"):
            return []
        starts = [] if self._needs_parser or self.is_unusual else list(starts_of(self._data, b"headerFooter"))
        told = self._quick_headers(starts) if 0 < len(starts) <= _MAX_PARSERS else self.paragraphs(_HEADERS)
        return [line for one in told for line in header_lines(one)]

    def _quick_headers(self, starts: list[int]) -> list[str]:
        """Return headers and footers as they are, of a sheet in which each ``<`` begins a tag; cells are not parsed."""
        found, view, end = [], memoryview(self._data), 0
        for at in starts:
            if at < end:
                continue
            parser = self._parser()
            listener = TextListener(parser, _HEADERS, ExpansionLimit(self._data))
            with suppress(expat.ExpatError):  # what follows the element is no end of a file
                parser.Parse(view[at:], True)
            end = at + max(1, parser.ErrorByteIndex)
            found += listener.paragraphs()
        return found

    def word_art(self) -> list[str]:
        """Return the texts of WordArt of older programs, such as watermarks: they are attributes.

        Raises
        ------
        ExpansionError
        """
        return word_art(self._data) if self.has(b"textpath") else []

    @property
    def data(self) -> bytes:
        """Bytes of a part that was read, in UTF-8 or an encoding that the parser knows."""
        return self._data

    def _parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        if self._is_page:
            parser.UseForeignDTD()  # unknown entities, such as &nbsp;, are no errors
        return parser

    def _fault(self, archive: zipfile.ZipFile) -> str | None:
        parser = self._parser()
        texts: list[str] = []
        is_quick = self._part.role in ("content", "styles", "masters")
        if is_quick:
            parser.buffer_text = True
            parser.CharacterDataHandler = texts.append
        if not self._is_page:
            parser.StartCdataSectionHandler = parser.StartDoctypeDeclHandler = self._note_unusual
            parser.EntityDeclHandler = partial(self._note_entity, parser)
            parser.CommentHandler = parser.ProcessingInstructionHandler = self._note_comment
        try:
            data = archive.read(self._part.name)
            self.is_unusual = is_in_other_encoding(data)
            data = in_known_encoding(data) if self.is_unusual else data
            parser.Parse(data, True)
        except expat.ExpatError as error:
            if error.code in _AT_END:
                return "is truncated"
            if not self._is_page:
                return f"is not well-formed XML ({expat.errors.messages[error.code]})"
            return "is truncated" if _is_truncated_page(data) else None
        except KeyError:
            return MISSING
        except (LookupError, ValueError):
            return "is in an unknown encoding"
        except UNREADABLE:
            return "cannot be read"
        self._data = data
        self.is_unusual |= self._has_other_names(data[:_HEAD_BYTES])
        if is_quick and not self._has_entities:
            self._pieces = [one.encode() for one in texts]
        return None

    def _has_other_names(self, head: bytes) -> bool:
        """Whether the name of the part, or the names in it, are not those that xberg looks for."""
        role = self._part.role
        if role == "slide":
            return _STRICT in head or USUAL_SLIDE.fullmatch(self._part.name) is None
        if role == "sharedStrings":
            return self._part.name.lower() != "xl/sharedstrings.xml"
        return role in _OF_WORD and b"<w:" not in head

    def _note_unusual(self, *_told: object) -> None:
        self.is_unusual = self._needs_parser = True

    def _note_entity(self, parser: expat.XMLParserType, *_told: object) -> None:
        self._has_entities = True
        parser.CharacterDataHandler = None

    def _note_comment(self, *_told: str) -> None:
        self._needs_parser = True


def _is_truncated_page(page: bytes) -> bool:
    """Whether a page that claims to be XML, but is not, has no end; HTML may omit the end."""
    is_xhtml = page.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<?xml") or b"xmlns=" in page[:4096]
    return _END_OF_PAGE.search(page) is None and (is_xhtml or page.rfind(b"<") > page.rfind(b">"))


def header_lines(told: str) -> list[str]:
    """Return the lines of a header or footer of a sheet, without its fields and fonts.

    Examples
    --------
    >>> header_lines('&L&"Arial,Bold"&12Smith && Sons&CPage &P of &N&R&D')
    ['Smith & Sons', 'Page of']
    """
    told = _SECTION.sub("\n", told.replace("&&", _AMPERSAND))
    lines = _FONT.sub("", _FIELD.sub(" ", told)).replace(_AMPERSAND, "&").split("\n")
    return [line for line in (" ".join(one.split()) for one in lines) if line]
