"""Load files of review tools: Concordance DAT, or CSV with the columns of one.

The text of a record is in a column, or in a file inside one folder: a path in a load file is hostile input. Case and
encoding of a name need not be those of the disk, because load files come from Windows.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.paths import STDIN, why
from nearkin.stages.documents.columns import Columns, ColumnSample, choose_columns, listed_columns, sample_of_records
from nearkin.stages.documents.encodings import is_utf8, lines_into_utf8
from nearkin.stages.documents.reader import SAMPLE_RECORDS, Head, StreamReader, head_of_stream, sniffed, stream_of
from nearkin.stages.documents.readers.delimited import FieldLayout
from nearkin.stages.documents.readers.lines import FieldSplitter, legible, line_end_in, other_number, read_records
from nearkin.stages.documents.readers.whole_file import text_of_file
from nearkin.stages.documents.rows import Row, RowList
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, RecordFault, StreamFault
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.values import joined_fields
from nearkin.wording import reveal

_MAX_PARTS, _MAX_LISTED, _MAX_SHOWN = 64, 32, 200


class LoadFile(StreamReader):
    """Concordance DAT, or CSV with the columns of one: control numbers, paths of texts, families."""

    def begins(self, head: Head) -> bool:
        r"""Whether the first line is a header with the separator of Concordance.

        Examples
        --------
        >>> data = "þDOCIDþ\x14þTEXTPATHþ\n".encode("cp1252")
        >>> LoadFile().begins(Head(data=data, compression="none", is_all=True))
        True
        """
        dialect = dialect_of(head.data)
        return dialect is not None and dialect.separator == SEPARATOR

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format for a header of a load file; a .dat file may be anything."""
        dialect = dialect_of(head.data)
        if dialect is None:
            is_load_file = False
        elif dialect.is_csv:
            is_load_file = is_for_review(dialect.names)
        else:
            has_control = len(dialect.names) > 1 and "control" in columns_of(dialect.names)
            is_load_file = dialect.separator == SEPARATOR or has_control
        return "load-file" if is_load_file else sniffed(head) or "file"

    def is_for_review(self, head: Head) -> bool:
        """Whether the first line names the columns of a load file, whatever separates them."""
        dialect = dialect_of(head.data)
        return dialect is not None and is_for_review(dialect.names)

    def evidence(self, head: Head) -> str:
        """Return the delimiters."""
        dialect = dialect_of(head.data)
        return "" if dialect is None else f": {dialect.in_words()}"

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns of the header, and of the first records."""
        dialect = dialect_of(head.data)
        records = [] if dialect is None else _sample_records(head, dialect, source.encoding)
        return sample_of_records(records, header=dialect.names) if dialect and records else None

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the columns by the names that review tools use; see `Reader`."""
        known, guesses = columns_of(sample.names), list[str]()
        if doc_id is None and "control" in known:
            doc_id = known["control"]
            guesses.append(f"control number: '{doc_id}'")
        if text is None:
            has_text = "text" in known and not sample.columns[known["text"]].is_empty
            text = known.get("path") if "path" in known and not has_text else known.get("text")
            if text is not None:
                kind = "text files: named by" if text == known.get("path") else "text:"
                guesses.append(f"{kind} the column '{text}'")
            elif doc_id is not None:
                raise SourceError(
                    f"{label}: this load file has no column of texts, and none of paths of text files. "
                    f"Name it. The columns are: {listed_columns(sample.names)}.",
                    parameter="text",
                )
        chosen = choose_columns(sample, label, text=text, doc_id=doc_id)
        return Columns(chosen.text, chosen.id, (*guesses, *chosen.guesses))

    def encoding(self, encoding: str) -> str:
        """Return the encoding of lines that are not UTF-8."""
        return encoding_of_lines(encoding)

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents, in the order of the records; SourceError if a column is missing."""
        rows = RowList(keep=opened.keep, are_characters=True, batch_bytes=opened.batch_bytes)
        return rows.batches(_LoadFile(opened, stream).rows())

    def digest_of_texts(self, source: Source) -> str | None:
        """Return the SHA-256 of the texts in files that a load file names, if it does and is undamaged."""
        digest = hashlib.sha256()
        try:
            with open(source.path, "rb", buffering=0) as raw:
                opened = OpenedSource(source=source, raw=raw)
                stream = stream_of(opened, self.encoding(source.encoding))
                load_file = _LoadFile(replace(opened, source=self.seen_columns(source, stream)), stream)
                if load_file.folder is None:
                    return None
                for row in load_file.rows():
                    text = row.text or b""
                    digest.update(f"{len(text)} ".encode() + text)
        except (SourceError, StreamFault, OSError):
            return None
        return digest.hexdigest()


def _sample_records(head: Head, dialect: Dialect, encoding: str) -> list[dict[str, object]]:
    records, names = list[dict[str, object]](), list[str]()
    stream = ByteStream(io.BytesIO(head.data), "none", encoding=encoding_of_lines(encoding))
    for number, record in enumerate(records_of(stream, dialect)):
        names = names or record.fields
        if record.fault is None:
            records.append(dict(zip(names, record.fields if number else [""] * len(names), strict=True)))
        if number == SAMPLE_RECORDS:
            break
    return records


class _LoadFile:
    def __init__(self, opened: OpenedSource, stream: ByteStream) -> None:
        source, head = opened.source, head_of_stream(stream)
        dialect = dialect_of(head.data)
        if dialect is None:
            raise SourceError(
                f"{source.name}: this is not a load file. The first line must have the names of its columns, such as "
                "þDOCIDþ\\x14þTEXTPATHþ."
            )
        self._records, self._newline = records_of(stream, dialect, max_bytes=source.max_document_bytes), dialect.newline
        header = next(self._records, None)
        if header is None:
            raise SourceError(f"{source.name} has no header.")
        names = self._names = header.fields
        self._layout = FieldLayout.of(names, opened, "TEXTPATH")
        columns, text = columns_of(names), names[self._layout.text[0]]
        self._family = [names.index(columns[kind]) for kind in ("parent", "family") if kind in columns]
        seen = [str(record[text]) for record in _sample_records(head, dialect, source.encoding)[1:]]
        self._paths, has_paths = [*self._layout.text], holds_paths(text, seen)
        is_usual = text == columns.get("text") and "path" in columns
        if not has_paths and is_usual and (source.path != STDIN or source.text_root is not None):
            self._paths, has_paths = [names.index(columns["path"])], True  # of texts that are not in their column
        self.folder = _text_folder(source) if has_paths else None

    def rows(self) -> Iterator[Row]:
        for record in self._records:
            if record.fault is not None:
                yield Row(record.line, problem=record.fault)
                continue
            fields, text, fault = [field.strip() for field in record.fields], None, None
            control = "" if self._layout.doc_id is None else fields[self._layout.doc_id]
            try:
                text = self._text_of(record)
            except RecordFault as unreadable:
                fault = unreadable
            parent = parent_in(control, (fields[place] for place in self._family)) if control else None
            yield self._layout.row(record.line, [field.encode() for field in fields], text, fault, parent)

    def _text_of(self, record: LoadRecord) -> bytes:
        path, text = record.fields[self._paths[0]], b""
        if self.folder is None or self._paths != self._layout.text:
            values = [record.fields[place] for place in self._layout.text]
            text = joined_fields([value.replace(self._newline or "\n", "\n").encode() for value in values])
            if self.folder is None or text.strip() or not path.strip():
                return text
        if not path.strip():
            name = self._names[self._paths[0]]
            raise RecordFault("empty", f"it names no text file (its {name} is empty)")
        return self.folder.read(path)


def _text_folder(source: Source) -> TextFolder:
    if source.path == STDIN and source.text_root is None:
        raise SourceError(
            "-: the text files of a load file on standard input need their folder: name it with --text-root."
        )
    beside = os.path.dirname(os.path.abspath(source.path)) if source.path != STDIN else ""
    encoding = encoding_of_lines(source.encoding)
    return TextFolder(source.text_root or beside, beside, encoding, source.max_document_bytes)


class TextFolder:
    """Folder of text files that no path leaves; paths that begin with ``..`` are followed from ``beside``."""

    def __init__(
        self, root: str, beside: str = "", encoding: str = "utf-8", max_bytes: int = MAX_DOCUMENT_BYTES
    ) -> None:
        self._root, self._beside, self._encoding, self._max_bytes = root, beside, encoding, max_bytes
        self._names = dict[str, dict[str, list[str]]]()

    def parts(self, path: str) -> list[str]:
        """Return the parts of a path below the folder; RecordFault if it leads elsewhere."""
        plain = path.strip().replace("\\", "/")
        if path.strip().startswith("/") or plain.startswith("//") or re.match(r"[A-Za-z]:", plain):
            raise _refused(path, "is absolute; only files below --text-root are read", "the path of its text")
        parts = [part for part in plain.split("/") if part not in ("", ".")]
        if parts[:1] == [".."]:
            root, beside = Path(self._root).resolve(), Path(self._beside or self._root).resolve()
            parts = [*(beside.relative_to(root).parts if beside.is_relative_to(root) else ()), *parts]
        below: list[str] = []
        for part in parts:
            if part != "..":
                below.append(part)
            elif below:
                below.pop()
            else:
                raise _refused(path, "leads out of the folder of the texts", "the path of its text")
        if not 0 < len(below) <= _MAX_PARTS or "\0" in plain:
            raise _refused(path, "names no file", "the path of its text")
        return below

    def read(self, path: str) -> bytes:
        """Return the text of a file, in UTF-8; RecordFault if there is none below the folder."""
        place, mode = self._root, 0
        for part in self.parts(path):
            try:
                place = self._below(place, part, path)
                mode = os.lstat(place).st_mode
            except FileNotFoundError as error:
                raise _refused(path, "is missing below the folder of the texts, which --text-root names") from error
            except OSError as error:
                raise _refused(path, f"cannot be opened: {why(error)}") from error
            if stat.S_ISLNK(mode):
                raise _refused(path, "is, or lies behind, a link; links are not followed")
        if not stat.S_ISREG(mode):
            raise _refused(path, "is not a regular file")
        try:
            return text_of_file(place, self._encoding, self._max_bytes)
        except OSError as error:
            raise _refused(path, f"cannot be opened: {why(error)}") from error
        except RecordFault as fault:
            raise RecordFault(fault.reason, f"its text file {_shown(path)}: {fault.sentence}") from fault

    def _below(self, folder: str, name: str, path: str) -> str:
        """Return the place of a name in a folder, whatever its case and encoding."""
        place = os.path.join(folder, name)
        if os.path.lexists(place):
            return place
        if folder not in self._names:
            if len(self._names) >= _MAX_LISTED:
                self._names.clear()
            names = self._names[folder] = {}
            for listed in os.listdir(folder):
                names.setdefault(folded_file_name(listed), []).append(listed)
        alike = self._names[folder].get(folded_file_name(name), [name])
        if len(alike) > 1:
            raise _refused(path, f"is ambiguous: {len(alike)} names differ only by case")
        return os.path.join(folder, alike[0])


def folded_file_name(name: str) -> str:
    """Return a name without differences between systems; bytes may be of CP1252."""
    raw = os.fsencode(name)
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        name = raw.decode("cp1252", "replace")
    return unicodedata.normalize("NFC", name).casefold()


def _refused(path: str, problem: str, what: str = "its text file") -> RecordFault:
    return RecordFault("damaged", f"{what} {_shown(path)} {problem}")


def _shown(path: str) -> str:
    return f"'{reveal(path if len(path) <= _MAX_SHOWN else f'{path[:_MAX_SHOWN]}…')}'"


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
