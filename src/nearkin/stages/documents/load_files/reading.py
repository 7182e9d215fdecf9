"""Load file → batches of documents: the text from a column, or from the file that the record names."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.nouns import counted
from nearkin.paths import STDIN
from nearkin.stages.documents.columns import check_unique, missing_column
from nearkin.stages.documents.delimited import named
from nearkin.stages.documents.encodings import is_told_by_line, is_utf8
from nearkin.stages.documents.head import head_of_stream
from nearkin.stages.documents.keeping import KeepColumn
from nearkin.stages.documents.load_files.columns import FamilyLinks, columns_of, holds_paths
from nearkin.stages.documents.load_files.dialect import SINGLE_BYTE, Dialect, decoded, dialect_of, fallback
from nearkin.stages.documents.load_files.records import LoadRecord, RecordReader, control_of_damaged
from nearkin.stages.documents.load_files.text_folder import RefusedPathError, TextFolder
from nearkin.stages.documents.rows import IdType, RowList, integers_or_strings, one_batch
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream

_BATCH_RECORDS = 4_096
_STATE_SIGNS = 16


def stream_encoding(encoding: str) -> str:
    """Return the encoding in which the whole file is decoded: fields are judged one by one unless it is wide."""
    return "utf-8" if is_told_by_line(encoding) else encoding


def dialect_in(stream: ByteStream, name: str) -> Dialect:
    """Return the dialect of a stream.

    Raises
    ------
    SourceError
        It is not a load file.
    """
    head = head_of_stream(stream)
    found = dialect_of(head.data, encoding=head.encoding)
    if found is None:
        raise SourceError(
            f"{name}: this is not a load file. The first line must have the names of its columns, such as "
            "þDOCIDþ\\x14þTEXTPATHþ."
        )
    return found


@dataclass(slots=True)
class _Reading:
    """Columns and texts of one load file, and the rows so far."""

    names: list[str]
    text: int
    control: int | None
    keep: int | None
    links: FamilyLinks
    of_family: dict[str, int]
    folder: TextFolder | None
    newline: str
    encoding: str
    text_read: Callable[[bytes], None]
    rows: RowList = field(default_factory=RowList)
    keeps: list[bytes | None] = field(default_factory=list)
    n_bytes: int = 0
    last_control: str | None = None

    def add(self, record: LoadRecord) -> None:
        """Add a record as a document, or as one with a problem."""
        if record.problem is not None:
            index = -1 if self.control is None else self.control
            control = control_of_damaged(record, index, self.encoding, self.last_control)
            self._add(record.line, control, None, record.problem, None, None)
            return
        control = "" if self.control is None else self._value(record, self.control).strip()
        self.last_control = control or self.last_control
        parent = None
        if control and self.of_family:
            values = {name: self._value(record, index) for name, index in self.of_family.items()}
            parent = self.links.parent_of(control, values)
        text, problem = self._text(record)
        keep = None if self.keep is None else record.fields[self.keep]
        self._add(record.line, control or None, text, problem, parent, keep)

    def _add(
        self, line: int, control: str | None, text: bytes | None, problem: str | None, parent: str | None,
        keep: bytes | None,
    ) -> None:  # fmt: skip
        self.rows.add(line, control, text, problem, parent=parent)
        self.keeps.append(keep)
        self.n_bytes += len(text or b"")
        if self.folder is not None:
            self.text_read(text or b"")

    def _value(self, record: LoadRecord, index: int) -> str:
        return decoded(record.fields[index], self.encoding)

    def _text(self, record: LoadRecord) -> tuple[bytes | None, str | None]:
        """Return the text of a record, or the reason why there is none."""
        if self.folder is None:
            value = record.fields[self.text]
            if self.newline or not value.isascii():
                characters = self._value(record, self.text)
                value = characters.replace(self.newline, "\n").encode() if self.newline else characters.encode()
            return value, None
        path = self.path_of(record)
        if not path.strip():
            return None, f"it names no text file (its {self.names[self.text]} is empty)"
        try:
            return self.folder.read(path), None
        except RefusedPathError as refused:
            return None, str(refused)

    def path_of(self, record: LoadRecord) -> str:
        """Return the path of the text file of a record."""
        return self._value(record, self.text)

    def batch(self, keeper: KeepColumn | None, ids: IdType) -> pa.RecordBatch:
        """Return the rows so far as a batch, and begin a new one."""
        piece = self.rows.piece()
        doc_ids = integers_or_strings(named(pa.array(self.rows.doc_ids, pa.large_string())))
        keeps = None if keeper is None else keeper.of_characters(pa.array(self.keeps, pa.binary()))
        self.rows, self.keeps, self.n_bytes = RowList(), [], 0
        return one_batch([replace(piece, doc_id=doc_ids, keep_value=keeps)], ids)


def read_load_file(stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents, in the order of the records.

    Raises
    ------
    SourceError
        It is not a load file, or lacks a column.
    """
    source = opened.source
    dialect = dialect_in(stream, source.name)
    sampled = sampled_values(stream, dialect, source)
    records = RecordReader(stream, dialect, source.max_document_bytes).records()
    header = next(records, None)
    if header is None:
        raise SourceError(f"{source.name} has no header.")
    reading = _reading(opened, dialect, header, sampled)
    ids = IdType()
    try:
        for record in records:
            reading.add(record)
            if reading.n_bytes >= opened.batch_bytes or len(reading.rows.lines) >= _BATCH_RECORDS:
                yield reading.batch(opened.keep, ids)
        if reading.rows.lines:
            yield reading.batch(opened.keep, ids)
    finally:
        if reading.folder is not None:
            reading.folder.close()


