"""JSON Lines: one object per line.

Arrow reads a block of lines at a time. If it refuses a block, its lines are parsed one by one, which names the fault. A
line is bad only if Arrow and Python's ``json`` refuse it.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from nearkin.records import I64
from nearkin.stages.documents.columns import ColumnSample, sample_of_records
from nearkin.stages.documents.faults import RecordFault
from nearkin.stages.documents.head import SAMPLE_RECORDS, Head
from nearkin.stages.documents.keeping import KeepColumn
from nearkin.stages.documents.readers.lines import LineReader
from nearkin.stages.documents.readers.records import LineSplitter, Records, read_records
from nearkin.stages.documents.rows import IdType, RowList, RowPiece, ids_from_characters, one_batch, problem_piece
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.values import (
    ColumnPath,
    id_of,
    in_words,
    joined_columns,
    text_in,
    text_of,
    text_paths,
    value_in,
)

_FEW_LINES = 64
_WHITE = b" \t\r\n"


class JsonLines(LineReader):
    """Each line is an object; columns are its members."""

    def begins(self, head: Head) -> bool:
        """Whether the first line that is not blank begins an object."""
        lines = head.first_lines
        return bool(lines) and lines[0].lstrip().startswith(b"{")

    def problem(self, head: Head) -> str | None:
        """Return the problem of a JSON array, or of objects in several lines."""
        first, second = ([line.strip() for line in head.first_lines[:2]] + [b"", b""])[:2]
        if first.startswith(b"{") and first.endswith((b"{", b"[", b",")) and second.startswith(b'"'):
            return (
                "each line must be one JSON object, but the first object has several lines. Turn it into JSON Lines, "
                "for example with: jq -c ."
            )
        if not head.data.lstrip().startswith(b"["):
            return None
        return (
            "this is one JSON array instead of one object per line. "
            "Turn it into JSON Lines, for example with: jq -c '.[]'"
        )

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns of the objects in the first lines."""
        records = list(islice(_first_objects(head), SAMPLE_RECORDS))
        return sample_of_records(records) if records else None

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each block that is not blank."""
        source = opened.source
        return read_jsonl(
            stream,
            text="text" if source.text is None else source.text,
            doc_id=source.id,
            keep=opened.keep,
            carry=opened.carry,
            batch_bytes=opened.batch_bytes,
            max_document_bytes=source.max_document_bytes,
        )


def _first_objects(head: Head) -> Iterator[dict[str, object]]:
    for line in head.lines:
        with contextlib.suppress(ValueError, RecursionError):
            record = json.loads(line.decode("utf-8", "replace"))
            if isinstance(record, dict) and record:
                yield record


@dataclass  # no slots: what follows from the columns is computed once
class _Wanted:
    text: str
    doc_id: str | None
    keeper: KeepColumn | None
    carry: Sequence[str]
    id_types: list[pa.DataType] = field(default_factory=lambda: [pa.int64(), pa.binary()])
    keep_types: list[pa.DataType] = field(default_factory=lambda: [pa.float64(), pa.bool_(), pa.binary()])
    is_settled: bool = False

    @cached_property
    def is_inside(self) -> bool:
        names = [name for name in (self.doc_id, self.keep) if name is not None]
        parts = [path.column for path in self.paths]
        is_used_twice = len(parts) > 1 and not {*names, *self.carry}.isdisjoint(parts)
        return is_used_twice or any(path.steps for path in (*self.paths, *map(ColumnPath.of, (*names, *self.carry))))

    @cached_property
    def paths(self) -> list[ColumnPath]:
        return text_paths(self.text)

    @property
    def keep(self) -> str | None:
        return None if self.keeper is None else self.keeper.name

    def types_to_try(self, n_lines: int) -> list[tuple[pa.DataType, pa.DataType]]:
        """Return types of the id and the column to keep by: those that fitted before.

        All if none did or it is cheap.
        """
        id_types = self.id_types if self.doc_id is not None else self.id_types[:1]
        keep_types = self.keep_types if self.keep is not None else self.keep_types[:1]
        pairs = [(id_type, keep_type) for id_type in id_types for keep_type in keep_types]
        return pairs[:1] if self.is_settled and n_lines > _FEW_LINES else pairs

    def settle(self, id_type: pa.DataType, keep_type: pa.DataType) -> None:
        self.is_settled = True
        self.id_types.sort(key=lambda type_: bool(type_ != id_type))
        self.keep_types.sort(key=lambda type_: bool(type_ != keep_type))


def read_jsonl(
    stream: ByteStream,
    *,
    text: str,
    doc_id: str | None,
    keep: KeepColumn | None = None,
    batch_bytes: int,
    max_document_bytes: int,
    carry: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield a batch for each block that is not blank."""
    wanted = _Wanted(text, doc_id, keep, carry)
    ids = IdType()
    for block in read_records(stream, LineSplitter(), batch_bytes, max_document_bytes):
        if block.fault is not None:
            yield one_batch([problem_piece(int(block.lines[0]), block.fault)], ids)
            continue
        lines = _without_white_space(block)
        if len(lines):
            piece = _read_fast(lines, wanted)
            yield one_batch([*_read_slow(lines, wanted)] if piece is None else [piece], ids)


