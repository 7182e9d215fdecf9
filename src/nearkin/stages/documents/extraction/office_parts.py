"""XML files (parts) inside an office file: their words, compared with the text that was extracted.

xberg reads a part that ends too early as far as it goes, does not read some parts, such as comments and charts of
workbooks, and reports neither.
"""

from __future__ import annotations

import html
import re
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from nearkin.nouns import counted
from nearkin.stages.documents.extraction.reading import ARCHIVE_FAULTS, DocumentRead, ExtractionError

_PARTS = {
    "docx": r"word/(?:document|header|footer|footnotes|endnotes|comments|charts/chart|diagrams/data)\d*\.xml",
    "xlsx": r"xl/(?:sharedStrings|comments\d*|(?:comments|threadedComments|drawings|worksheets|chartsheets)/[^/]+"
    r"|charts/chart\d*|diagrams/data\d*)\.xml",
    "pptx": r"ppt/(?:(?:slides|notesSlides|comments)/[^/]+|charts/chart\d*|diagrams/data\d*)\.xml",
    **dict.fromkeys(("odt", "ods", "odp"), r"(?:(?:\./)?Object[^/]*/)?content\.xml|styles\.xml"),
    "epub": r"(?i:.+\.x?html?)",
}
"""Parts whose text is shown."""
_BESIDE = re.compile(r"chart|diagrams|xl/comments|(?:ppt/c|threadedC|xl/c)omments|drawings|worksheets|Object|styles")
"""Parts beside the text itself, or with something beside it: headers are in the part of their sheet."""
_DOCUMENT_INSIDE = re.compile(r"word/[^/]+\.(?:x?html?|mht|txt|rtf|docx)")
"""What Word shows as a part of a document (altChunk)."""
_HIDDEN = re.compile(
    rb"<((?:mc:)?Fallback|rPh|w:moveFrom|c:numCache|text:(?:tracked-changes|sheet-name|title|file-name|date|time"
    rb"|page-number|page-count))\b[^<>]*(?<!/)>.*?</\1>",
    re.DOTALL,
)
"""Elements whose text is shown by no program, or is another for each page."""
_BREAK_IN_ODF = re.compile(rb"</text:(?:p|h)>|<(?:text:(?:s|tab|line-break|note|note-body)|office:annotation)\b")
_TAG = re.compile(rb"<[^<>]*>")
_TEXT = re.compile(
    rb"<(?:c:v|(?:\w+:)?(?:t|text|(?:odd|even|first)(?:Header|Footer)))(?:\s[^<>]*)?>([^<]*)"
    rb"|<(?:/(?:\w+:)?(?:p|si|is|text|pt)>|\w+:(?:tab|br|cr|footnoteReference|endnoteReference)\b)"
)
"""A text; or what separates words: the end of a paragraph or a cell, and what stands between two texts."""
_USUAL = {
    "docx": re.compile(rb"<w:t(?: [^<>]*)?>([^<]*)"), "xlsx": re.compile(rb"<t(?: [^<>]*)?>([^<]*)"),
    "pptx": re.compile(rb"<a:t(?: [^<>]*)?>([^<]*)"), **dict.fromkeys(("odt", "ods", "odp"), re.compile(rb">([^<]+)")),
}  # fmt: skip
"""Texts with the usual prefix, which are found ten times as fast."""
_SHEETS, _HEADER, _BODY = "xl/worksheets/", b"headerFooter", b"<office:body"
_CODE_OF_HEADER = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|\d+|[A-Z])')
_ROOT, _END_BYTES = re.compile(rb"<([\w:.-]+)[^<>]*?(/?)>"), 1024
_WORD = re.compile(r"[^\W\d_]+")
_MIN_MISSING, _MISSING_SHARE = 3, 0.02
"""Words, and their share of all, from which on text counts as missing: a reference to a note joins two."""