def state_of_texts(opened: OpenedSource, stream: ByteStream) -> str | None:
    """Return the state of the text files that a load file names, in words; None if it names none.

    Parameters
    ----------
    opened : OpenedSource
    stream : ByteStream
        At its beginning.

    Raises
    ------
    SourceError, StreamFault
        As by `read_load_file`.
    """
    paths = _paths_of_texts(opened, stream)
    if paths is None:
        return None
    told, n_files, n_bytes = hashlib.sha256(), 0, 0
    for folder, path in paths:
        found = folder.state_of(path)
        told.update(repr((path, found)).encode("utf-8", "backslashreplace"))
        n_files += found is not None
        n_bytes += found[0] if found is not None else 0
    files = f"{counted(n_files, 'text file')} of {counted(n_bytes, 'byte')}"
    return f"{files} in state {told.hexdigest()[:_STATE_SIGNS]}"


def digest_of_texts(opened: OpenedSource, stream: ByteStream) -> str | None:
    """Return the SHA-256 of the texts in the files that a load file names; None if it names none.

    Parameters and errors are those of `state_of_texts`.
    """
    paths = _paths_of_texts(opened, stream)
    if paths is None:
        return None
    told = TextsDigest()
    for folder, path in paths:
        try:
            text = folder.read(path)
        except RefusedPathError:
            text = b""
        told.add(text)
    return told.hexdigest()


def names_text(opened: OpenedSource, stream: ByteStream, file: os.stat_result) -> bool:
    """Whether a file is one of the text files that a load file names.

    Parameters and errors are those of `state_of_texts`.
    """
    named = (folder.file_of(path) for folder, path in _paths_of_texts(opened, stream) or ())
    return any(found is not None and os.path.samestat(found, file) for found in named)


def _paths_of_texts(opened: OpenedSource, stream: ByteStream) -> Iterator[tuple[TextFolder, str]] | None:
    """Return the folder of the text files with the path of each record; None if a load file names none."""
    dialect = dialect_in(stream, opened.source.name)
    sampled = sampled_values(stream, dialect, opened.source)
    records = RecordReader(stream, dialect, opened.source.max_document_bytes).records()
    header = next(records, None)
    if header is None:
        return None
    reading = _reading(opened, dialect, header, sampled)
    if (folder := reading.folder) is None:
        return None

    def paths() -> Iterator[tuple[TextFolder, str]]:
        with contextlib.closing(folder):
            for record in records:
                yield folder, "" if record.problem is not None else reading.path_of(record)

    return paths()


