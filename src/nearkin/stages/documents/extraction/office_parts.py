"""XML files (parts) inside an office file: their words, compared with the text of xberg, and text that xberg omits.

xberg reads a part that ends too early as far as it goes, and reports nothing. It reads neither the comments, charts and
headers of workbooks nor the charts of other files.
"""

from __future__ import annotations

import html
import os
import re
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple
from xml.parsers import expat

from nearkin.nouns import counted
from nearkin.stages.documents.faults import Reason

_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError,
    LookupError, expat.ExpatError,
)  # fmt: skip
"""Errors of an archive, or of a part in it, that is damaged."""
_READ_BY_XBERG = {
    "docx": re.compile(r"word/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml"),
    "xlsx": re.compile(r"xl/(?:sharedStrings|worksheets/[^/]+)\.xml"),
    "pptx": re.compile(r"ppt/(?:slides|notesSlides)/[^/]+\.xml"),
    **dict.fromkeys(("odt", "ods", "odp"), re.compile(r"content\.xml")),
    "epub": re.compile(r".+\.x?html?", re.IGNORECASE),
}
_OMITTED = {
    "docx": re.compile(r"word/(?:charts/chart|diagrams/data)[^/]*\.xml"),
    "xlsx": re.compile(
        r"xl/(?:comments[^/]*|(?:comments|threadedComments|drawings|chartsheets|dialogsheets)/[^/]+"
        r"|charts/chart[^/]*|diagrams/data[^/]*)\.xml"
    ),
    "pptx": re.compile(r"ppt/(?:comments/[^/]+|charts/chart[^/]*|diagrams/data[^/]*)\.xml"),
    **dict.fromkeys(("odt", "ods", "odp"), re.compile(r"styles\.xml|(?:\./)?Object[^/]*/content\.xml")),
}
_DOCUMENT_INSIDE = re.compile(r"word/[^/]+\.(?:x?html?|mht|txt|rtf|docx)")
"""What Word shows as a part of a document (altChunk)."""
_REPEATED = re.compile(r"word/(?:header|footer)")
"""Parts that sections of a document have in common, or have each: their words are looked for once."""
_TEXTS = frozenset(("t", "text"))
_PARAGRAPHS_OF_ODF = frozenset(("p", "h"))
_ENDS = frozenset(("p", "h", "si", "is", "comment", "threadedComment", "pt", "text"))
"""Elements at whose end a paragraph ends."""
_SPACES = frozenset(("tab", "br", "cr", "s", "line-break", "footnoteReference", "endnoteReference", "note"))
_SKIPPED = frozenset(("Fallback", "rPh", "moveFrom"))
_SKIPPED_IN_ODF = frozenset((
    "tracked-changes", "sheet-name", "title", "file-name", "date", "time", "page-number", "page-count",
))  # fmt: skip
"""Elements whose text is shown by no program, or is another for each page."""
_WORD = re.compile(r"[^\W\d_]+")
_TAG = re.compile(rb"<[^<>]*>")
_T = re.compile(rb"<(?:\w+:)?t(?:\s[^<>]*)?>([^<]*)<")
_USUAL_T = {
    kind: re.compile(rb"<%bt(?:\s[^<>]*)?>([^<]*)<" % prefix)
    for kind, prefix in (("docx", b"w:"), ("xlsx", b""), ("pptx", b"a:"))
}
"""The same with the usual prefix, which is searched ten times as fast."""
_ROOTS = frozenset((
    b"document", b"hdr", b"ftr", b"footnotes", b"endnotes", b"comments", b"sst", b"worksheet", b"sld", b"notes",
    b"document-content",
))  # fmt: skip
_NEEDS_PARSER = (b"Fallback", b"annotation", b"tracked-changes")
"""Names of elements whose text is no part of the text, or not where it stands."""
_END_OF_PAGE, _END_BYTES = re.compile(rb"</(?:\w+:)?html\s*>", re.IGNORECASE), 1024
_HEADER_OF_SHEET = re.compile(rb"<(?:\w+:)?(?:odd|even|first)(?:Header|Footer)\b[^<>]*>([^<]*)<")
_CODE_OF_HEADER = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|\d+|[A-Z])')
_MIN_MISSING, _MISSING_SHARE = 3, 0.02
"""Words, and their share of all, from which on text counts as missing: a reference to a note joins two."""
_WHITE_SPACE = b" \t\n\v\f\r\x1c\x1d\x1e\x1f"
_ENCRYPTED, _LOCAL_HEADER_BYTES, _MAX_QUICK = 1, 30, 1 << 22
_WINDOW, _MAX_SEARCHED = 1 << 16, 1 << 30
"""Characters of a text in which a piece is looked for, and in which all pieces are: else many take too long."""


