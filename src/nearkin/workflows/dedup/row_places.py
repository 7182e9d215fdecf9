"""Names and places of the rows of a run: ids, files and lines, problems, containers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearkin.errors import DocumentError
from nearkin.manifests.dedup import ExtractionCounts
from nearkin.records import I32, I64, U32
from nearkin.runs.spool import Chunk, gathered
from nearkin.stages.documents.faults import is_rest_missing, reason_of, sentence_of, truncated_input
from nearkin.stages.documents.ids import IdKind, given_ids
from nearkin.stages.documents.members import BETWEEN, NO_TEXT
from nearkin.stages.documents.preparing import PARENT
from nearkin.stages.documents.rules import STOPPED, ReadingRules
from nearkin.workflows.dedup.corpus import EMPTY, UNREADABLE, Corpus
from nearkin.workflows.dedup.origins import FIELDS, Origins, find_origins, told_rows, with_exceptions
from nearkin.workflows.dedup.outcome import NO_ROW
from nearkin.workflows.dedup.reading import SOURCE_COLUMN
from nearkin.workflows.reading.exceptions import ExceptionRow, exception_row
from nearkin.workflows.reading.texts import renamed


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Names and places of rows.

    Parameters
    ----------
    own_ids : Array, shape (n_inputs,)
        Original ids of the documents to clean: int64 if all ids are integers, else large_string; null where a
        document has no id.
    ids : Array, shape (n_documents,)
        Ids of all documents: int64 only if those of the other set are integers, too.
    names : LargeStringArray, shape (n_documents,)
        Name of each document, unique in its collection.
    source_names : sequence of str
    source : int32 array, shape (n_documents,)
        Index into source_names.
    line : int64 array, shape (n_documents,)
    problems : dict of row to str
        Only rows that have a problem.
    parents : Parents or None
        None if no document is in a container.
    origins : Origins or None
        None if no document was extracted.
    no_text : dict of row to str
        The reason for documents without a text.
    carried : dict of str to Array, shape (n_inputs,)
        Carried columns of the input by their names in ``documents.parquet``.
    beside : sequence of ExceptionRow
        Exceptions of collections that are none of these documents.
    """

    own_ids: pa.Array
    ids: pa.Array
    names: pa.LargeStringArray
    source_names: Sequence[str]
    source: I32
    line: I64
    problems: dict[int, str]
    parents: Parents | None = None
    origins: Origins | None = None
    no_text: Mapping[int, str] = field(default_factory=dict)
    carried: Mapping[str, pa.Array] = field(default_factory=dict)
    beside: Sequence[ExceptionRow] = ()

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
        """Return `where`, or only the file if a document is named after it: the line adds nothing there.

        A file that shares its name with another has its path, of which the id is the end.
        """
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
        parent: str | None = None if self.parents is None else self.parents.ids[row].as_py()
        return parent

    def more_fields(self) -> list[pa.Field]:
        """Return the additional columns of tables if some document is in a container, or was extracted."""
        parent = [pa.field("parent", pa.large_string()), pa.field("parent_row", pa.int64())]
        return [*([] if self.parents is None else parent), *([] if self.origins is None else FIELDS)]

    def more_columns(self, a: int, b: int) -> list[pa.Array]:
        """Return the values of `more_fields` for rows ``a`` to ``b - 1``."""
        parent = [] if self.parents is None else [self.parents.ids[a:b], row_numbers(self.parents.rows[a:b])]
        return [*parent, *([] if self.origins is None else self.origins.part(a, b))]

    def exceptions(self) -> list[ExceptionRow]:
        """Return the documents without a text, or with only a part of it, in order; then the others of collections."""
        own = [
            exception_row(
                told,
                self._why_no_text(row),
                self.no_text.get(row, ""),
                doc_id=self.names[row].as_py(),
                given_id=self.ids[row].as_py(),
                parent=self.parent_of(row),
                place=(int(self.source[row]), int(self.line[row])),
            )
            for row, told in told_rows(self.origins, len(self.line), self.no_text)
        ]
        return [*own, *self.beside]

    def _why_no_text(self, row: int) -> str | None:
        """Return the problem of a document; if it is empty and repeats an id, both."""
        problem = self.problems.get(row)
        return f"{NO_TEXT}; {problem}" if problem and self.no_text.get(row) == "empty" else problem

    def extraction(self, n_inputs: int) -> ExtractionCounts | None:
        """Count documents by the result of their extraction; None if nothing was extracted, or was not possible.

        The sources after the first ``n_inputs`` are the other set.
        """
        if self.origins is None and not self.beside:
            return None
        own = ExtractionCounts(exceptions=Counter(self.no_text.values()))
        own = own if self.origins is None else self.origins.counts(self.no_text)
        n_of_others = sum(one.source >= n_inputs and not one.is_partial for one in self.beside)
        return replace(with_exceptions(own, self.beside) or own, not_stored_others=n_of_others or None)


def row_numbers(rows: NDArray[np.integer[Any]]) -> pa.Int64Array:
    """Return rows as a column; null for NO_ROW."""
    mask = rows == NO_ROW
    return pa.array(np.where(mask, 0, rows).astype(np.int64), mask=mask)


