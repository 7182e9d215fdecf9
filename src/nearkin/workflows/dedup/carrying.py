"""Columns of the input that are copied into ``documents.parquet``; read at the end, in a second pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from nearkin.errors import MissingColumnError, ParameterError
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.formats import has_columns
from nearkin.stages.documents.reader import without_columns
from nearkin.stages.documents.rows import carried_field
from nearkin.stages.documents.sources import Source, check_columns
from nearkin.workflows.dedup.origins import FIELDS
from nearkin.workflows.reading.identity import changed_while_read
from nearkin.workflows.reading.inputs import FileInput, Input, StoredSource
from nearkin.workflows.reading.memory_documents import IN_MEMORY

IN_MEMORY_INSTEAD = (
    "does not work for documents in memory: the rows of 'documents' of the result are in the order of your documents."
)
_OWN_COLUMNS = (
    "id", "name", "row", "group", "group_row", "is_principal", "similarity_to_principal", "copy_of", "copy_of_row",
    "keep", "reason", "n_characters", "n_units", "n_shingles", "keep_value", "source", "line", "problem", "parent",
    "parent_row", *(field.name for field in FIELDS),
)  # fmt: skip


def carried_name(column: str) -> str:
    """Return the name of a carried column in ``documents.parquet``, where some names are taken.

    Examples
    --------
    >>> carried_name("language"), carried_name("source")
    ('language', 'input_source')
    """
    return f"input_{column}" if column in _OWN_COLUMNS else column


def check_carry(columns: Sequence[str], sources: Sequence[Source], *, encoding: str, stdin: BinaryIO | None) -> None:
    """Refuse, before anything is read, documents in memory, and a column that no source has.

    Raises
    ------
    ParameterError, SourceError
    """
    files = [one for one in sources if not isinstance(one, StoredSource) and has_columns(one.format)]
    if any(one.format == IN_MEMORY for one in sources):
        raise ParameterError(IN_MEMORY_INSTEAD, parameter="carry")
    if not files:
        which = without_columns(sources[0].name, sources[0].format)
        raise ParameterError(f"needs an input with columns; {which}", parameter="carry")
    if len({*map(carried_name, columns)}) < len(columns):
        raise ParameterError.of("carry", "columns with different names", ", ".join(columns))
    for column in columns:
        n_missing = 0
        for source in files:
            try:
                check_columns([source], {"carry": column}, encoding=encoding, stdin=stdin)
            except MissingColumnError:
                n_missing += 1
                if n_missing == len(files):
                    raise


def carried_columns(
    columns: Sequence[str], inputs: Sequence[Input], n_documents: int, meter: Meter
) -> Mapping[str, pa.Array]:
    """Return the values of each document, in reading order, by the names in ``documents.parquet``.

    A column is int64 if all of its values are integers, otherwise text; null if the document or its file has none.
    """
    with meter.stage("carry", sum(one.size_bytes for one in inputs), "bytes") as progress:
        parts = [values for one in inputs for values in _values(columns, one, progress)]
    if sum(len(values[0]) for values in parts) != n_documents:
        raise changed_while_read("The input")
    return {carried_name(name): _joined([values[i] for values in parts]) for i, name in enumerate(columns)}


def _values(columns: Sequence[str], one: Input, progress: Progress) -> Iterator[list[pa.Array]]:
    """Yield the values of all columns, some documents at a time; nulls where the input has no columns."""
    if isinstance(one, FileInput) and has_columns(one.source.format):
        one = replace(one, keep_column=None, carry=columns)
    for batch, _ in one.batches(progress):
        names = [carried_field(i) for i in range(len(columns))]
        yield [batch[name] if name in batch.schema.names else pa.nulls(batch.num_rows) for name in names]


def _joined(parts: Sequence[pa.Array]) -> pa.Array:
    types = {part.type for part in parts if part.null_count < len(part)}
    kind = pa.int64() if types == {pa.int64()} else pa.large_string()
    return pa.chunked_array([part.cast(kind) for part in parts], kind).combine_chunks()
