"""Origins of extracted documents: columns of ``documents.parquet``, exceptions, and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.manifests.dedup import ExtractionCounts
from nearkin.runs.spool import Chunk
from nearkin.stages.documents.extraction.kinds import is_ocr
from nearkin.stages.documents.preparing import ORIGIN
from nearkin.workflows.reading.exceptions import ExceptionRow

FIELDS = (
    pa.field("family", pa.large_string()), pa.field("position", pa.int64()), pa.field("sha256", pa.string()),
    pa.field("size_bytes", pa.int64()), pa.field("kind", pa.string()), pa.field("declared_kind", pa.string()),
    pa.field("extractor", pa.string()), pa.field("n_pages", pa.int64()), pa.field("exception", pa.string()),
    pa.field("is_partial", pa.bool_()), pa.field("warnings", pa.large_string()),
)  # fmt: skip
"""Columns of tables of documents in runs in which some were extracted."""
_TOLD = ("exception", "is_partial", "warnings", "kind", "sha256", "size_bytes")


@dataclass(frozen=True, slots=True)
class Origins:
    """Origin of each document.

    Parameters
    ----------
    columns : dict of str to Array, shape (n_documents,)
        By the names of `FIELDS`; null for documents that were not extracted.
    """

    columns: Mapping[str, pa.Array]

    @classmethod
    def of_table(cls, table: pa.Table) -> Origins | None:
        """Take the columns of a stored table of documents; None if nothing in it was extracted."""
        if "extractor" not in table.column_names:
            return None
        return cls({field.name: table[field.name].combine_chunks() for field in FIELDS})

    def with_empty(self, rows: Sequence[int]) -> Origins:
        """Return the origins with the exception "empty" for extracted documents among some rows that have none."""
        is_empty = np.zeros(len(self.columns["extractor"]), np.bool_)
        is_empty[list(rows)] = True
        is_empty &= self.columns["extractor"].is_valid().to_numpy(zero_copy_only=False)
        empty = pc.if_else(pa.array(is_empty), pa.scalar("empty", pa.string()), pa.scalar(None, pa.string()))
        return Origins({**self.columns, "exception": pc.coalesce(self.columns["exception"], empty)})

    def part(self, a: int, b: int) -> list[pa.Array]:
        """Return the columns of rows ``a`` to ``b - 1``."""
        return [self.columns[field.name].slice(a, b - a) for field in FIELDS]

    def counts(self, no_text: Mapping[int, str] | None = None) -> ExtractionCounts:
        """Count documents by the result of their extraction; ``no_text`` as for `told_rows`."""
        extracted = self.columns["extractor"]
        partial = pc.sum(self.columns["is_partial"]).as_py() or 0
        kinds = Counter[str](self.columns["exception"].drop_null().to_pylist())
        unread = sum(kinds.values()) - partial
        for row, kind in (no_text or {}).items():
            if not self.columns["exception"][row].is_valid:
                kinds[kind] += 1
                unread += extracted[row].is_valid
        return self._counts(partial, unread, kinds)

    def counts_of(self, listed: Sequence[ExceptionRow]) -> ExtractionCounts:
        """Count documents by the result of their extraction, and the exceptions as they are listed."""
        partial = sum(one.is_partial for one in listed)
        unread = sum(one.is_extracted and not one.is_partial for one in listed)
        return self._counts(partial, unread, Counter(one.exception for one in listed))

    def _counts(self, partial: int, unread: int, kinds: Mapping[str, int]) -> ExtractionCounts:
        extracted = self.columns["extractor"]
        return ExtractionCounts(
            documents=len(extracted) - extracted.null_count, in_part=partial, unread=unread,
            exceptions=dict(sorted(kinds.items())), by_ocr=self._n_by_ocr() or None,
        )  # fmt: skip

    def _n_by_ocr(self) -> int:
        """Count the texts that were recognised in images, or in part."""
        names = pc.value_counts(self.columns["extractor"].filter(self._has_text())).to_pylist()
        return sum(one["counts"] for one in names if is_ocr(one["values"] or ""))

    def _has_text(self) -> pa.Array:
        """Return whether each document has no exception, or a part of its text."""
        return pc.or_(pc.is_null(self.columns["exception"]), pc.fill_null(self.columns["is_partial"], False))


def with_exceptions(told: ExtractionCounts | None, more: Sequence[ExceptionRow]) -> ExtractionCounts | None:
    """Count exceptions that are none of the documents, too; None if there is nothing to count."""
    if not more:
        return told
    told = told or ExtractionCounts()
    extracted = [one for one in more if one.is_extracted]
    n_partial = sum(one.is_partial for one in extracted)
    return replace(
        told, documents=told.documents + len(extracted), in_part=told.in_part + n_partial,
        unread=told.unread + len(extracted) - n_partial,
        exceptions=dict(sorted((Counter(told.exceptions) + Counter(one.exception for one in more)).items())),
    )  # fmt: skip


def told_rows(
    origins: Origins | None, n_rows: int, no_text: Mapping[int, str]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of exceptions in the order of the documents, each with the exception of its origin.

    Parameters
    ----------
    origins : Origins or None
        None if nothing was extracted.
    n_rows : int
        Rows to look at.
    no_text : dict of row to str
        "unreadable" or "empty" for each document without a text, extracted or not.
    """
    with_one = np.zeros(0, np.int64)
    if origins is not None:
        is_one = origins.columns["exception"].slice(0, n_rows).is_valid()
        with_one = np.flatnonzero(is_one.to_numpy(zero_copy_only=False))
    for row in sorted({*with_one.tolist(), *no_text}):
        yield row, {} if origins is None else {name: origins.columns[name][row].as_py() for name in _TOLD}


def find_origins(chunks: Sequence[Chunk]) -> Origins | None:
    """Find the origins of the documents of a spool; None if none was extracted."""
    batches = [chunk.batch() for chunk in chunks]
    if not any(ORIGIN in batch.schema.names for batch in batches):
        return None
    found: dict[str, list[pa.Array]] = {field.name: [] for field in FIELDS}
    for batch in batches:
        for field in FIELDS:
            found[field.name].append(_column(batch, field))
    columns = {
        field.name: pa.chunked_array(found[field.name], field.type).combine_chunks() for field in FIELDS
    }  # fmt: skip
    return Origins(columns)


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    """Return one column of a chunk; the sentence of an exception that is no problem comes before the warnings."""
    if ORIGIN not in batch.schema.names:
        return pa.nulls(batch.num_rows, field.type)
    origin = batch[ORIGIN]
    if field.name != "warnings":
        return pc.struct_field(origin, field.name)
    none, text = pa.scalar(None, field.type), field.type
    partial = pc.fill_null(pc.struct_field(origin, "is_partial"), False)
    has_problem = batch["problem"].is_valid() if "problem" in batch.schema.names else pc.invert(partial)
    sentence = pc.if_else(pc.or_(partial, pc.invert(has_problem)), pc.struct_field(origin, "sentence").cast(text), none)
    warnings = pc.struct_field(origin, "warnings").cast(text)
    warnings = pc.if_else(pc.equal(warnings, pa.scalar("", text)), none, warnings)
    both = pc.binary_join_element_wise(sentence, warnings, pa.scalar("; ", text))  # null where either is
    return pc.coalesce(both, sentence, warnings)
