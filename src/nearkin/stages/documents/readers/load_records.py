"""Records of a load file; its encoding and delimiters, and its columns by their usual names.

Several programs may have written one line, so each field is decoded by itself. A field that begins with the qualifier
ends at the next one that the separator or a line end follows: not all programs double it. A record with another number
of fields than the header costs one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nearkin.stages.documents.encodings import is_told_by_line, is_utf8
from nearkin.stages.documents.faults import RecordFault
from nearkin.stages.documents.readers.records import FieldSplitter, line_end_in, other_number, read_records
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES
from nearkin.stages.documents.streams import ByteStream

SEPARATOR, QUALIFIER, NEWLINE = "\x14", "þ", "®"
_CSV_QUALIFIER, _CSV_SEPARATORS = '"', ",;\t|"
_OTHER_SEPARATORS = "\x14|^~\x1f\x1e\x1c¶"
"""Separators of headers without a qualifier."""
MAX_COLUMNS = 4_096
_LONGEST_NAME = 200
SINGLE_BYTE = "cp1252"
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    r"""Encoding and delimiters of a load file.

    Examples
    --------
    >>> dialect_of("þDOCIDþ\x14þTEXTPATHþ\r\nþA-1þ\x14þTEXT\\A-1.txtþ\r\n".encode("cp1252")).in_words()
    "Concordance DAT in cp1252, separator '\\x14', qualifier 'þ', newline '®'"
    >>> dialect_of(b"^DOCID^|^TEXT^\n").in_words()
    "Concordance DAT in utf-8, separator '|', qualifier '^', newline ''"
    >>> dialect_of(b"DOCID,TEXT\n").in_words()
    'CSV load file in utf-8, separator \',\', qualifier \'"\', newline \'\''
    """

    separator: str = SEPARATOR
    qualifier: str = QUALIFIER
    newline: str = NEWLINE
    encoding: str = "utf-8"

    @property
    def is_csv(self) -> bool:
        """Whether it is CSV rather than DAT."""
        return self.qualifier in ("", _CSV_QUALIFIER) and self.separator in _CSV_SEPARATORS and not self.newline

    def in_words(self) -> str:
        """Name the dialect for a message."""
        kind = "CSV load file" if self.is_csv else "Concordance DAT"
        signs = f"separator {self.separator!r}, qualifier {self.qualifier!r}, newline {self.newline!r}"
        return f"{kind} in {self.encoding}, {signs}"


def dialect_of(head: bytes, encoding: str | None = None) -> Dialect | None:
    """Return the dialect of a load file by its beginning, without a byte order mark."""
    _, dialect = _header_of(head)
    return None if dialect is None else replace(dialect, encoding=encoding or _encoding_of(head))


def names_in(head: bytes) -> list[str]:
    """Return the column names of a load file's beginning."""
    return _header_of(head)[0]


def _header_of(head: bytes) -> tuple[list[str], Dialect | None]:
    return header_of(decoded(head.partition(b"\n")[0].rstrip(b"\r")))


def header_of(line: str) -> tuple[list[str], Dialect | None]:
    """Return the column names and the dialect of a load file's header line."""
    quote = line[:1]
    if len(line) < 2 or line.isspace():
        return [], None
    if (quote.isascii() and (quote.isalnum() or quote in "_ [(")) or quote in _OTHER_SEPARATORS[:1]:
        return _plain_header(line)
    end = line.find(quote, 1)
    if end <= 1 or not line.endswith(quote):
        return [], None
    separator = line[end + 1 : end + 2] or (SEPARATOR if quote == QUALIFIER else ",")
    names = line[1:-1].split(f"{quote}{separator}{quote}")
    if separator == quote or any(quote in name for name in names) or not _are_names(names):
        return [], None
    is_dat = quote == QUALIFIER or separator == SEPARATOR
    if quote == _CSV_QUALIFIER and separator in _CSV_SEPARATORS:
        return names, Dialect(separator=separator, qualifier=quote, newline="")
    if not is_dat and separator.isalnum():
        return [], None
    return names, Dialect(separator=separator, qualifier=quote, newline=NEWLINE if is_dat else "")


def _plain_header(line: str) -> tuple[list[str], Dialect | None]:
    if SEPARATOR in line:
        names, dialect = line.split(SEPARATOR), Dialect(qualifier="")
    else:
        separator = max(_CSV_SEPARATORS, key=line.count)
        names = [name.strip(_CSV_QUALIFIER) for name in line.split(separator)]
        dialect = Dialect(separator=separator, qualifier=_CSV_QUALIFIER, newline="")
        if len(names) < 2:
            return [], None
    return (names, dialect) if _are_names(names) else ([], None)


def _are_names(names: list[str]) -> bool:
    return len(names) <= MAX_COLUMNS and all(
        name.strip() and len(name) < _LONGEST_NAME and name.isprintable() for name in names
    )


