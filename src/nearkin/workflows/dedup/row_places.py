"""Names and places of the rows of a run: ids, files and lines, problems, containers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearkin.errors import DocumentError
from nearkin.manifests.stored import ExtractionCounts
from nearkin.records import I32, I64, U32, Bool
from nearkin.runs.spool import Chunk, gathered
from nearkin.stages.documents.members import BETWEEN, is_ocr
from nearkin.stages.documents.normalisation import ORIGIN, PARENT
from nearkin.stages.documents.rows import IdKind, given_ids
from nearkin.stages.documents.rules import (
    STOPPED,
    ReadingRules,
    is_beside,
    is_rest_missing,
    reason_of,
    sentence_of,
    truncated_input,
)
from nearkin.workflows.dedup.corpus import EMPTY, READABLE, UNREADABLE, Corpus
from nearkin.workflows.dedup.outcome import NO_ROW
from nearkin.workflows.dedup.reading import SOURCE_COLUMN
from nearkin.workflows.reading.texts import ExceptionRow, exceptions_in, named, renamed

FIELDS = (
    pa.field("family", pa.large_string()), pa.field("position", pa.int64()), pa.field("sha256", pa.string()),
    pa.field("size_bytes", pa.int64()), pa.field("kind", pa.string()), pa.field("declared_kind", pa.string()),
    pa.field("extractor", pa.string()), pa.field("n_pages", pa.int64()), pa.field("exception", pa.string()),
    pa.field("is_partial", pa.bool_()), pa.field("warnings", pa.large_string()),
    pa.field("subject", pa.large_string()), pa.field("sent_at", pa.timestamp("us", "UTC")),
    pa.field("sender", pa.large_string()), pa.field("to", pa.large_string()),
)  # fmt: skip
"""Columns of tables of documents in runs with extraction; the last ones are headers of mails."""
_OF_MAIL = ("subject", "sent_at", "sender", "to")
Origins = Mapping[str, pa.Array]
"""Columns of shape (n_documents,) by the names of `FIELDS`; null for documents not extracted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Names and places of rows.

    Parameters
    ----------
    own_ids : Array, shape (n_inputs,)
        Original ids of the documents to clean: int64 if all are integers, else large_string; null where there is none.
    ids : Array, shape (n_documents,)
        Int64 only if those of the other set are integers, too.
    parents : LargeStringArray, shape (n_documents,), or None
        Id of the container of each document, null if it is in none; None if no document is in a container.
    parent_rows : uint32 array, shape (n_documents,)
        NO_ROW also if the container is not itself a document: an archive has no text.
    exceptions
        Documents without a text, or with a part of it, in order; then those of collections that are none of these.
    carried : dict of str to Array, shape (n_inputs,)
        Carried columns of the input by their names in ``documents.parquet``.
    """

    own_ids: pa.Array
    ids: pa.Array
    names: pa.LargeStringArray
    source_names: Sequence[str]
    source: I32
    line: I64
    problems: dict[int, str]
    parents: pa.LargeStringArray | None = None
    parent_rows: U32 = field(default_factory=lambda: np.zeros(0, np.uint32))
    origins: Origins | None = None
    exceptions: Sequence[ExceptionRow] = ()
    carried: Mapping[str, pa.Array] = field(default_factory=dict)

    def id_at(self, rows: NDArray[np.integer[Any]]) -> pa.Array:
        """Return the ids of rows; null for NO_ROW and for documents without an id."""
        return self.ids.take(row_numbers(rows))

    def names_at(self, rows: NDArray[np.integer[Any]]) -> list[str]:
        """Return the names of rows."""
        names: list[str] = self.names.take(row_numbers(rows)).to_pylist()
        return names

    def where(self, row: int) -> str:
        """Return ``file:line`` of a row, or the id of a document inside a file."""
        parent, doc_id = self.parent_of(row), str(self.ids[row])
        is_inside = parent is not None and doc_id.startswith(f"{parent}{BETWEEN}")  # in a load file it has its own line
        return doc_id if is_inside else self.file_and_line(row)

    def file_and_line(self, row: int) -> str:
        """Return ``file:line`` of a row."""
        return f"{self.source_names[int(self.source[row])]}:{int(self.line[row])}"

    def shown_place(self, row: int) -> str:
        """Return `where`, or only the file if a document is named after it."""
        name = self.source_names[int(self.source[row])]
        is_whole_file = self.line[row] == 1 and name.endswith(f"/{self.ids[row]}")
        return name if is_whole_file or self.names[row].as_py() == name else self.where(row)

    def unreadable(self) -> pa.Table:
        """Return source, line and problem of the rows that have a problem."""
        rows = sorted(self.problems)
        return pa.table(
            {
                "source": pa.array([self.source_names[int(self.source[row])] for row in rows], pa.large_string()),
                "line": pa.array(self.line[rows], pa.int64()),
                "problem": pa.array([self.problems[row] for row in rows], pa.large_string()),
            }
        )

    def parent_of(self, row: int) -> str | None:
        """Return the id of the document or container that contains a document."""
        parent: str | None = None if self.parents is None else self.parents[row].as_py()
        return parent

    def family_roots(self) -> U32 | None:
        """Return the row of the outermost document that each one is inside of; None if none is inside another."""
        if self.parents is None:
            return None
        above = np.where(
            self.parent_rows == NO_ROW, np.arange(len(self.parent_rows), dtype=np.uint32), self.parent_rows
        )
        while not np.array_equal(above, above[above]):
            above = above[above]
        if self.origins is not None:  # which also knows the mail around an archive
            families = self.origins["family"].dictionary_encode().indices
            rows = np.flatnonzero(families.is_valid().to_numpy(zero_copy_only=False))
            keys = self.source[rows].astype(np.int64) << 32 | families.drop_null().to_numpy()
            _, first, number = np.unique(keys, return_index=True, return_inverse=True)
            above[rows] = rows[first][number]
        return above

    def same_unread(self) -> U32:
        """Return for each document whose content was not read the first one with the same bytes; NO_ROW for others."""
        same = np.full(len(self.source), NO_ROW)
        beside = ("technical", "empty")
        unread = [row for row, problem in sorted(self.problems.items()) if reason_of(problem) not in beside]
        if unread:
            rows, contents = np.array(unread), self.names.take(pa.array(unread, pa.int64()))
            if self.origins is not None:
                contents = pc.coalesce(self.origins["sha256"].take(pa.array(rows)).cast(pa.large_string()), contents)
            codes = contents.dictionary_encode().indices.to_numpy()
            _, first, number = np.unique(codes, return_index=True, return_inverse=True)
            same[rows] = rows[first][number]
        return same

    def more_fields(self) -> list[pa.Field]:
        """Return the additional columns of tables with containers or extraction."""
        parent = [pa.field("parent", pa.large_string()), pa.field("parent_row", pa.int64())]
        return [*([] if self.parents is None else parent), *([] if self.origins is None else FIELDS)]

    def more_columns(self, a: int, b: int) -> list[pa.Array]:
        """Return the values of `more_fields` for rows ``a`` to ``b - 1``."""
        parent = [] if self.parents is None else [self.parents[a:b], row_numbers(self.parent_rows[a:b])]
        return [*parent, *(() if self.origins is None else (self.origins[one.name][a:b] for one in FIELDS))]

    def extraction(self, n_inputs: int) -> ExtractionCounts | None:
        """Count the documents to clean by the result of their extraction; None without extraction."""
        counts = extraction_counts(self.origins, self.exceptions)
        n_of_others = sum(
            exception.row is None and exception.source >= n_inputs and not exception.is_partial
            for exception in self.exceptions
        )
        return counts if counts is None else replace(counts, not_stored_others=n_of_others or None)


def row_numbers(rows: NDArray[np.integer[Any]]) -> pa.Int64Array:
    """Return rows as a column; null for NO_ROW."""
    mask = rows == NO_ROW
    return pa.array(np.where(mask, 0, rows).astype(np.int64), mask=mask)


def locate(
    corpus: Corpus, source_names: Sequence[str], kinds: Sequence[IdKind], other_kinds: Sequence[IdKind]
) -> Places:
    """Collect ids, names, lines and problems from the spool."""
    chunks = corpus.chunks
    came = pa.chunked_array(list(gathered(chunks, "doc_id")), pa.large_string()).combine_chunks()
    has_id = pa.chunked_array(list(gathered(chunks, "has_id")), pa.bool_()).combine_chunks()
    line = np.concatenate([np.zeros(0, np.int64), *(column.to_numpy() for column in gathered(chunks, "line"))])
    source = np.concatenate([np.zeros(0, np.int32), *(column.to_numpy() for column in gathered(chunks, SOURCE_COLUMN))])
    n = corpus.n_inputs
    own_ids = ids = given_ids(came[:n], has_id[:n], IdKind.joint(kinds))
    if corpus.is_against:
        ids = _joined(own_ids, given_ids(came[n:], has_id[n:], IdKind.joint(other_kinds)))
    names = came
    if corpus.repeated_ids:
        names = renamed(came, sorted(row for row, _ in corpus.repeated_ids), source_names, source, line)
    parents, parent_rows = find_parents(chunks, came, source)
    problems = problems_in(chunks)
    places = Places(
        own_ids=own_ids,
        ids=ids,
        names=names,
        source_names=source_names,
        source=source,
        line=line,
        problems=problems,
        parents=parents,
        parent_rows=parent_rows,
        origins=_with_empty(find_origins(chunks), corpus.status == EMPTY),
        exceptions=_exceptions(chunks, corpus, pa.table({"id": ids, "name": names})),
    )
    for row, earlier in corpus.repeated_ids:
        repeated = (
            f"id repeated: {came[row].as_py()!r} was already used at {places.file_and_line(earlier)}; "
            f"this document is called {names[row]}"
        )
        unreadable = places.problems.get(row)
        places.problems[row] = f"{unreadable}; {repeated}" if unreadable else repeated
    return places


def _joined(ids: pa.Array, others: pa.Array) -> pa.Array:
    parts = [one for one in (ids, others) if len(one)]
    if any(pa.types.is_large_string(part.type) for part in parts):
        parts = [part.cast(pa.large_string()) for part in parts]
    return pa.concat_arrays(parts) if parts else ids


def problems_in(chunks: Iterable[Chunk]) -> dict[int, str]:
    """Return the problems of rows."""
    problems: dict[int, str] = {}
    for chunk in chunks:
        column = chunk.column("problem")
        if column.null_count < len(column):
            problems |= {chunk.start + i: text for i, text in enumerate(column.to_pylist()) if text is not None}
    return problems


def find_parents(
    chunks: Sequence[Chunk], names: pa.LargeStringArray, source: I32
) -> tuple[pa.LargeStringArray | None, U32]:
    """Find the containers of the documents of a spool, and their rows; see `Places`."""
    columns = [(chunk.batch(), chunk.n_documents) for chunk in chunks]
    if not any(PARENT in batch.schema.names for batch, _ in columns):
        return None, np.zeros(0, np.uint32)
    kind = pa.large_string()
    parents = [batch[PARENT] if PARENT in batch.schema.names else pa.nulls(n, kind) for batch, n in columns]
    ids = pa.chunked_array(parents, kind).combine_chunks()
    rows = np.full(len(ids), NO_ROW, np.uint32)
    has_parent = ids.is_valid().to_numpy(zero_copy_only=False)
    candidates = np.flatnonzero(np.isin(source, np.unique(source[has_parent])))
    taken = pa.array(candidates)
    before: dict[tuple[int, str], int] = {}
    for row, place, name, parent in zip(
        candidates.tolist(),
        source[candidates].tolist(),
        names.take(taken).to_pylist(),
        ids.take(taken).to_pylist(),
        strict=True,
    ):
        if parent is not None:
            rows[row] = before.get((place, parent), NO_ROW)
        before[place, name] = row
    return ids, rows


def check_problems(places: Places, rules: ReadingRules) -> None:
    """Check that the rules allow the problems: a resumed part may have had other rules."""
    for row in sorted(places.problems):
        problem = places.problems[row]
        if is_rest_missing(problem) and not rules.takes_damaged:
            n_before = int(np.count_nonzero(places.source[:row] == places.source[row]))
            raise truncated_input(places.source_names[int(places.source[row])], sentence_of(problem), n_before)
        if rules.on_error == "stop":
            raise DocumentError(f"{places.where(row)}: {problem}. {STOPPED}")


def check_readable(corpus: Corpus, places: Places, rules: ReadingRules) -> None:
    """Check that not too many documents are unreadable, among those to clean and in the other set."""
    for start, end, of in ((0, corpus.n_inputs, ""), (corpus.n_inputs, len(corpus), "--against")):
        unreadable = np.flatnonzero(corpus.status[start:end] == UNREADABLE)
        if len(unreadable):
            row = start + int(unreadable[0])
            first = f"{places.where(row)}: {places.problems[row]}"
            problems, with_ocr = (places.problems[start + at] for at in unreadable.tolist()), rules.ocr is not None
            n_beside = sum(is_beside(problem, with_ocr=with_ocr) for problem in problems)
            rules.check_readable(len(unreadable), end - start, first, n_beside=n_beside, of=of)


def _exceptions(chunks: Sequence[Chunk], corpus: Corpus, documents: pa.Table) -> list[ExceptionRow]:
    rows = (row for chunk in chunks for row in exceptions_in(chunk.batch(), chunk.column(SOURCE_COLUMN), chunk.start))
    # a text of blanks, if blanks count, is a text
    return named([row for row in rows if row.exception != "empty" or corpus.status[row.row] != READABLE], documents)


def find_origins(chunks: Sequence[Chunk]) -> Origins | None:
    """Find the origins of the documents of a spool; None if none was extracted."""
    batches = [chunk.batch() for chunk in chunks]
    if not any(ORIGIN in batch.schema.names for batch in batches):
        return None
    return {
        one.name: pa.chunked_array([_column(batch, one) for batch in batches], one.type).combine_chunks()
        for one in FIELDS
    }


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    """Return one column of a chunk; the sentence of an exception comes before the warnings."""
    if ORIGIN not in batch.schema.names:
        return pa.nulls(batch.num_rows, field.type)
    origin = batch[ORIGIN]
    if field.name != "warnings":
        return pc.struct_field(origin, ["mail", field.name] if field.name in _OF_MAIL else field.name)
    none, text = pa.scalar(None, field.type), field.type
    partial = pc.fill_null(pc.struct_field(origin, "is_partial"), False)
    has_problem = batch["problem"].is_valid() if "problem" in batch.schema.names else pc.invert(partial)
    sentence = pc.if_else(pc.or_(partial, pc.invert(has_problem)), pc.struct_field(origin, "sentence").cast(text), none)
    warnings = pc.struct_field(origin, "warnings").cast(text)
    warnings = pc.if_else(pc.equal(warnings, pa.scalar("", text)), none, warnings)
    both = pc.binary_join_element_wise(sentence, warnings, pa.scalar("; ", text))  # null where either is
    return pc.coalesce(both, sentence, warnings)


def _with_empty(origins: Origins | None, is_empty: Bool) -> Origins | None:
    """Return the origins with the exception "empty" for extracted documents that have none."""
    if origins is None:
        return None
    was_empty = pc.and_(pa.array(is_empty), origins["extractor"].is_valid())
    empty = pc.if_else(was_empty, pa.scalar("empty", pa.string()), pa.scalar(None, pa.string()))
    return {**origins, "exception": pc.coalesce(origins["exception"], empty)}


def extraction_counts(origins: Origins | None, exceptions: Sequence[ExceptionRow]) -> ExtractionCounts | None:
    """Count documents by the result of their extraction, with exceptions; None without either."""
    beside = [exception for exception in exceptions if exception.row is None]
    if origins is None and not beside:
        return None
    extracted = [exception for exception in exceptions if exception.is_extracted]
    n_partial = sum(entry.is_partial for entry in extracted)
    n_documents = n_by_ocr = 0
    if origins is not None:
        n_documents = len(origins["extractor"]) - origins["extractor"].null_count
        has_text = pc.or_(pc.is_null(origins["exception"]), pc.fill_null(origins["is_partial"], False))
        names = pc.value_counts(origins["extractor"].filter(has_text)).to_pylist()
        n_by_ocr = sum(entry["counts"] for entry in names if is_ocr(entry["values"] or ""))
    return ExtractionCounts(
        documents=n_documents + sum(entry.is_extracted for entry in beside), in_part=n_partial,
        unread=len(extracted) - n_partial, by_ocr=n_by_ocr or None,
        exceptions=dict(sorted(Counter(exception.exception for exception in exceptions).items())),
    )  # fmt: skip
