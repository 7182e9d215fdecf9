"""Rows of one source on their way into batches; shared by all formats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.buffers import as_type, binaries, integers, strings, text_buffers
from nearkin.records import DOCUMENTS_SCHEMA, I64, ORIGIN_TYPE
from nearkin.stages.documents.arrow_values import as_binary
from nearkin.stages.documents.members import printable_id
from nearkin.stages.documents.origin import Origin

_INT64_SCHEMA = DOCUMENTS_SCHEMA.set(0, pa.field("doc_id", pa.int64()))
_ESCAPED = b"nearkin escaped ids"
"""Key of a batch's metadata; see `escaped_ids`."""

_LEFT_OUT = {
    "doc_id": pa.null(), "problem": pa.large_string(), "keep_value": pa.float64(), "parent": pa.large_string(),
    "origin": ORIGIN_TYPE,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPiece:
    """Some rows: ``doc_id`` int64 or large_string, ``text`` large_binary, the rest as in the documents schema.

    Ids of which some are not UTF-8 are large_binary: `one_batch` escapes them. Omitted columns have no value in any
    row. Carried columns are as ids.
    """

    text: pa.Array
    line: I64
    doc_id: pa.Array = None
    problem: pa.Array = None
    keep_value: pa.Array = None
    parent: pa.Array = None
    origin: pa.Array = None
    carried: Sequence[pa.Array] = ()

    def __post_init__(self) -> None:
        for name, kind in _LEFT_OUT.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, pa.nulls(len(self), kind))

    def __len__(self) -> int:
        return len(self.line)


@dataclass(slots=True)
class RowList:
    """Rows collected one by one, for blocks that must be read the slow way."""

    doc_ids: list[int | str | bytes | None] = field(default_factory=list)
    texts: list[bytes | None] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[str | None] = field(default_factory=list)
    keep_values: list[float | None] = field(default_factory=list)
    parents: list[str | None] = field(default_factory=list)
    origins: list[Origin | None] = field(default_factory=list)
    carried: list[Sequence[int | str | bytes | None]] = field(default_factory=list)

    def add(
        self,
        line: int,
        doc_id: int | str | bytes | None = None,
        text: bytes | None = None,
        problem: str | None = None,
        keep_value: float | None = None,
        parent: str | None = None,
        origin: Origin | None = None,
        carried: Sequence[int | str | bytes | None] = (),
    ) -> None:
        """Add a row."""
        self.doc_ids.append(doc_id)
        self.texts.append(text)
        self.lines.append(line)
        self.problems.append(problem)
        self.keep_values.append(keep_value)
        self.parents.append(parent)
        self.origins.append(origin)
        self.carried.append(carried)

    def extend(self, piece: RowPiece) -> None:
        """Add the rows of a piece."""
        self.doc_ids += piece.doc_id.to_pylist()
        self.texts += piece.text.to_pylist()
        self.lines += piece.line.tolist()
        self.problems += piece.problem.to_pylist()
        self.keep_values += piece.keep_value.to_pylist()
        self.parents += piece.parent.to_pylist()
        self.origins += [None if one is None else Origin.of_row(one) for one in piece.origin.to_pylist()]
        values = [column.to_pylist() for column in piece.carried]
        self.carried += zip(*values, strict=True) if values else [()] * len(piece)

    def piece(self) -> RowPiece:
        """Return the rows as arrays."""
        n_carried = max(map(len, self.carried), default=0)
        return RowPiece(
            doc_id=ids_from_python(self.doc_ids),
            text=_array(self.texts, pa.large_binary()),
            line=np.asarray(self.lines, np.int64),
            problem=_array(self.problems, pa.large_string()),
            keep_value=_array(self.keep_values, pa.float64()),
            parent=_array(self.parents, pa.large_string()),
            origin=_array([None if one is None else one.as_row() for one in self.origins], ORIGIN_TYPE),
            carried=[ids_from_python([row[i] if row else None for row in self.carried]) for i in range(n_carried)],
        )


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Make an array of Python values without Arrow's test for pandas data, which would import pandas."""
    if all(value is None for value in values):
        return pa.nulls(len(values), kind)
    if kind == pa.large_binary() and None not in values:
        return binaries(values)
    return pa.array(values, kind)