def sampled_values(stream: ByteStream, dialect: Dialect, source: Source) -> list[str]:
    """Return the first values of the text column, without consuming the stream."""
    records = list(sample_records(head_of_stream(stream).data, dialect, fallback("utf-8")))
    return [str(record.get(source.text or "", "")) for record in records[1:]]


def sample_records(head: bytes, dialect: Dialect, encoding: str) -> Iterator[dict[str, object]]:
    """Yield the header, each column with an empty value, and the first records."""
    import io

    from nearkin.stages.documents.head import SAMPLE_RECORDS

    reader = RecordReader(ByteStream(io.BytesIO(head), "none"), dialect)
    names: list[str] | None = None
    for number, record in enumerate(reader.records()):
        if number > SAMPLE_RECORDS:
            return
        values = [decoded(value, encoding) for value in record.fields]
        if names is None:
            names = values
            yield dict.fromkeys(names, "")
        elif len(values) == len(names):
            yield dict(zip(names, values, strict=True))


def _reading(opened: OpenedSource, dialect: Dialect, header: LoadRecord, sampled: Sequence[str]) -> _Reading:
    """Return the settings for reading the records, from the header."""
    source, encoding = opened.source, fallback(opened.encoding)
    names = [decoded(value, encoding) for value in header.fields]

    def index(parameter: str, column: str | None) -> int | None:
        if column is not None and column not in names:
            raise missing_column(source.name, parameter, column, names)
        check_unique(source.name, {parameter: column}, names)
        return None if column is None else names.index(column)

    text = index("text", "TEXTPATH" if source.text is None else source.text)
    columns = columns_of(names)
    of_family = [one for one in (columns.parent, columns.begin_family, columns.children) if one is not None]
    return _Reading(
        names=names,
        text=text or 0,
        control=index("id", source.id),
        keep=index("keep", None if opened.keep is None else opened.keep.name),
        links=FamilyLinks(columns),
        of_family={one: index("", one) or 0 for one in of_family},
        folder=text_folder(opened, dialect) if holds_paths(names[text or 0], sampled) else None,
        newline=dialect.newline,
        encoding=encoding,
        text_read=opened.text_read,
    )


def text_folder(opened: OpenedSource, dialect: Dialect) -> TextFolder:
    """Return the folder of the text files: that of the user, or the folder of the load file."""
    source = opened.source
    if source.path == STDIN and source.text_root is None:
        raise SourceError(
            "-: the text files of a load file on standard input need their folder: name it with --text-root."
        )
    beside = os.path.dirname(os.path.abspath(source.path)) if source.path != STDIN else ""
    is_named = not is_utf8(opened.encoding)
    encoding = opened.encoding if is_named else SINGLE_BYTE if dialect.encoding == SINGLE_BYTE else "utf-8"
    return TextFolder(source.text_root or beside, beside, encoding, source.max_document_bytes)


class TextsDigest:
    """SHA-256 of the texts of all records, in order; the text of a record without a readable one is empty.

    Examples
    --------
    >>> one, other = TextsDigest(), TextsDigest()
    >>> for text in (b"ab", b""):
    ...     one.add(text)
    >>> for text in (b"a", b"b"):
    ...     other.add(text)
    >>> one.hexdigest() == other.hexdigest()
    False
    """

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def add(self, text: bytes) -> None:
        """Add the text of the next record."""
        self._sha256.update(f"{len(text)} ".encode() + text)

    def hexdigest(self) -> str:
        """Return the digest of the texts so far."""
        return self._sha256.hexdigest()