def _without_white_space(block: Records) -> Records:
    lines = replace(block, ends=block.without_line_ends())
    if not _look_whole(lines):
        starts, ends = _stripped(lines)
        lines = replace(lines, starts=starts, ends=ends).only(ends > starts)
    return lines


def _line(lines: Records, index: int) -> bytes:
    return bytes(lines.data[lines.starts[index] : lines.ends[index]])


def _look_whole(lines: Records) -> bool:
    """Whether each line runs from ``{`` to ``}``.

    A ``}`` inside an object is never followed by ``{``, so Arrow, which ignores line ends, finds as many objects as
    lines only if each line has one. It also keeps a bare ``null`` from the beginning of Arrow's input, which would
    crash it.
    """
    view, starts, ends = lines.view, lines.starts, lines.ends
    if not len(starts) or not bool((ends > starts).all()):
        return False
    return bool((view[starts] == ord("{")).all() and (view[ends - 1] == ord("}")).all())


def _stripped(lines: Records) -> tuple[I64, I64]:
    view, starts, ends = lines.view, lines.starts.copy(), lines.ends.copy()
    odd = (ends <= starts) | (view[np.minimum(starts, len(view) - 1)] != ord("{")) | (view[ends - 1] != ord("}"))
    for index in np.flatnonzero(odd).tolist():
        line = _line(lines, index)
        starts[index] += len(line) - len(line.lstrip(_WHITE))
        ends[index] = starts[index] + len(line.strip(_WHITE))
    return starts, ends


def _read_fast(lines: Records, wanted: _Wanted) -> RowPiece | None:
    if wanted.is_inside or not _look_whole(lines):
        return None
    start, end = int(lines.starts[0]), int(lines.ends[-1])
    buffer = pa.py_buffer(lines.data)[start:end]
    table = _arrow_table(buffer, len(lines), wanted, _types_to_carry(lines, wanted.carry))
    if table is None or len(table) != len(lines):
        return None
    texts = _only_chunk(table.column("text")).cast(pa.large_binary())
    problems = pa.nulls(len(lines), pa.large_string())
    if texts.null_count:
        problems = _why_null(lines, texts, wanted.text)
    doc_ids = pa.nulls(len(lines))
    if wanted.doc_id is not None:
        doc_ids = _only_chunk(table.column("doc_id"))
        if not pa.types.is_int64(doc_ids.type):
            doc_ids = ids_from_characters(doc_ids)
    keep_values = pa.nulls(len(lines), pa.float64())
    if wanted.keeper is not None:
        keep_values = wanted.keeper.of_json(_only_chunk(table.column("keep_value")))
    carried = [_only_chunk(table.column(f"carried {name}")) for name in wanted.carry]
    return RowPiece(
        doc_id=doc_ids, text=texts, line=lines.lines, problem=problems, keep_value=keep_values,
        carried=[one if pa.types.is_int64(one.type) else ids_from_characters(one) for one in carried],
    )  # fmt: skip


def _types_to_carry(lines: Records, names: Sequence[str]) -> Mapping[str, pa.DataType]:
    types = dict[str, pa.DataType]()
    for index in range(min(len(lines), _FEW_LINES) if names else 0):
        with contextlib.suppress(RecordFault):
            for name, value in _record(_line(lines, index))[0].items():
                if name in names and value is not None:
                    types.setdefault(name, pa.int64() if isinstance(value, int) else pa.binary())
        if len(types) == len(names):
            break
    return {name: types.get(name, pa.binary()) for name in names}


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _arrow_table(
    buffer: pa.Buffer, n_lines: int, wanted: _Wanted, carried: Mapping[str, pa.DataType]
) -> pa.Table | None:
    read_options = pa.json.ReadOptions(use_threads=False, block_size=buffer.size + 64)
    for id_type, keep_type in wanted.types_to_try(n_lines):
        # binary instead of string: Arrow does not check UTF-8 in either
        types = {**carried, wanted.text: pa.binary(), **{path.column: pa.binary() for path in wanted.paths}}
        if wanted.keep is not None:
            types[wanted.keep] = keep_type
        if wanted.doc_id is not None:
            types[wanted.doc_id] = id_type
        parse_options = pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        )
        try:
            table = pa.json.read_json(pa.BufferReader(buffer), read_options=read_options, parse_options=parse_options)
        except (pa.ArrowInvalid, UnicodeDecodeError):  # the latter if the message quotes invalid UTF-8
            continue
        wanted.settle(id_type, keep_type)
        return _renamed(table, wanted)
    return None


