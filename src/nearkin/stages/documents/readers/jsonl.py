"""JSON Lines: one object per line."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
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
from nearkin.stages.documents.reader import SAMPLE_RECORDS, Head
from nearkin.stages.documents.readers.lines import LineReader, LineSplitter, Records, read_records
from nearkin.stages.documents.rows import IdType, Row, RowList, documents_batch, ids_from_characters, problem_batch
from nearkin.stages.documents.rules import RecordFault
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.values import (
    ColumnPath,
    KeepColumn,
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
        """Return the problem of a JSON array."""
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
        wanted = _Wanted(source.text or "text", source.id, opened.keep, opened.carry)
        for block in read_records(stream, LineSplitter(), opened.batch_bytes, source.max_document_bytes):
            if block.fault is not None:
                yield problem_batch(wanted.ids, int(block.lines[0]), block.fault)
                continue
            lines = _without_white_space(block)
            if len(lines):
                table = None if wanted.is_inside else _arrow_table(lines, wanted)
                yield _read_slow(lines, wanted) if table is None else _read_fast(lines, table, wanted)


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
    ids: IdType = field(default_factory=IdType)

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

    def types(self, lines: Records) -> dict[str, pa.DataType]:
        """Return the types of the columns, of others than texts by their first value in a few lines."""
        names = [name for name in (self.doc_id, self.keep, *self.carry) if name is not None]
        types = dict[str, pa.DataType]()
        for index in range(min(len(lines), _FEW_LINES) if names else 0):
            with contextlib.suppress(RecordFault):
                record, _ = _record(_line(lines, index))
                for name in names:
                    if (value := record.get(name)) is not None:
                        types.setdefault(name, _type_of(value, is_number=name == self.keep != self.doc_id))
            if len(types) == len({*names}):
                break
        # binary instead of string: Arrow does not check UTF-8 in either
        return dict.fromkeys((*names, self.text, *(path.column for path in self.paths)), pa.binary()) | types


def _type_of(value: object, *, is_number: bool) -> pa.DataType:
    if isinstance(value, bool):
        return pa.bool_() if is_number else pa.binary()
    if is_number:
        return pa.float64() if isinstance(value, int | float) else pa.binary()
    return pa.int64() if isinstance(value, int) else pa.binary()


def _without_white_space(block: Records) -> Records:
    lines = replace(block, ends=block.without_line_ends())
    if not _look_whole(lines):
        starts, ends = _stripped(lines)
        lines = replace(lines, starts=starts, ends=ends).at(ends > starts)
    return lines


def _line(lines: Records, index: int) -> bytes:
    return bytes(lines.data[lines.starts[index] : lines.ends[index]])


def _look_whole(lines: Records) -> bool:
    """Whether each line runs from ``{`` to ``}``.

    Arrow ignores line ends: it finds as many objects as lines only if each line has one.
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


def _read_fast(lines: Records, table: pa.Table, wanted: _Wanted) -> pa.RecordBatch:
    def column(name: str) -> pa.Array:
        chunks = table.column(name).chunks
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)

    def ids(name: str) -> pa.Array:
        return column(name) if pa.types.is_int64(column(name).type) else ids_from_characters(column(name))

    texts = column(wanted.text).cast(pa.large_binary())
    if len(wanted.paths) > 1:  # unless one column has that name
        texts = pc.coalesce(texts, joined_columns([column(path.column) for path in wanted.paths]))
    return documents_batch(
        wanted.ids,
        doc_id=None if wanted.doc_id is None else ids(wanted.doc_id),
        text=texts,
        line=lines.lines,
        problem=_why_null(lines, texts, wanted.text) if texts.null_count else None,
        keep_value=None if wanted.keeper is None else wanted.keeper.numbers(column(wanted.keeper.name)),
        carried=[ids(name) for name in wanted.carry],
    )


def _arrow_table(lines: Records, wanted: _Wanted) -> pa.Table | None:
    if not _look_whole(lines):
        return None
    buffer = pa.py_buffer(lines.data)[int(lines.starts[0]) : int(lines.ends[-1])]
    schema = pa.schema(list(wanted.types(lines).items()))
    read_options = pa.json.ReadOptions(use_threads=False, block_size=buffer.size + 64)
    parse_options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = pa.json.read_json(pa.BufferReader(buffer), read_options=read_options, parse_options=parse_options)
    except (pa.ArrowInvalid, UnicodeDecodeError):  # the latter if the message quotes invalid UTF-8
        return None
    return table if len(table) == len(lines) else None


def _why_null(lines: Records, texts: pa.Array, text: str) -> pa.Array:
    problems: list[str | None] = [None] * len(lines)
    for index in np.flatnonzero(pc.is_null(texts).to_numpy(zero_copy_only=False)).tolist():
        try:
            text_of(text_in(_record(_line(lines, index))[0], text, of="the object"))
        except RecordFault as fault:
            problems[index] = str(fault)
    return pa.array(problems, pa.large_string())


def _read_slow(lines: Records, wanted: _Wanted) -> pa.RecordBatch:
    rows = RowList(keep=wanted.keeper, ids=wanted.ids)
    for index in range(len(lines)):
        number, line = int(lines.lines[index]), _line(lines, index)
        try:
            record, is_utf8 = _record(line)
        except RecordFault as refused:  # Arrow knows one more name of infinity
            table = None if wanted.is_inside else _arrow_table(lines.at(slice(index, index + 1)), wanted)
            values = {} if table is None else table.to_pylist()[0]
            record, is_utf8 = {name: value for name, value in values.items() if value is not None}, True
            if not record:
                rows.add(Row(number, problem=refused))
                continue
        doc_id = None if wanted.doc_id is None else _id_of(value_in(record, wanted.doc_id), is_utf8=is_utf8)
        carried = [_id_of(value_in(record, name), is_utf8=is_utf8) for name in wanted.carry]
        keep_value = value_in(record, wanted.keep)
        text, fault = None, None
        try:
            text = text_of(text_in(record, wanted.text, of="the object"), is_utf8=is_utf8)
        except RecordFault as unreadable:
            fault = unreadable
        rows.add(Row(number, doc_id, text, fault, keep_value, carried=carried))
    return rows.batch()


def _id_of(value: object, *, is_utf8: bool) -> int | str | bytes | None:
    """Return an id or a carried value; of a line that is not UTF-8 its bytes, as Arrow does."""
    doc_id = id_of(value)
    return doc_id if is_utf8 or not isinstance(doc_id, str) else _with_bytes(doc_id)


def _with_bytes(characters: str) -> bytes:
    escaped = re.sub("[\ud800-\udc7f\udd00-\udfff]", lambda occurrence: f"\\u{ord(occurrence[0]):04x}", characters)
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
        why = f"{error.msg.removesuffix(' at')} at column {error.colno}"  # some of the messages already end in "at"
        raise RecordFault("damaged", f"not valid JSON: {why}") from error
    except (RecursionError, ValueError) as error:
        raise RecordFault("damaged", "not valid JSON: nested too deeply, or a number with too many digits") from error
    if not isinstance(record, dict):
        raise RecordFault("damaged", f"not a JSON object but {in_words(record)}")
    return record, is_utf8