def fallback(encoding: str) -> str:
    """Return the encoding of fields that are not UTF-8.

    Examples
    --------
    >>> fallback("utf-8"), fallback("cp1251")
    ('cp1252', 'cp1251')
    """
    return encoding if is_told_by_line(encoding) and not is_utf8(encoding) else SINGLE_BYTE


def decoded(data: bytes, encoding: str = SINGLE_BYTE) -> str:
    """Return the characters of bytes in UTF-8, or else in another encoding."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(encoding, "replace")


def is_utf8_so_far(head: bytes) -> bool:
    """Whether data is UTF-8 up to a character that may be cut off at its end."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _encoding_of(head: bytes) -> str:
    return "utf-8" if is_utf8_so_far(head) else SINGLE_BYTE


@dataclass(frozen=True, slots=True)
class LoadRecord:
    """A record of a load file, with its first line, from 1; fields have no qualifiers."""

    line: int
    fields: list[str]
    fault: RecordFault | None = None


def records_of(
    stream: ByteStream,
    dialect: Dialect,
    *,
    encoding: str = SINGLE_BYTE,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    block_bytes: int = _BLOCK_BYTES,
) -> Iterator[LoadRecord]:
    """Yield the records of a load file, the header first; StreamFault if the stream breaks off."""
    splitter = _LoadSplitter(dialect)
    for block in read_records(stream, splitter, block_bytes, max_bytes):
        if block.fault is not None:
            yield LoadRecord(int(block.lines[0]), [], block.fault)
        for record, line in zip(block.scanned or (), block.lines.tolist()):
            yield LoadRecord(line, [splitter.whole(field, encoding) for field in record.fields], record.fault)


class _LoadSplitter(FieldSplitter):
    """Records of a load file; þ in CP1252 is the qualifier, too, at the edges of fields."""

    is_plain = False

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect.separator, dialect.qualifier)
        self._n_columns, separator = 0, re.escape(dialect.separator)
        self._other = self.quote.encode(SINGLE_BYTE, "ignore").decode("utf-8", "surrogateescape")
        other, end = re.escape(self._other or "\0"), rf"(?={separator}|\r?\n?\Z)"
        self._run = re.compile(rf"(?:^|(?<={separator})){other}++|{other}++{end}|(?:{other}{other})++")

    def unified(self, line: str) -> str:
        if self._other in (self.quote, "") or self._other not in line:
            return line
        return self._run.sub(lambda occurrence: self.quote * len(occurrence[0]), line)

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

    def whole(self, field: str, encoding: str) -> str:
        """Return the characters of a field; in one that is not UTF-8 a qualifier is one byte."""
        try:
            field.encode()
        except UnicodeEncodeError:
            field = field.replace(self.quote, self._other) if self.quote else field
            return field.encode("utf-8", "surrogateescape").decode(encoding, "replace")
        return field


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
_NATIVE = (
    "nativepath", "nativelink", "nativefile", "nativefilepath", "filepath", "doclink", "nativefilelink", "native",
)  # fmt: skip
_PARENT = ("parentdocid", "parentid", "parentcontrolnumber", "parentdoc", "parentbates", "parentbegdoc", "parent")
_BEGIN_FAMILY = (
    "begattach", "begatt", "beginattach", "begattachment", "begfamily", "attachbeg", "batesbegattach",
    "begbatesattach", "prodbegattach", "begattachno", "attrange", "attachrange",
)  # fmt: skip
_UNMISTAKABLE = frozenset(_CONTROL[:-4]) - {"documentid", "docno"}
_LIKE_PATH = re.compile(r"[^\r\n<>|\"*?]{1,1024}\.(txt|text|ocr)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadColumns:
    """Columns of a load file; None if no column has a usual name.

    Examples
    --------
    >>> columns_of(["Control Number", "BEGATTACH", "Text Path"]).path
    'Text Path'
    """

    control: str | None = None
    text: str | None = None
    path: str | None = None
    native: str | None = None
    parent: str | None = None
    begin_family: str | None = None


def columns_of(names: Sequence[str]) -> LoadColumns:
    """Recognise the columns by their names, ignoring case, spaces and punctuation."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(folded_name(name), name)

    def first(known: Iterable[str]) -> str | None:
        return next((folded[name] for name in known if name in folded), None)

    return LoadColumns(
        control=first(_CONTROL),
        text=first(_TEXT),
        path=first(_PATH),
        native=first(_NATIVE),
        parent=first(_PARENT),
        begin_family=first(_BEGIN_FAMILY),
    )


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
    is_known = columns.control is not None and not folded.isdisjoint(_UNMISTAKABLE)
    return is_known and (columns.path is not None or not folded.isdisjoint({*_PARENT[:-1], *_BEGIN_FAMILY}))


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
