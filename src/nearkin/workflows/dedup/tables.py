"""Results for documents → Parquet files, with row groups of fixed size so that equal results are equal bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearkin.formats import parquet
from nearkin.manifests.dedup import OTHER_RESULTS, REASONS, REPEATED_ID, ExtractionCounts
from nearkin.manifests.inputs import InputFile
from nearkin.records import I32, I64, Matches
from nearkin.runs.files import published
from nearkin.runs.for_pandas import for_pandas
from nearkin.runs.spool import Chunk, gathered
from nearkin.stages.documents.ids import IdKind, given_ids
from nearkin.stages.documents.members import BETWEEN
from nearkin.stages.documents.origin import NO_TEXT
from nearkin.stages.verification.measures import MEASURE_COLUMNS, measured
from nearkin.workflows.dedup.corpus import EMPTY, UNREADABLE, Corpus
from nearkin.workflows.dedup.origins import (
    FIELDS,
    Origins,
    find_origins,
    told_rows,
    with_exceptions,
)
from nearkin.workflows.dedup.outcome import NO_ROW, GroupTable, Judged, OtherTable, Outcome
from nearkin.workflows.dedup.parents import Parents, find_parents
from nearkin.workflows.dedup.reading import SOURCE_COLUMN
from nearkin.workflows.dedup.searching import Sizes
from nearkin.workflows.reading.distinct_ids import renamed
from nearkin.workflows.reading.exceptions import (
    ExceptionRow,
    exception_row,
    write_exceptions_in,
)

ROWS_PER_GROUP = 1 << 17


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
        "unreadable" or "empty" for documents without a text.
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

    def extraction(self) -> ExtractionCounts | None:
        """Count documents by the result of their extraction; None if nothing was extracted, or was not possible."""
        if self.origins is not None:
            return with_exceptions(self.origins.counts(self.no_text), self.beside)
        own = ExtractionCounts(exceptions=Counter(self.no_text.values()))
        return with_exceptions(own, self.beside) if self.beside else None


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
    places = Places(
        own_ids=own_ids,
        ids=ids,
        names=names,
        source_names=source_names,
        source=source,
        line=line,
        problems=_problems(chunks),
        parents=parents,
        origins=None if origins is None else origins.with_empty(empty),
        no_text={
            **dict.fromkeys(empty, "empty"),
            **dict.fromkeys(np.flatnonzero(corpus.status == UNREADABLE).tolist(), "unreadable"),
        },
    )
    for row, earlier in corpus.repeated_ids:
        repeated = (
            f"{REPEATED_ID} {came[row].as_py()!r} was already used at {places.file_and_line(earlier)}; "
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


def write_tables(out: Path, corpus: Corpus, sizes: Sizes, judged: Judged, places: Places) -> None:
    """Write all tables of a run."""
    write_documents(out / "documents.parquet", corpus, sizes, judged.outcome, places)
    write_pairs(out / "pairs.parquet", judged.matches, places, is_against=corpus.is_against)
    write_groups(out / "groups.parquet", judged.groups, places)
    if judged.others is not None:
        write_others(out / "against.parquet", corpus, sizes, judged.others, places)
    write_problems(out / "problems.parquet", places)


def write_exceptions_of(out: Path, places: Places, files: Mapping[int, InputFile]) -> None:
    """Write ``exceptions.csv`` if there are exceptions; ``files`` as for `exception_lines`."""
    write_exceptions_in(out, places.exceptions(), places.source_names, files)


def write_documents(path: Path, corpus: Corpus, sizes: Sizes, outcome: Outcome, places: Places) -> None:
    """Write ``documents.parquet``: a row for each document, in reading order."""
    schema = pa.schema(
        [
            pa.field("id", places.own_ids.type), _filled("name", pa.large_string()), _filled("row", pa.int64()),
            pa.field("group", places.ids.type), pa.field("group_row", pa.int64()), _filled("is_principal", pa.bool_()),
            pa.field("similarity_to_principal", pa.float64()), pa.field("copy_of", places.ids.type),
            pa.field("copy_of_row", pa.int64()), _filled("keep", pa.bool_()), _filled("reason", pa.string()),
            _filled("n_characters", pa.int64()), _filled("n_units", pa.int64()), _filled("n_shingles", pa.int64()),
            pa.field("keep_value", pa.float64()), _filled("source", pa.string()), _filled("line", pa.int64()),
            pa.field("problem", pa.large_string()), *places.more_fields(),
        ]
    )  # fmt: skip
    reasons, names = pa.array(REASONS), pa.array(list(places.source_names), pa.string())
    # the final zero is for documents without a text
    n_units, n_shingles = (np.append(n, np.uint32(0)).astype(np.int64) for n in (sizes.n_units, sizes.n_shingles))
    node = np.minimum(corpus.node, np.uint32(corpus.n_nodes))
    rows = np.arange(len(corpus), dtype=np.uint32)

    def slice_(a: int, b: int) -> list[pa.Array]:
        similarity = outcome.similarity[a:b]
        return [
            places.own_ids.slice(a, b - a),
            places.names.slice(a, b - a),
            pa.array(rows[a:b].astype(np.int64)),
            places.id_at(outcome.principal[a:b]),
            row_numbers(outcome.principal[a:b]),
            pa.array(outcome.principal[a:b] == rows[a:b]),
            pa.array(similarity, mask=np.isnan(similarity)),
            places.id_at(outcome.copy_of[a:b]),
            row_numbers(outcome.copy_of[a:b]),
            pa.array(outcome.keep[a:b]),
            reasons.take(pa.array(outcome.reason[a:b])),
            pa.array(corpus.n_characters[a:b]),
            pa.array(n_units[node[a:b]]),
            pa.array(n_shingles[node[a:b]]),
            pa.array(corpus.keep_value[a:b], mask=np.isnan(corpus.keep_value[a:b])),
            names.take(pa.array(places.source[a:b])),
            pa.array(places.line[a:b]),
            pa.array(
                [places.problems.get(row) for row in range(a, b)] if places.problems else [None] * (b - a),
                pa.large_string(),
            ),
            *places.more_columns(a, b),
        ]

    _write(path, schema, len(outcome.keep), slice_)


def write_pairs(path: Path, matches: Matches, places: Places, *, is_against: bool) -> None:
    """Write ``pairs.parquet``: every verified pair, sorted by the reading order of its documents.

    Documents of another set have no table, so the name of ``b`` is included for them.
    """
    schema = pa.schema(
        [
            pa.field("id_a", places.own_ids.type), pa.field("id_b", places.ids.type), _filled("row_a", pa.int64()),
            _filled("row_b", pa.int64()), *(_filled(name, pa.float64()) for name in MEASURE_COLUMNS),
            *([_filled("name_b", pa.large_string())] if is_against else []),
        ]
    )  # fmt: skip

    def slice_(a: int, b: int) -> list[pa.Array]:
        some = matches.where(slice(a, b))
        left, right = row_numbers(some.left), row_numbers(some.right)
        told = [places.own_ids.take(left), places.ids.take(right), left, right, *map(pa.array, measured(some))]
        return [*told, places.names.take(right)] if is_against else told

    _write(path, schema, len(matches), slice_)


def write_groups(path: Path, table: GroupTable, places: Places) -> None:
    """Write ``groups.parquet``: a row for each group of at least two documents."""
    id_type, whole = places.ids.type, pa.int64()
    schema = pa.schema(
        [
            pa.field("group", id_type), _filled("group_row", whole), _filled("size", whole),
            pa.field("principal", id_type), _filled("lowest_similarity", pa.float64()),
            _filled("is_lowest_exact", pa.bool_()), _filled("bridges_refused", whole), _filled("n_exact_copies", whole),
        ]
    )  # fmt: skip

    def slice_(a: int, b: int) -> list[pa.Array]:
        ids, rows = places.id_at(table.principal[a:b]), row_numbers(table.principal[a:b])
        return [
            ids, rows, pa.array(table.size[a:b]), ids, pa.array(table.lowest[a:b]),
            pa.array(table.is_lowest_exact[a:b]), pa.array(table.bridges_refused[a:b]),
            pa.array(table.n_exact_copies[a:b]),
        ]  # fmt: skip

    _write(path, schema, len(table.principal), slice_)


def write_others(path: Path, corpus: Corpus, sizes: Sizes, others: OtherTable, places: Places) -> None:
    """Write ``against.parquet``: a row for each document of the other set, in reading order."""
    id_type, first = places.ids.type, corpus.n_inputs
    schema = pa.schema(
        [
            pa.field("id", id_type), _filled("name", pa.large_string()), _filled("row", pa.int64()),
            _filled("result", pa.string()), _filled("n_documents", pa.int64()), pa.field("most_similar", id_type),
            pa.field("most_similar_row", pa.int64()), pa.field("similarity", pa.float64()),
            _filled("n_characters", pa.int64()), _filled("n_units", pa.int64()), _filled("n_shingles", pa.int64()),
            _filled("source", pa.string()), _filled("line", pa.int64()), pa.field("problem", pa.large_string()),
            *places.more_fields(),
        ]
    )  # fmt: skip
    results, names = pa.array(OTHER_RESULTS), pa.array(list(places.source_names), pa.string())
    n_units, n_shingles = (np.append(n, np.uint32(0)).astype(np.int64) for n in (sizes.n_units, sizes.n_shingles))
    node = np.minimum(corpus.node[first:], np.uint32(corpus.n_nodes))

    def slice_(a: int, b: int) -> list[pa.Array]:
        similarity = others.similarity[a:b]
        return [
            places.ids.slice(first + a, b - a),
            places.names.slice(first + a, b - a),
            pa.array(np.arange(first + a, first + b)),
            results.take(pa.array(others.result[a:b])),
            pa.array(others.n_documents[a:b]),
            places.id_at(others.document[a:b]),
            row_numbers(others.document[a:b]),
            pa.array(similarity, mask=np.isnan(similarity)),
            pa.array(corpus.n_characters[first + a : first + b]),
            pa.array(n_units[node[a:b]]),
            pa.array(n_shingles[node[a:b]]),
            names.take(pa.array(places.source[first + a : first + b])),
            pa.array(places.line[first + a : first + b]),
            pa.array([places.problems.get(row) for row in range(first + a, first + b)], pa.large_string()),
            *places.more_columns(first + a, first + b),
        ]

    _write(path, schema, len(others.result), slice_)


def write_problems(path: Path, places: Places) -> None:
    """Write ``problems.parquet``: unreadable documents, with place and reason; no file if there are none."""
    if not places.problems:
        return
    text = pa.large_string()
    schema = pa.schema(
        [
            _filled("source", text), _filled("line", pa.int64()), pa.field("id", places.ids.type),
            _filled("name", text), _filled("problem", text),
        ]
    )  # fmt: skip
    rows = np.array(sorted(places.problems))
    columns = [
        pa.array([places.source_names[int(places.source[row])] for row in rows], pa.large_string()),
        pa.array(places.line[rows]),
        places.id_at(rows),
        places.names.take(pa.array(rows)),
        pa.array([places.problems[row] for row in rows.tolist()], pa.large_string()),
    ]
    _write(path, schema, len(rows), lambda a, b: [column.slice(a, b - a) for column in columns])


def _filled(name: str, kind: pa.DataType) -> pa.Field:
    """Return a column without nulls."""
    return pa.field(name, kind, nullable=False)


def _write(path: Path, schema: pa.Schema, n_rows: int, slice_: Callable[[int, int], list[pa.Array]]) -> None:
    schema = for_pandas(schema)
    with published(path) as aside, parquet.table_writer(aside, schema) as writer:
        for start in range(0, n_rows, ROWS_PER_GROUP):
            writer.write_table(pa.Table.from_arrays(slice_(start, min(start + ROWS_PER_GROUP, n_rows)), schema=schema))