def _renamed(table: pa.Table, wanted: _Wanted) -> pa.Table:
    columns = {"text": table.column(wanted.text)}
    if len(wanted.paths) > 1:  # unless one column has that name
        joined = joined_columns([_only_chunk(table.column(path.column)) for path in wanted.paths])
        columns["text"] = pc.coalesce(columns["text"].cast(joined.type), joined)
    if wanted.doc_id is not None:
        columns["doc_id"] = table.column(wanted.doc_id)
    if wanted.keep is not None:
        columns["keep_value"] = table.column(wanted.keep)
    columns |= {f"carried {name}": table.column(name) for name in wanted.carry}
    return pa.table(columns)


def _why_null(lines: Records, texts: pa.Array, text: str) -> pa.Array:
    problems: list[str | None] = [None] * len(lines)
    for index in np.flatnonzero(pc.is_null(texts).to_numpy(zero_copy_only=False)).tolist():
        try:
            text_of(text_in(_record(_line(lines, index))[0], text, of="the object"))
        except RecordFault as fault:
            problems[index] = str(fault)
    return pa.array(problems, pa.large_string())


def _read_slow(lines: Records, wanted: _Wanted) -> Iterator[RowPiece]:
    rows = RowList(keep=wanted.keeper)
    for index in range(len(lines)):
        number, line = int(lines.lines[index]), _line(lines, index)
        try:
            record, is_utf8 = _record(line)
        except RecordFault as refused:
            alone = _read_fast(lines.part(index, index + 1), wanted)
            if alone is None:
                rows.add(number, problem=refused)
            else:
                yield from (rows.piece(), alone)
            continue
        doc_id = None if wanted.doc_id is None else _id_of(value_in(record, wanted.doc_id), is_utf8=is_utf8)
        carried = [_id_of(value_in(record, name), is_utf8=is_utf8) for name in wanted.carry]
        keep_value = value_in(record, wanted.keep)
        text, fault = None, None
        try:
            text = text_of(text_in(record, wanted.text, of="the object"), is_utf8=is_utf8)
        except RecordFault as unreadable:
            fault = unreadable
        rows.add(number, doc_id, text, fault, keep_value, carried=carried)
    yield rows.piece()


def _id_of(value: object, *, is_utf8: bool) -> int | str | bytes | None:
    """Return an id or a carried value; of a line that is not UTF-8 its bytes, as Arrow does."""
    doc_id = id_of(value)
    return doc_id if is_utf8 or not isinstance(doc_id, str) else _with_bytes(doc_id)


def _with_bytes(characters: str) -> bytes:
    escaped = re.sub("[\ud800-\udc7f\udd00-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", characters)
    return escaped.encode("utf-8", "surrogateescape")


def _record(line: bytes) -> tuple[dict[str, object], bool]:
    """Parse one line, and return whether it is UTF-8; Python's ``json`` takes other bytes, as surrogates, and more."""
    try:
        record = msgspec.json.decode(line)
        if isinstance(record, dict):
            return record, True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        characters, is_utf8 = line.decode(), True
    except UnicodeDecodeError:
        characters, is_utf8 = line.decode("utf-8", "surrogateescape"), False
    try:
        record = json.loads(characters)
    except json.JSONDecodeError as error:
        if characters.startswith("\ufeff"):
            why = "a byte order mark, as where two files were joined"
        else:
            why = f"{error.msg.removesuffix(' at')} at column {error.colno}"  # some of the messages already end in "at"
        raise RecordFault("damaged", f"not valid JSON: {why}") from error
    except (RecursionError, ValueError) as error:
        raise RecordFault("damaged", "not valid JSON: nested too deeply, or a number with too many digits") from error
    if not isinstance(record, dict):
        raise RecordFault("damaged", f"not a JSON object but {in_words(record)}")
    return record, is_utf8