class PartLacking(NamedTuple):
    """Reason why text of an office file may be missing."""

    exception: Reason
    sentence: str


def checked_parts(archive: zipfile.ZipFile, kind: str, text: str) -> tuple[PartLacking | None, list[str]]:
    """Compare the words of the parts with a text; return what is lacking, and the paragraphs that xberg omits.

    Parameters
    ----------
    archive : ZipFile
    kind : str
    text : str
        What xberg extracted.

    Examples
    --------
    >>> import io
    >>> with zipfile.ZipFile(io.BytesIO(), "w") as archive:
    ...     archive.writestr("word/document.xml", "<w:document><w:p><w:t>It was.</w:t></w:p>")
    ...     checked_parts(archive, "docx", "It was.")[0].sentence
    'its word/document.xml is damaged: text may be missing'
    """
    extracted, lacking = _ExtractedText(text), None
    told, common, further = list[str](), list[str](), list[str]()
    read, omitted = _READ_BY_XBERG.get(kind), _OMITTED.get(kind)
    for name in dict.fromkeys(archive.namelist()):
        if kind == "docx" and _DOCUMENT_INSIDE.fullmatch(name):
            lacking = PartLacking("unsupported", f"its {name}, a document inside it, was not read")
        is_omitted = omitted is not None and omitted.fullmatch(name) is not None
        if not is_omitted and (read is None or read.fullmatch(name) is None):
            continue
        try:
            part = _content(archive, archive.getinfo(name))
            added = _headers_of_sheet(part) if b"headerFooter" in part else []
            if is_omitted or not _is_found(part, kind, extracted):
                found = _PartText(part, is_odf=kind.startswith("od"))
                added += found.paragraphs if is_omitted else found.remarks
                if not is_omitted and not extracted.has_in_order(found.paragraphs):
                    (common if _REPEATED.match(name) else told).extend(found.paragraphs)
        except _UNREADABLE:
            return PartLacking("damaged", f"its {name} is damaged: text may be missing"), further
        if name == "styles.xml":
            added = [one for one in added if " " in one]  # not the usual footer of a sheet: Page 1
        further += [one for one in added if not extracted.has(one)]
    if told or common:
        lacking = _lacking(_words(told) | _words(list(dict.fromkeys(common))), _words([text])) or lacking
    return lacking, further


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return a part; `zipfile` makes a stream for each, which takes longer than to unpack a slide."""
    if entry.compress_type == zipfile.ZIP_DEFLATED and not entry.flag_bits & _ENCRYPTED and archive.fp is not None:
        archive.fp.seek(entry.header_offset)
        head = archive.fp.read(_LOCAL_HEADER_BYTES)
        archive.fp.seek(sum(struct.unpack_from("<HH", head, 26)), os.SEEK_CUR)
        content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(archive.fp.read(entry.compress_size), _MAX_QUICK)
        if len(content) == entry.file_size and zlib.crc32(content) == entry.CRC:
            return content
    return archive.read(entry)


class _ExtractedText:
    """Text without spaces, which programs change."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._seen: set[str] = set()
        self._n_left = _MAX_SEARCHED
        self._at = 0

    @cached_property
    def _squeezed(self) -> str:
        return _squeezed(self._text)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words, with the signs around them."""
        return frozenset(self._text.split())

    def has(self, paragraph: str) -> bool:
        """Whether a paragraph is there, or was asked for before; if too many are asked for, it is not looked for."""
        letters = _squeezed(paragraph)
        if letters in self._seen:
            return True
        self._seen.add(letters)
        self._n_left -= len(self._squeezed)
        return self._n_left >= 0 and letters in self._squeezed

    def has_in_order(self, pieces: Sequence[str]) -> bool:
        """Whether all pieces are there, each near the one before it: the quick answer."""
        joined = "\n".join(pieces)
        if (found := self._text.find(joined, self._at)) >= 0:  # parts mostly follow one another
            self._at = found + len(joined)
            return True
        if joined in self._text or _squeezed("".join(pieces)) in self._squeezed:
            return True
        at = 0
        for piece in pieces:
            letters = _squeezed(piece)
            found = self._squeezed.find(letters, at, at + len(letters) + _WINDOW)
            if found < 0 and (found := self._squeezed.find(letters, max(0, at - _WINDOW), at)) < 0:
                return False
            at = found + len(letters)
        return True


def _is_found(part: bytes, kind: str, extracted: _ExtractedText) -> bool:
    """Whether a part is whole and all its text is there, as far as this can be said without parsing it.

    Pages of books are often no XML, and their text is not looked for. Cells stand in another order than their texts.
    """
    if kind == "epub":
        return _END_OF_PAGE.search(part, max(0, len(part) - _END_BYTES)) is not None
    if b"<!" in part or b"\0" in part or any(name in part for name in _NEEDS_PARSER):
        return False
    root = part[part.rfind(b"<") :].strip(b"</> \t\r\n").rpartition(b":")[2]
    if root not in _ROOTS:
        return False
    if kind.startswith("od"):
        pieces = [_TAG.sub(b"", part[part.find(b"<office:body") :])]
    else:
        pieces = _USUAL_T[kind].findall(part) or _T.findall(part)
    text = b"\n".join(pieces).decode("utf-8", "replace")
    text = html.unescape(text) if "&" in text else text
    if kind == "xlsx" and extracted.words.issuperset(text.split()):
        return True
    return extracted.has_in_order(text.split("\n"))


def _words(texts: list[str]) -> Counter[str]:
    """Count the words of texts, case aside; numbers do not count, since programs show them in forms of their own."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", "\n".join(texts)).casefold()))