def with_parts(read: DocumentRead, archive: zipfile.ZipFile, kind: str) -> DocumentRead:
    """Return a text with the parts beside it that were not read, and the exception that words of others are missing.

    Examples
    --------
    >>> import io
    >>> with zipfile.ZipFile(io.BytesIO(), "w") as archive:
    ...     archive.writestr("word/document.xml", "<w:document><w:t>It was a dark and stormy night.</w:t></w:document>")
    ...     with_parts(DocumentRead(text="It was a"), archive, "docx").sentence
    '4 words of 7 not extracted: text may be missing'
    """
    text, names = read.text or "", dict.fromkeys(archive.namelist())
    try:
        parts = {name: _part(archive, name) for name in names if re.fullmatch(_PARTS[kind], name)}
    except ExtractionError as error:
        return read.lacking(error.exception, error.sentence)
    further, n_missing, extracted = dict[str, None](), 0, Counter[str]()
    if kind != "epub" and not _has_all(text, parts, kind):  # pages of books are often no XML
        extracted = _words(text)
        for name, shown in ((name, _text_of(part, name, kind)) for name, part in parts.items()):
            missing = {word: n - extracted[word] for word, n in _words(shown).items() if n > extracted[word]}
            if not _BESIDE.search(name):
                n_missing += sum(missing.values())
            elif missing:
                lines = (line for line in map(str.strip, shown.split("\n")) if name != "styles.xml" or " " in line)
                further |= dict.fromkeys(line for line in lines if not missing.keys().isdisjoint(_words(line)))
    read = replace(read, text="\n".join([text.rstrip(), *further]).lstrip("\n")) if further else read
    n_words = extracted.total() + n_missing
    if n_missing >= _MIN_MISSING and n_missing > _MISSING_SHARE * n_words:
        lost = f"{counted(n_missing, 'word')} of {n_words:,} not extracted: text may be missing"
        read = read.lacking("partial", lost)
    inside = next(filter(_DOCUMENT_INSIDE.fullmatch, names), None) if kind == "docx" else None
    return read if inside is None else read.lacking("unsupported", f"its {inside}, a document inside it, was not read")


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part. Raises ExtractionError if its end is missing, or it cannot be unpacked."""
    try:
        part = archive.read(name).strip()
    except (*ARCHIVE_FAULTS, zlib.error):
        part = b""
    root = _ROOT.search(part)
    if root is None or not (root[2] or b"</" + root[1] in part[-_END_BYTES:]):
        raise ExtractionError("damaged", f"its {name} is damaged: text may be missing")
    return part


def _has_all(text: str, parts: Mapping[str, bytes], kind: str) -> bool:
    """Whether each word is there as it stands: the quick answer, in the usual case."""
    if any(_BESIDE.search(name) and (not name.startswith(_SHEETS) or _HEADER in part) for name, part in parts.items()):
        return False
    told = list[str]()
    for part in parts.values():
        pieces = b"\n".join(_USUAL[kind].findall(part, max(0, part.find(_BODY)))).decode("utf-8", "replace")
        at = 0
        for piece in html.unescape(pieces).split("\n"):
            if (at := text.find(piece, at)) < 0:
                told += html.unescape(pieces).split()
                break
    return not told or (len(told) <= len(extracted := text.split()) and set(extracted).issuperset(told))


def _text_of(part: bytes, name: str, kind: str) -> str:
    """Return the text of a part, with a line for each paragraph or cell."""
    shown = _HIDDEN.sub(b"", part)
    if kind.startswith("od"):
        shown = _TAG.sub(b"", _BREAK_IN_ODF.sub(rb"\n\g<0>", shown[max(0, shown.find(_BODY)) :]))
    else:
        shown = b"".join(run or b"\n" for run in _TEXT.findall(shown))
    text = html.unescape(shown.decode("utf-8", "replace"))
    return _CODE_OF_HEADER.sub(" ", text) if name.startswith(_SHEETS) else text


def _words(text: str) -> Counter[str]:
    """Count the words of a text, case aside; numbers do not count, since programs show them in forms of their own."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