def problem_piece(line: int, problem: str) -> RowPiece:
    """Return one row without text."""
    rows = RowList()
    rows.add(line, problem=problem)
    return rows.piece()


def ids_from_python(doc_ids: Sequence[int | str | bytes | None]) -> pa.Array:
    """Return int64 if all ids fit, null if there are none, else large_string; an empty string is no id.

    If some ids are bytes, which may not be UTF-8, all are large_binary.
    """
    if "" in doc_ids or b"" in doc_ids:
        doc_ids = [None if doc_id in ("", b"") else doc_id for doc_id in doc_ids]
    if all(doc_id is None for doc_id in doc_ids):
        return pa.nulls(len(doc_ids))
    if all(doc_id is None or (isinstance(doc_id, int) and -(2**63) <= doc_id < 2**63) for doc_id in doc_ids):
        return pa.array(doc_ids, pa.int64())
    if any(isinstance(doc_id, bytes) for doc_id in doc_ids):
        return pa.array(
            [one if one is None or isinstance(one, bytes) else printable_id(str(one)).encode() for one in doc_ids],
            pa.large_binary(),
        )
    if None not in doc_ids:
        return strings([printable_id(str(doc_id)) for doc_id in doc_ids])
    return pa.array([None if doc_id is None else printable_id(str(doc_id)) for doc_id in doc_ids], pa.large_string())


@dataclass(slots=True)
class IdType:
    """Type of a source's ids: undecided, integers, strings.

    The first batch with an id decides: int64 if every id there is an integer, otherwise strings. Rows without an id,
    including unreadable ones, do not count. A source of integers in which a string occurs later is widened: from then
    on its batches are large_string. No id is lost, because an integer is written in only one way; and no source
    returns to integers.
    """

    is_string: bool | None = None

    def settle(self, doc_ids: pa.Array) -> pa.Array:
        """Return the ids of a batch in the source's type, deciding or widening it if necessary."""
        if doc_ids.null_count < len(doc_ids) and not self.is_string:
            self.is_string = not pa.types.is_int64(doc_ids.type)
        return as_type(doc_ids, pa.int64() if self.is_string is False else pa.large_string())


def one_batch(pieces: Sequence[RowPiece], ids: IdType) -> pa.RecordBatch:
    """Combine the pieces into one batch, with the ids in one type; an empty string is no id."""
    escaped, n_rows, of_pieces = dict[int, str](), 0, []
    for piece in pieces:
        of_pieces.append(_escaped(piece.doc_id, escaped, n_rows))
        n_rows += len(piece)
    doc_ids = ids.settle(without_empty(_joined_ids(of_pieces)))
    columns = [
        doc_ids,
        _joined([piece.text for piece in pieces]),
        integers(np.concatenate([piece.line for piece in pieces])),
        _joined([piece.problem for piece in pieces]),
        _joined([piece.keep_value for piece in pieces]),
        _joined([piece.parent for piece in pieces]),
        _joined([piece.origin for piece in pieces]),
    ]
    schema = _INT64_SCHEMA if pa.types.is_int64(doc_ids.type) else DOCUMENTS_SCHEMA
    for i in range(max(len(piece.carried) for piece in pieces)):
        values = [_escaped(piece.carried[i], {}, 0) if piece.carried else pa.nulls(len(piece)) for piece in pieces]
        columns.append(without_empty(_joined_ids(values)))
        schema = schema.append(pa.field(carried_field(i), columns[-1].type))
    return _with_escaped(pa.RecordBatch.from_arrays(columns, schema=schema), escaped)


def carried_field(number: int) -> str:
    """Return the name of a carried column in batches, by its place among those that were asked for."""
    return f"carried {number}"


def escaped_ids(batch: pa.RecordBatch) -> Mapping[int, str]:
    """Return the places of ids of a batch that were bytes other than UTF-8, with a digest of these bytes.

    A batch that was made from another one may have lost them; `taken` keeps them.
    """
    found: dict[str, str] = json.loads((batch.schema.metadata or {}).get(_ESCAPED, b"{}"))
    return {int(place): digest for place, digest in found.items()}


