"""Values of a column of the input, for the counts of the report; read at the end, in a second pass."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from nearkin.errors import MissingColumnError, ParameterError, SourceError
from nearkin.runs.progress import Meter
from nearkin.stages.documents.checking import check_columns, without_columns
from nearkin.stages.documents.formats import has_columns
from nearkin.stages.documents.sources import Source
from nearkin.wording import WarningMessage
from nearkin.workflows.reading.inputs import FileInput, Input, StoredSource
from nearkin.workflows.reading.memory_documents import IN_MEMORY

BY_IN_MEMORY = (
    "does not work for documents in memory. Count with your own column: the rows of 'documents' of the result are "
    "in the order of your documents, and 'keep' says which are kept."
)
_LISTS: dict[str, Callable[[str], object]] = {
    "jsonl": json.loads, "parquet": ast.literal_eval, "arrow": ast.literal_eval,
}  # fmt: skip
"""Functions that read a list as the reader wrote it, which takes values for ids, by formats that have lists."""


def check_by(column: str, sources: Sequence[Source], *, encoding: str, stdin: BinaryIO | None) -> None:
    """Refuse, before anything is read, sources without columns, and a column that none of them has.

    Raises
    ------
    ParameterError
        A source has no columns.
    SourceError
        No source has the column.
    """
    n_missing = 0
    for source in sources:
        if isinstance(source, StoredSource) or not has_columns(source.format):
            if source.format == IN_MEMORY:
                raise ParameterError(BY_IN_MEMORY, parameter="by")
            which = without_columns(source.name, source.format)
            raise ParameterError(f"needs columns in every input; {which}", parameter="by")
        try:
            check_columns([replace(source, id=column)], encoding=encoding, stdin=stdin, id_parameter="by")
        except MissingColumnError:
            n_missing += 1
            if n_missing == len(sources):
                raise


def values_of(column: str, inputs: Sequence[Input], meter: Meter) -> pa.DictionaryArray:
    """Return the value of each document as text, in reading order; null if the document or its file has none.

    Raises
    ------
    SourceError
        An input cannot be read again.
    """
    parts = []
    with meter.stage("count by column", sum(one.size_bytes for one in inputs), "bytes") as progress:
        for one in inputs:
            if not isinstance(one, FileInput):
                raise SourceError(f"{', '.join(one.names)}: there is no column '{column}'.", parameter="by")
            # the reader takes ids of any type, which texts and numbers to keep by need not have
            again = replace(one, source=replace(one.source, id=column), keep_column=None)
            try:
                own = [_values(batch["doc_id"], one.source.format) for batch, _ in again.batches(progress)]
            except MissingColumnError:  # it is raised before the first batch
                without = replace(one, keep_column=None)
                own = [_values(pa.nulls(len(batch)), one.source.format) for batch, _ in without.batches(progress)]
            if all(part.null_count == len(part) for part in own):
                told = f"{', '.join(one.names)}: no value in the column '{column}' (--by)"
                progress.say(WarningMessage(told))
            parts += own
    if not parts:
        return pa.array([], pa.large_string()).dictionary_encode()
    return pa.chunked_array(parts).unify_dictionaries().combine_chunks()


def _values(ids: pa.Array, file_format: str) -> pa.DictionaryArray:
    """Encode the values; the items of a list are joined."""
    encoded = ids.cast(pa.large_string()).dictionary_encode()
    read = _LISTS.get(file_format)
    if read is None:
        return encoded
    values = [_joined(value, read) for value in encoded.dictionary.to_pylist()]
    return pa.array(values, pa.large_string()).take(encoded.indices).dictionary_encode()


def _joined(value: str, read: Callable[[str], object]) -> str:
    """Join the items if a value is a list written as text; return any other value unchanged.

    Examples
    --------
    >>> _joined('["law","tax"]', json.loads), _joined("['law', 7]", ast.literal_eval), _joined("[sic]", json.loads)
    ('law, tax', 'law, 7', '[sic]')
    """
    if not (value.startswith("[") and value.endswith("]")):
        return value
    try:
        found = read(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value
    if not isinstance(found, list) or not found or not all(isinstance(one, str | int | float) for one in found):
        return value
    return ", ".join(map(str, found))
