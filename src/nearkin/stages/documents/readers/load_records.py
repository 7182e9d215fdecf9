"""Records of a load file; its delimiters, and its columns by their usual names.

A record with another number of fields than the header costs one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nearkin.stages.documents.encodings import is_utf8, lines_into_utf8
from nearkin.stages.documents.faults import RecordFault
from nearkin.stages.documents.readers.records import (
    FieldSplitter,
    legible,
    line_end_in,
    other_number,
    read_records,
)
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES
from nearkin.stages.documents.streams import ByteStream

SEPARATOR, QUALIFIER, NEWLINE = "\x14", "þ", "®"
_CSV_QUALIFIER, _CSV_SEPARATORS = '"', ",;\t|"
MAX_COLUMNS = 4_096
_LONGEST_NAME = 200
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    r"""Columns and delimiters of a load file.

    Examples
    --------
    >>> dialect_of("þDOCIDþ\x14þTEXTPATHþ\r\nþA-1þ\x14þTEXT\\A-1.txtþ\r\n".encode("cp1252")).in_words()
    "Concordance DAT, separator '\\x14', qualifier 'þ', newline '®'"
    >>> dialect_of(b"^DOCID^|^TEXT^\n").in_words()
    "Concordance DAT, separator '|', qualifier '^', newline ''"
    >>> dialect_of(b"DOCID,TEXT\n").in_words()
    'CSV load file, separator \',\', qualifier \'"\', newline \'\''
    """

    names: Sequence[str] = ()
    separator: str = SEPARATOR
    qualifier: str = QUALIFIER
    newline: str = NEWLINE

    @property
    def is_csv(self) -> bool:
        """Whether it is CSV rather than DAT."""
        return self.qualifier in ("", _CSV_QUALIFIER) and self.separator in _CSV_SEPARATORS and not self.newline

    def in_words(self) -> str:
        """Name the dialect for a message."""
        kind = "CSV load file" if self.is_csv else "Concordance DAT"
        return f"{kind}, separator {self.separator!r}, qualifier {self.qualifier!r}, newline {self.newline!r}"


def encoding_of_lines(encoding: str) -> str:
    """Return the encoding of a load file's lines, and text files, that are not UTF-8.

    Examples
    --------
    >>> encoding_of_lines("utf-8"), encoding_of_lines("cp1251")
    ('cp1252', 'cp1251')
    """
    return "cp1252" if is_utf8(encoding) else encoding


def dialect_of(head: bytes) -> Dialect | None:
    """Return the dialect of a load file by its beginning, without a byte order mark."""
    header = head.partition(b"\n")[0].rstrip(b"\r")
    line = lines_into_utf8(header, "cp1252").decode("utf-8", "replace")
    quote = line[:1]
    if len(line) < 2 or line.isspace():
        return None
    if (quote.isascii() and (quote.isalnum() or quote in "_ [(")) or quote == SEPARATOR:
        return _without_quotes(line)
    end = line.find(quote, 1)
    separator = line[end + 1 : end + 2] or (SEPARATOR if quote == QUALIFIER else ",")
    names = line[1:-1].split(f"{quote}{separator}{quote}")
    if end <= 1 or not line.endswith(quote) or separator == quote or any(quote in name for name in names):
        return None
    is_dat = quote == QUALIFIER or separator == SEPARATOR
    if not is_dat and separator.isalnum():
        return None
    newline = NEWLINE if is_dat else ""
    return _if_names(Dialect(names=names, separator=separator, qualifier=quote, newline=newline))


def _without_quotes(line: str) -> Dialect | None:
    if SEPARATOR in line:
        return _if_names(Dialect(names=line.split(SEPARATOR), qualifier=""))
    separator = max(_CSV_SEPARATORS, key=line.count)
    names = [name.strip(_CSV_QUALIFIER) for name in line.split(separator)]
    dialect = Dialect(names=names, separator=separator, qualifier=_CSV_QUALIFIER, newline="")
    return _if_names(dialect) if len(names) > 1 else None


def _if_names(dialect: Dialect) -> Dialect | None:
    are_names = all(name.strip() and len(name) < _LONGEST_NAME and name.isprintable() for name in dialect.names)
    return dialect if are_names and len(dialect.names) <= MAX_COLUMNS else None


@dataclass(frozen=True, slots=True)
class LoadRecord:
    """A record of a load file, with its first line, from 1; fields have no qualifiers."""

    line: int
    fields: list[str]
    fault: RecordFault | None = None


def records_of(
    stream: ByteStream, dialect: Dialect, *, max_bytes: int = MAX_DOCUMENT_BYTES, block_bytes: int = _BLOCK_BYTES
) -> Iterator[LoadRecord]:
    """Yield the records of a load file, the header first; StreamFault if the stream breaks off."""
    for block in read_records(stream, _LoadSplitter(dialect), block_bytes, max_bytes):
        if block.fault is not None:
            yield LoadRecord(int(block.lines[0]), [], block.fault)
        for record, line in zip(block.scanned or (), block.lines.tolist()):
            yield LoadRecord(line, legible(record.fields), record.fault)


class _LoadSplitter(FieldSplitter):
    is_plain = False

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect.separator, dialect.qualifier)
        self._n_columns = 0

    def fault_in(self, fields: list[str], n_lines: int) -> RecordFault | None:
        self._n_columns = self._n_columns or len(fields)
        return None if len(fields) == self._n_columns else other_number(len(fields), self._n_columns)

    def mended(self, line: str) -> list[str] | None:
        """Return the fields if only a qualifier inside one is not doubled."""
        fields = line[1:-1].split(f"{self.quote}{self.delimiter}{self.quote}")
        is_whole = len(line) > 1 and line[0] == line[-1] == self.quote
        return fields if is_whole and len(fields) == self._n_columns else None

    def end_in(self, piece: bytes, held: memoryview | None) -> tuple[int, int]:
        return line_end_in(piece)


_CONTROL = (
    "controlnumber", "docid", "begdoc", "begbates", "begindoc", "beginbates", "begdocno", "begno", "begprod", "prodbeg",
    "prodbegbates", "begprodbates", "begcontrol", "begcontrolnumber", "bates", "batesbeg", "batesnumber", "batesbegin",
    "docbeg", "documentid", "docno", "itemid", "fileid", "recordid", "id",
)  # fmt: skip
_TEXT = (
    "extractedtext", "fulltext", "ocrtext", "text", "bodytext", "doctext", "ocr", "textbody", "body", "extracted",
)  # fmt: skip
_PATH = (
    "textpath", "extractedtextpath", "textlink", "textfile", "textfilepath", "textfilename", "txtpath", "ocrpath",
    "ocrtextpath", "ocrfile", "fulltextpath", "textprecedence", "extractedtextfile", "extractedtextlink", "doctextpath",
    "itempath", "textfilelocation", "extractedtextpathname", "linktotext",
)  # fmt: skip
_PARENT = ("parentdocid", "parentid", "parentcontrolnumber", "parentdoc", "parentbates", "parentbegdoc", "parent")
_BEGIN_FAMILY = (
    "begattach", "begatt", "beginattach", "begattachment", "begfamily", "attachbeg", "batesbegattach",
    "begbatesattach", "prodbegattach", "begattachno", "attrange", "attachrange",
)  # fmt: skip
_UNMISTAKABLE = frozenset(_CONTROL[:-4]) - {"documentid", "docno"}
_LIKE_PATH = re.compile(r"[^\r\n<>|\"*?]{1,1024}\.(txt|text|ocr)", re.IGNORECASE)


def columns_of(names: Sequence[str]) -> dict[str, str]:
    """Return the columns with usual names, ignoring case, spaces and punctuation: control number, text, path, family.

    Examples
    --------
    >>> columns_of(["Control Number", "BEGATTACH", "Text Path"])
    {'control': 'Control Number', 'path': 'Text Path', 'family': 'BEGATTACH'}
    """
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(folded_name(name), name)
    usual = {"control": _CONTROL, "text": _TEXT, "path": _PATH, "parent": _PARENT, "family": _BEGIN_FAMILY}
    first = {kind: next((folded[name] for name in known if name in folded), None) for kind, known in usual.items()}
    return {kind: name for kind, name in first.items() if name is not None}


def folded_name(name: str) -> str:
    """Return the name of a column without the characters that programs write differently.

    Examples
    --------
    >>> folded_name("Beg Doc #")
    'begdoc'
    """
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def is_for_review(names: Sequence[str]) -> bool:
    """Whether columns are a load file's: a control number, and text files or families.

    Examples
    --------
    >>> is_for_review(["BEGDOC", "TEXTPATH"]), is_for_review(["id", "text"]), is_for_review(["docid", "text", "parent"])
    (True, False, False)
    """
    columns, folded = columns_of(names), set(map(folded_name, names))
    is_known = "control" in columns and not folded.isdisjoint(_UNMISTAKABLE)
    return is_known and ("path" in columns or not folded.isdisjoint({*_PARENT[:-1], *_BEGIN_FAMILY}))


def holds_paths(name: str, values: Iterable[str]) -> bool:
    r"""Whether a column holds paths of text files, by its name or all of its values.

    Examples
    --------
    >>> holds_paths("EXTRACTEDTEXT", ["TEXT\\A-1.txt", ""]), holds_paths("EXTRACTEDTEXT", ["Dear Ada"])
    (True, False)
    """
    if folded_name(name) in _PATH:
        return True
    there = [value for value in values if value.strip()]
    return bool(there) and all(_LIKE_PATH.fullmatch(value.strip()) for value in there)


def parent_in(control: str, values: Iterable[str]) -> str | None:
    """Return the control number of a document's parent from the columns of families."""
    firsts = (re.split(r"\s+-\s+|;", value.strip())[0].strip() for value in values)  # "A-1 - A-9", a range
    return next((first for first in firsts if first not in ("", control)), None)