def taken(batch: pa.RecordBatch, places: I64) -> pa.RecordBatch:
    """Return some rows of a batch, with their `escaped_ids`."""
    escaped = escaped_ids(batch)
    kept = {i: escaped[place] for i, place in enumerate(places.tolist()) if place in escaped} if escaped else {}
    return _with_escaped(batch.take(pa.array(places)), kept)


def escaped_as(batch: pa.RecordBatch, other: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with the `escaped_ids` of another one that has the same rows, where both have the same id."""
    escaped = escaped_ids(other)
    ids, others = batch["doc_id"], other["doc_id"]
    return _with_escaped(
        batch, {place: one for place, one in escaped.items() if ids[place].as_py() == others[place].as_py()}
    )


def _with_escaped(batch: pa.RecordBatch, escaped: Mapping[int, str]) -> pa.RecordBatch:
    return batch.replace_schema_metadata({_ESCAPED: json.dumps(escaped)} if escaped else None)


def without_empty(doc_ids: pa.Array) -> pa.Array:
    """Return ids with null in the place of empty strings: those name no document, and all name the same.

    Examples
    --------
    >>> without_empty(strings(["a", "", "b"])).to_pylist()
    ['a', None, 'b']
    """
    if not pa.types.is_large_string(doc_ids.type) or np.diff(text_buffers(doc_ids)[1]).all():
        return doc_ids  # and nothing of pyarrow.compute is loaded
    return pc.if_else(pc.equal(doc_ids, ""), None, doc_ids)


def _joined(arrays: list[pa.Array]) -> pa.Array:
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)


def _joined_ids(arrays: list[pa.Array]) -> pa.Array:
    """Concatenate ids of several pieces in one type; null fits any, one string makes all strings."""
    known = {array.type for array in arrays if array.null_count < len(array)}
    if not known:
        return pa.nulls(sum(map(len, arrays)))
    joint = pa.int64() if known == {pa.int64()} else pa.large_string()
    return _joined([as_type(array, joint) for array in arrays])


def integers_or_strings(doc_ids: pa.Array) -> pa.Array:
    """Return ids read as characters: int64 if each is an integer in canonical form, otherwise unchanged.

    "007", "+7" and "-0" are not canonical: conversion to integers would change them.
    """
    if doc_ids.null_count == len(doc_ids):
        return pa.nulls(len(doc_ids))
    if pa.types.is_large_binary(doc_ids.type):
        return doc_ids
    first = next(value for value in doc_ids if value.is_valid)
    if not first.as_py().lstrip("-").isdigit():
        return doc_ids
    try:
        integers = doc_ids.cast(pa.int64())
    except pa.ArrowInvalid:
        return doc_ids
    return integers if integers.cast(doc_ids.type).equals(doc_ids) else doc_ids


def ids_from_characters(values: pa.Array) -> pa.Array:
    """Return ids as large_string, or as large_binary if some are not UTF-8: `one_batch` escapes those."""
    raw = as_binary(values)  # strings would not be checked
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return raw


def as_large_strings(values: pa.Array) -> pa.Array:
    r"""Return strings as large_string; bytes that are not UTF-8 are escaped (``caf\xe9``), to keep ids distinct."""
    return _escaped(ids_from_characters(values), {}, 0)


def _escaped(doc_ids: pa.Array, found: dict[int, str], first: int) -> pa.Array:
    """Return ids as strings or integers; those with bytes that are not UTF-8 are escaped.

    The digests of these are added to ``found``, by their places, of which that of the first id is given.
    """
    if not pa.types.is_large_binary(doc_ids.type):
        return doc_ids
    raw = doc_ids.to_pylist()
    decoded = [None if one is None else one.decode("utf-8", "backslashreplace") for one in raw]
    for place, (one, text) in enumerate(zip(raw, decoded, strict=True), first):
        if text is not None and text.encode() != one:
            found[place] = hashlib.blake2b(one, digest_size=16).hexdigest()
    return pa.array(decoded, pa.large_string())


def null_positions(values: pa.Array) -> I64:
    """Return the indices of nulls in an array."""
    positions: I64 = np.flatnonzero(pc.is_null(values).to_numpy(zero_copy_only=False))
    return positions