def _lacking(told: Counter[str], extracted: Counter[str]) -> PartLacking | None:
    n_missing = (told - extracted).total()
    n = extracted.total() + n_missing
    if n_missing < _MIN_MISSING or n_missing <= _MISSING_SHARE * n:
        return None
    return PartLacking("unsupported", f"{counted(n_missing, 'word')} of {n:,} not extracted: text may be missing")


def _squeezed(text: str) -> str:
    if text.isascii():  # the usual case, ten times as fast
        return text.encode().translate(None, _WHITE_SPACE).decode()
    return "".join(text.split())


def _headers_of_sheet(part: bytes) -> list[str]:
    found = (html.unescape(one.decode("utf-8", "replace")) for one in _HEADER_OF_SHEET.findall(part))
    return [text for header in found if (text := " ".join(_CODE_OF_HEADER.sub(" ", header).split()))]


class _PartText:
    """Paragraphs of a part, and remarks inside it; an expansion of entities without end is refused by expat."""

    def __init__(self, part: bytes, *, is_odf: bool) -> None:
        self.paragraphs: list[str] = []
        self.remarks: list[str] = []
        self._texts = _PARAGRAPHS_OF_ODF if is_odf else _TEXTS
        self._skipped = _SKIPPED_IN_ODF if is_odf else _SKIPPED
        self._n_texts = self._n_skipped = self._n_remarks = self._n_labels = 0
        self._pieces: list[str] = []
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.Parse(part, True)

    def _start(self, name: str, attributes: object) -> None:
        local = name.rpartition(":")[2]
        if local in _SPACES:
            self._pieces.append(" ")
        self._n_texts += local in self._texts or (local == "v" and self._n_labels > 0)
        self._n_labels += local == "strCache"
        self._n_skipped += local in self._skipped
        if local == "annotation":
            self._end_paragraph()
            self._n_remarks += 1

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        self._n_labels -= local == "strCache"
        self._n_texts -= local in self._texts or (local == "v" and self._n_labels > 0)
        self._n_skipped -= local in self._skipped
        if local in _ENDS:
            self._end_paragraph()
        self._n_remarks -= local == "annotation"

    def _data(self, text: str) -> None:
        if self._n_texts and not self._n_skipped:
            self._pieces.append(text)

    def _end_paragraph(self) -> None:
        text = "".join(self._pieces).strip()
        self._pieces.clear()
        if text:
            (self.remarks if self._n_remarks else self.paragraphs).append(text)