def locate(
    corpus: Corpus, source_names: Sequence[str], kinds: Sequence[IdKind], other_kinds: Sequence[IdKind]
) -> Places:
    """Collect ids, names, lines and problems from the spool.

    Parameters
    ----------
    corpus : Corpus
    source_names : sequence of str
    kinds, other_kinds : sequence of IdKind
        Kinds of the ids of the inputs, and of the other set's.
    """
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
    parents = find_parents(chunks, came, source)
    empty = np.flatnonzero(corpus.status == EMPTY).tolist()
    origins = find_origins(chunks)
    problems = _problems(chunks)
    places = Places(
        own_ids=own_ids,
        ids=ids,
        names=names,
        source_names=source_names,
        source=source,
        line=line,
        problems=problems,
        parents=parents,
        origins=None if origins is None else origins.with_empty(empty),
        no_text={
            **dict.fromkeys(empty, "empty"),
            **{row: reason_of(problems[row]) for row in np.flatnonzero(corpus.status == UNREADABLE).tolist()},
        },
    )
    for row, earlier in corpus.repeated_ids:
        repeated = (
            f"id repeated: {came[row].as_py()!r} was already used at {places.file_and_line(earlier)}; "
            f"this document is called {names[row]}"
        )
        unreadable = places.problems.get(row)
        places.problems[row] = f"{unreadable}; {repeated}" if unreadable else repeated
    return places


def _joined(own: pa.Array, others: pa.Array) -> pa.Array:
    """Return the ids of both sets with one type."""
    parts = [one for one in (own, others) if len(one)]
    if any(pa.types.is_large_string(one.type) for one in parts):
        parts = [one.cast(pa.large_string()) for one in parts]
    return pa.concat_arrays(parts) if parts else own


def _problems(chunks: Iterable[Chunk]) -> dict[int, str]:
    found: dict[int, str] = {}
    for chunk in chunks:
        column = chunk.column("problem")
        if column.null_count < len(column):
            found |= {chunk.start + i: text for i, text in enumerate(column.to_pylist()) if text is not None}
    return found


@dataclass(frozen=True, slots=True)
class Parents:
    """Container of each document; arrays of shape (n_documents,).

    Parameters
    ----------
    ids : LargeStringArray
        Null if a document is not in a container.
    rows : uint32 array
        NO_ROW there, and if the container is not itself a document: an archive has no text.
    """

    ids: pa.LargeStringArray
    rows: U32


def find_parents(chunks: Sequence[Chunk], names: pa.LargeStringArray, source: I32) -> Parents | None:
    """Find the containers of the documents of a spool; None if there are none.

    Parameters
    ----------
    chunks : sequence of Chunk
    names : LargeStringArray, shape (n_documents,)
        Original ids of the documents.
    source : int32 array, shape (n_documents,)
    """
    columns = [(chunk.batch(), chunk.n_documents) for chunk in chunks]
    if not any(PARENT in batch.schema.names for batch, _ in columns):
        return None
    kind = pa.large_string()
    found = [batch[PARENT] if PARENT in batch.schema.names else pa.nulls(n, kind) for batch, n in columns]
    ids = pa.chunked_array(found, kind).combine_chunks()
    rows = np.full(len(ids), NO_ROW, np.uint32)
    has_parent = ids.is_valid().to_numpy(zero_copy_only=False)
    some = np.flatnonzero(np.isin(source, np.unique(source[has_parent])))
    taken = pa.array(some)
    before: dict[tuple[int, str], int] = {}
    for row, place, name, parent in zip(
        some.tolist(), source[some].tolist(), names.take(taken).to_pylist(), ids.take(taken).to_pylist(), strict=True
    ):
        if parent is not None:
            rows[row] = before.get((place, parent), NO_ROW)
        before[place, name] = row
    return Parents(ids, rows)


def check_problems(places: Places, rules: ReadingRules) -> None:
    """Check that the rules allow the problems found; the interrupted part of a resumed run may have had other rules.

    Raises
    ------
    TruncatedInputError
        A file is damaged, and the rules do not allow the part before the damage to be used.
    DocumentError
        A document is unreadable, and the rules stop the run.
    """
    for row in sorted(places.problems):
        problem = places.problems[row]
        if is_rest_missing(problem) and not rules.takes_damaged:
            n_before = int(np.count_nonzero(places.source[:row] == places.source[row]))
            raise truncated_input(places.source_names[int(places.source[row])], sentence_of(problem), n_before)
        if rules.on_error == "stop":
            raise DocumentError(f"{places.where(row)}: {problem}. {STOPPED}")


def check_readable(corpus: Corpus, places: Places, rules: ReadingRules) -> None:
    """Check that not too many documents are unreadable, among those to clean and in the other set.

    Raises
    ------
    SourceError, DocumentError
        See `ReadingRules.check_readable`.
    """
    for start, end, of in ((0, corpus.n_inputs, ""), (corpus.n_inputs, len(corpus), "--against")):
        unreadable = np.flatnonzero(corpus.status[start:end] == UNREADABLE)
        if len(unreadable):
            row = start + int(unreadable[0])
            first = f"{places.where(row)}: {places.problems[row]}"
            rules.check_readable(len(unreadable), end - start, first, of=of)
