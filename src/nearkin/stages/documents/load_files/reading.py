"""Load file → batches of documents: the text from a column, or from the file that the record names."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.paths import STDIN
from nearkin.stages.documents.columns import check_unique, missing_column
from nearkin.stages.documents.encodings import is_utf8
from nearkin.stages.documents.head import SAMPLE_RECORDS, head_of_stream
from nearkin.stages.documents.load_files.columns import columns_of, holds_paths, parent_in
from nearkin.stages.documents.load_files.records import (
    SINGLE_BYTE,
    Dialect,
    LoadRecord,
    dialect_of,
    fallback,
    records_of,
)
from nearkin.stages.documents.load_files.text_folder import RefusedPathError, TextFolder
from nearkin.stages.documents.rows import IdType, RowList, integers_or_strings, named, one_batch
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream

_BATCH_RECORDS = 4_096


def dialect_in(stream: ByteStream, name: str) -> Dialect:
    """Return the dialect of a stream.

    Raises
    ------
    SourceError
        It is not a load file.
    """
    head = head_of_stream(stream)
    dialect = dialect_of(head.data, head.encoding)
    if dialect is None:
        raise SourceError(
            f"{name}: this is not a load file. The first line must have the names of its columns, such as "
            "þDOCIDþ\\x14þTEXTPATHþ."
        )
    return dialect


def sample_records(head: bytes, dialect: Dialect) -> Iterator[dict[str, object]]:
    """Yield the header, each column with an empty value, and the first records."""
    names: list[str] = []
    for number, record in enumerate(records_of(ByteStream(io.BytesIO(head), "none"), dialect)):
        if number > SAMPLE_RECORDS:
            return
        names = names or record.fields
        if record.problem is None:
            yield dict(zip(names, record.fields if number else [""] * len(names), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadFile:
    """Opened load file: its records without the header, the places of columns, and the folder of its texts."""

    records: Iterator[LoadRecord]
    newline: str
    text: int
    text_name: str
    control: int | None
    keep: int | None
    carry: Sequence[int | None]
    family: Sequence[int]
    folder: TextFolder | None

    def control_of(self, record: LoadRecord) -> str | None:
        """Return the control number."""
        return (record.fields[self.control].strip() or None) if self.control is not None and record.fields else None

    def parent_of(self, record: LoadRecord, control: str | None) -> str | None:
        """Return the control number of the parent."""
        return parent_in(control, (record.fields[index] for index in self.family)) if control else None

    def carried_of(self, record: LoadRecord) -> list[str | None]:
        """Return the values of carried columns."""
        fields = record.fields
        return [None if index is None or not fields else fields[index].strip() or None for index in self.carry]

    def text_of(self, record: LoadRecord) -> tuple[bytes | None, str | None]:
        """Return the text of a record, or the reason why there is none."""
        if record.problem is not None:
            return None, record.problem
        value = record.fields[self.text]
        if self.folder is None:
            return (value.replace(self.newline, "\n") if self.newline else value).encode(), None
        if not value.strip():
            return None, f"empty: it names no text file (its {self.text_name} is empty)"
        try:
            return self.folder.read(value), None
        except RefusedPathError as refused:
            return None, str(refused)


def _opened(opened: OpenedSource, stream: ByteStream) -> _LoadFile:
    source, encoding = opened.source, fallback(opened.encoding)
    dialect = dialect_in(stream, source.name)
    sampled = [*sample_records(head_of_stream(stream).data, dialect)][1:]
    records = records_of(stream, dialect, encoding=encoding, max_bytes=source.max_document_bytes)
    header = next(records, None)
    if header is None:
        raise SourceError(f"{source.name} has no header.")
    names = header.fields

    def index(parameter: str, column: str | None) -> int | None:
        if column is not None and column not in names:
            raise missing_column(source.name, parameter, column, names)
        check_unique(source.name, {parameter: column}, names)
        return None if column is None else names.index(column)

    text = index("text", "TEXTPATH" if source.text is None else source.text) or 0
    columns = columns_of(names)
    has_paths = holds_paths(names[text], [str(record[names[text]]) for record in sampled])
    return _LoadFile(
        records=records,
        newline=dialect.newline,
        text=text,
        text_name=names[text],
        control=index("id", source.id),
        keep=index("keep", None if opened.keep is None else opened.keep.name),
        carry=[names.index(column) if column in names else None for column in opened.carry],
        family=[index("", name) or 0 for name in (columns.parent, columns.begin_family) if name is not None],
        folder=_text_folder(opened, dialect) if has_paths else None,
    )


def _text_folder(opened: OpenedSource, dialect: Dialect) -> TextFolder:
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


def read_load_file(stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents, in the order of the records.

    Raises
    ------
    SourceError
        It is not a load file, or lacks a column.
    """
    load_file, ids = _opened(opened, stream), IdType()
    rows, keeps, n_bytes = RowList(), list[bytes | None](), 0

    def batch() -> pa.RecordBatch:
        piece = rows.piece()
        doc_ids = integers_or_strings(named(pa.array(rows.doc_ids, pa.large_string())))
        kept = None if opened.keep is None else opened.keep.of_characters(pa.array(keeps, pa.binary()))
        carried = [integers_or_strings(column) for column in piece.carried]
        return one_batch([replace(piece, doc_id=doc_ids, keep_value=kept, carried=carried)], ids)

    for record in load_file.records:
        control = load_file.control_of(record)
        text, problem = load_file.text_of(record)
        rows.add(
            record.line, control, text, problem, parent=load_file.parent_of(record, control),
            carried=load_file.carried_of(record),
        )  # fmt: skip
        keeps.append(record.fields[load_file.keep].encode() if load_file.keep is not None and record.fields else None)
        n_bytes += len(text or b"")
        if n_bytes >= opened.batch_bytes or len(keeps) >= _BATCH_RECORDS:
            yield batch()
            rows, keeps, n_bytes = RowList(), [], 0
    if keeps:
        yield batch()


def latest_change_of_texts(opened: OpenedSource, stream: ByteStream) -> int:
    """Return the time of the latest change of the text files that a load file names, in nanoseconds; otherwise 0.

    Raises
    ------
    SourceError, StreamFault
        As by `read_load_file`.
    """
    load_file, latest = _opened(opened, stream), 0
    if load_file.folder is None:
        return latest
    for record in load_file.records:
        with suppress(RefusedPathError):
            latest = max(latest, load_file.folder.changed_ns(record.fields[load_file.text] if record.fields else ""))
    return latest


def digest_of_texts(opened: OpenedSource, stream: ByteStream) -> str | None:
    """Return the SHA-256 of the texts in the files that a load file names; None if it names none.

    A text that cannot be read is empty. Errors are those of `latest_change_of_texts`.
    """
    load_file = _opened(opened, stream)
    if load_file.folder is None:
        return None
    digest = hashlib.sha256()
    for record in load_file.records:
        text = load_file.text_of(record)[0] or b""
        digest.update(f"{len(text)} ".encode() + text)
    return digest.hexdigest()


def paths_in(stream: ByteStream, dialect: Dialect) -> Iterator[str]:
    """Yield the paths of the texts and the originals that the records of a load file name."""
    places: list[int] | None = None
    for record in records_of(stream, dialect):
        if places is None:
            columns = columns_of(record.fields)
            names = (columns.path, columns.native, columns.text)
            places = [record.fields.index(name) for name in names if name is not None]
        elif record.fields:
            yield from (record.fields[place] for place in places)
