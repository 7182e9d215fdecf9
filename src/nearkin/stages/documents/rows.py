"""Rows of one source on their way into batches: values, ids and legible texts in Arrow."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.buffers import as_type, binaries, integers, strings
from nearkin.records import DOCUMENTS_SCHEMA, I64, ORIGIN_TYPE
from nearkin.stages.documents.arrays import as_binary, is_binary, without_empty
from nearkin.stages.documents.encodings import why_not_utf8
from nearkin.stages.documents.members import Origin, printable_id
from nearkin.stages.documents.rules import RecordFault, StreamFault
from nearkin.stages.documents.values import KeepColumn

if TYPE_CHECKING:
    from nearkin.stages.documents.streams import ByteStream

_INT64_SCHEMA = DOCUMENTS_SCHEMA.set(0, pa.field("doc_id", pa.int64()))
_LEFT_OUT = {
    "problem": pa.large_string(), "keep_value": pa.float64(), "parent": pa.large_string(), "origin": ORIGIN_TYPE,
}  # fmt: skip


class Row(NamedTuple):
    """A document, or the problem in its place."""

    line: int
    doc_id: int | str | bytes | None = None
    text: bytes | None = None
    problem: RecordFault | str | None = None
    keep_value: object = None
    parent: str | None = None
    origin: Origin | None = None
    carried: Sequence[int | str | bytes | None] = ()


@dataclass(slots=True, kw_only=True)
class RowList:
    """Rows collected one by one, full at ``batch_bytes`` of text or ``batch_rows``."""

    keep: KeepColumn | None = None
    are_characters: bool = False
    batch_bytes: int = 8 << 20
    batch_rows: int = 4096
    ids: IdType = field(default_factory=lambda: IdType())
    n_bytes: int = 0
    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Add a row."""
        self.rows.append(row)
        self.n_bytes += len(row.text or b"")

    @property
    def is_full(self) -> bool:
        """Whether the rows are enough for a batch."""
        return self.n_bytes >= self.batch_bytes or len(self.rows) >= self.batch_rows

    def batches(self, rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
        """Yield full batches of rows, and the rest; a StreamFault among the rows is raised after all before it."""
        try:
            for row in rows:
                self.add(row)
                if self.is_full:
                    yield self.batch()
        except StreamFault:
            if self.rows:
                yield self.batch()
            raise
        if self.rows:
            yield self.batch()

    def batch(self) -> pa.RecordBatch:
        """Return the rows, and forget them; ids of characters become integers if all of them are."""
        lines, given_ids, texts, problems, keep_values, parents, origins, rest = zip(*self.rows, strict=True)
        n_carried = max(map(len, rest))
        carried = [[row[i] if row else None for row in rest] for i in range(n_carried)]
        as_ids = _ids_of_characters if self.are_characters else ids_from_python
        doc_ids, *carried_ids = map(as_ids, (given_ids, *carried))
        self.rows, self.n_bytes = [], 0
        return documents_batch(
            self.ids,
            doc_id=doc_ids,
            text=_array(texts, pa.large_binary()),
            line=np.array(lines, np.int64),
            problem=_array([None if problem is None else str(problem) for problem in problems], pa.large_string()),
            keep_value=None if self.keep is None else self.keep.of_values(keep_values, is_text=self.are_characters),
            parent=_array(parents, pa.large_string()),
            origin=_array([None if origin is None else origin.as_row() for origin in origins], ORIGIN_TYPE),
            carried=carried_ids,
        )


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Without Arrow's test for pandas data, which would import pandas."""
    if all(value is None for value in values):
        return pa.nulls(len(values), kind)
    if kind == pa.large_binary() and None not in values:
        return binaries(values)
    return pa.array(values, kind)


def problem_batch(ids: IdType, line: int, problem: RecordFault | str, doc_id: str | None = None) -> pa.RecordBatch:
    """Return one row without text."""
    rows = RowList(ids=ids)
    rows.add(Row(line, doc_id, problem=problem))
    return rows.batch()


class IdKind(IntEnum):
    """Kind of the ids of some documents.

    The *id* of a document is what the user gave, or nothing. Its *name* always exists and is unique: the id, or the
    place of the document if it has none.
    """

    NONE = 0
    """No document has an id."""
    INTEGERS = 1
    """Every existing id is a 64-bit integer."""
    STRINGS = 2

    @classmethod
    def of(cls, ids: pa.Array) -> IdKind:
        """Return the kind of a batch's ids, ignoring documents without an id."""
        if ids.null_count == len(ids):
            return cls.NONE
        return cls.INTEGERS if pa.types.is_int64(ids.type) else cls.STRINGS

    @classmethod
    def joint(cls, kinds: Iterable[int]) -> IdKind:
        """Return the kind for several parts of a corpus, from the kind of each part.

        Examples
        --------
        >>> IdKind.joint([IdKind.NONE, IdKind.INTEGERS]).name
        'INTEGERS'
        """
        return cls(max(map(int, kinds), default=cls.NONE))


def given_ids(names: pa.LargeStringArray, has_id: pa.BooleanArray, kind: IdKind) -> pa.LargeStringArray | pa.Int64Array:
    """Return the ids of all documents from their names, null if a document has none."""
    if kind == IdKind.NONE:
        return names
    if has_id.true_count < len(has_id):
        names = pc.if_else(has_id, names, pa.scalar(None, names.type))
    return names.cast(pa.int64()) if kind == IdKind.INTEGERS else names


@dataclass(slots=True)
class IdType:
    """Type of a source's ids: undecided, integers, strings.

    The first batch with an id decides.
    """

    is_string: bool | None = None

    def settle(self, doc_ids: pa.Array) -> pa.Array:
        """Return the ids of a batch in the source's type, deciding or widening it if necessary."""
        if doc_ids.null_count < len(doc_ids) and not self.is_string:
            self.is_string = not pa.types.is_int64(doc_ids.type)
        return as_type(doc_ids, pa.int64() if self.is_string is False else pa.large_string())


def documents_batch(
    ids: IdType,
    *,
    text: pa.Array,
    line: I64,
    doc_id: pa.Array | None = None,
    carried: Sequence[pa.Array] = (),
    **others: pa.Array | None,
) -> pa.RecordBatch:
    """Return rows of the documents schema, with the ids in the type of their source; an empty string is no id.

    ``doc_id`` and ``carried`` are int64 or large_string, ``text`` is large_binary; columns that are left out are null.
    """
    doc_ids = ids.settle(pa.nulls(len(line)) if doc_id is None else _as_ids(doc_id))
    rest = (pa.nulls(len(line), kind) if others.get(name) is None else others[name] for name, kind in _LEFT_OUT.items())
    columns = [doc_ids, text, integers(line), *rest, *map(_as_ids, carried)]
    schema = _INT64_SCHEMA if pa.types.is_int64(doc_ids.type) else DOCUMENTS_SCHEMA
    for i in range(len(carried)):
        schema = schema.append(pa.field(carried_field(i), columns[len(schema)].type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _as_ids(values: pa.Array) -> pa.Array:
    if values.null_count == len(values):
        return pa.nulls(len(values))
    return without_empty(values if pa.types.is_int64(values.type) else as_type(values, pa.large_string()))


def carried_field(number: int) -> str:
    """Return the name of a carried column in batches, by its place among those that were asked for."""
    return f"carried {number}"


def ids_from_python(doc_ids: Sequence[int | str | bytes | None]) -> pa.Array:
    """Return int64 if all ids fit, null if there are none, else large_string; an empty string is no id."""
    if "" in doc_ids or b"" in doc_ids:
        doc_ids = [None if doc_id in ("", b"") else doc_id for doc_id in doc_ids]
    if all(doc_id is None for doc_id in doc_ids):
        return pa.nulls(len(doc_ids))
    if all(doc_id is None or (isinstance(doc_id, int) and -(2**63) <= doc_id < 2**63) for doc_id in doc_ids):
        return pa.array(doc_ids, pa.int64())
    named = [None if doc_id is None else _string_id(doc_id) for doc_id in doc_ids]
    return pa.array(named, pa.large_string()) if None in named else strings(named)  # type: ignore[arg-type]


def _string_id(doc_id: int | str | bytes) -> str:
    return doc_id.decode("utf-8", "backslashreplace") if isinstance(doc_id, bytes) else printable_id(str(doc_id))


def ids_of_table(values: pa.Array) -> pa.Array:
    """Return ids of a column of a table, of characters or bytes; 16 bytes that are no text are a UUID."""
    if not is_binary(values.type):
        return ids_from_characters(values)
    return pa.array(
        [None if value is None else _uuid(value) or _string_id(value) for value in values.to_pylist()],
        pa.large_string(),
    )


def _uuid(doc_id: bytes) -> str | None:
    is_text = len(doc_id) != 16 or doc_id.decode("utf-8", "surrogateescape").isprintable()
    return None if is_text else str(uuid.UUID(bytes=doc_id))


def ids_from_characters(values: pa.Array) -> pa.Array:
    r"""Return ids as large_string; other bytes are escaped (``caf\xe9``), to keep ids distinct."""
    raw = as_binary(values)  # strings would not be checked
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([None if value is None else _string_id(value) for value in raw.to_pylist()], pa.large_string())


def _ids_of_characters(doc_ids: Sequence[int | str | bytes | None]) -> pa.Array:
    return ids_of_text(pa.array(doc_ids, pa.large_binary()))


def ids_of_text(values: pa.Array) -> pa.Array:
    """Return ids of a file without types: int64 if each is an integer in canonical form, else large_string."""
    doc_ids = without_empty(ids_from_characters(values))
    if doc_ids.null_count == len(doc_ids):
        return pa.nulls(len(doc_ids))
    first = next(value for value in doc_ids if value.is_valid)
    if not first.as_py().lstrip("-").isdigit():
        return doc_ids
    try:
        integers = doc_ids.cast(pa.int64())
    except pa.ArrowInvalid:
        return doc_ids
    return integers if integers.cast(doc_ids.type).equals(doc_ids) else doc_ids


def legible(batches: Iterable[pa.RecordBatch], stream: ByteStream, encoding: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a stream with problems for texts that are not valid in its encoding."""
    for batch in batches:
        yield without_illegible(batch, encoding, stream.byte_order_mark())


def without_illegible(batch: pa.RecordBatch, encoding: str, mark: bytes = b"") -> pa.RecordBatch:
    """Replace each text that is not valid UTF-8 by a problem with advice."""
    try:
        batch["text"].view(pa.large_string()).validate(full=True)  # does not copy; a cast imports pyarrow.compute
    except pa.ArrowInvalid:
        texts, problems = batch["text"].to_pylist(), batch["problem"].to_pylist()
        for row, text in enumerate(texts):
            fault = None if text is None else why_not_utf8(text, encoding, mark)
            if fault is not None:
                texts[row], problems[row] = None, str(fault)
        return _with_texts(batch, texts, problems)
    return batch


def _with_texts(batch: pa.RecordBatch, texts: list[bytes | None], problems: list[str | None]) -> pa.RecordBatch:
    for name, values in (("text", texts), ("problem", problems)):
        index = batch.schema.get_field_index(name)
        field_ = batch.schema.field(index)
        batch = batch.set_column(index, field_, pa.array(values, field_.type))
    return batch
