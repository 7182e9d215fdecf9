"""What is said of documents → Parquet files, in row groups of a fixed size so that equal results are equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearkin.formats import parquet
from nearkin.records import I32, I64, Matches
from nearkin.runs.files import published
from nearkin.runs.spool import Chunk, gathered
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.outcome import (
    NO_ROW,
    OTHER_RESULTS,
    REASONS,
    GroupTable,
    Judged,
    OtherTable,
    Outcome,
)
from nearkin.workflows.dedup.reading import SOURCE_COLUMN
from nearkin.workflows.dedup.searching import Sizes

ROWS_PER_GROUP = 1 << 17
PROBLEMS_SCHEMA = pa.schema(
    [
        pa.field("source", pa.large_string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("problem", pa.large_string(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class Places:
    """Who each row is and where it stands.

    Parameters
    ----------
    ids : Array, shape (n_documents,)
        large_string, or int64 where every id is an integer.
    source_names : sequence of str
    source : int32 array, shape (n_documents,)
        Index into source_names.
    line : int64 array, shape (n_documents,)
    problems : dict of row to str
        Only the rows that have one.
    """

    ids: pa.Array
    source_names: Sequence[str]
    source: I32
    line: I64
    problems: dict[int, str]

    def id_at(self, rows: NDArray[np.integer[Any]]) -> pa.Array:
        """The ids of rows; null for NO_ROW."""
        mask = rows == NO_ROW
        return self.ids.take(pa.array(np.where(mask, 0, rows).astype(np.int64), mask=mask))

    def where(self, row: int) -> str:
        """``file:line`` of a row."""
        return f"{self.source_names[int(self.source[row])]}:{int(self.line[row])}"


def locate(corpus: Corpus, source_names: Sequence[str], *, has_integer_ids: bool) -> Places:
    """Gather ids, lines and problems from the spool."""
    chunks = corpus.chunks
    ids = pa.chunked_array(list(gathered(chunks, "doc_id")), pa.large_string()).combine_chunks()
    line = np.concatenate([np.zeros(0, np.int64), *(column.to_numpy() for column in gathered(chunks, "line"))])
    source = np.concatenate([np.zeros(0, np.int32), *(column.to_numpy() for column in gathered(chunks, SOURCE_COLUMN))])
    came = ids
    if corpus.repeated_ids:
        rows = sorted(row for row, _ in corpus.repeated_ids)
        ids, has_integer_ids = renamed(ids, rows, source_names, source, line), False
    places = Places(ids.cast(pa.int64()) if has_integer_ids else ids, source_names, source, line, _problems(chunks))
    for row, earlier in corpus.repeated_ids:
        places.problems.setdefault(
            row,
            f"the id {came[row].as_py()!r} was already used at {places.where(earlier)}; "
            f"this document is called {ids[row]}",
        )
    return places


def renamed(
    ids: pa.LargeStringArray, rows: Sequence[int], source_names: Sequence[str], source: I32 | I64, line: I64
) -> pa.LargeStringArray:
    """The ids, those of ``rows``, which were used before, with the place of the document behind them.

    Where that is an id of another document, a number comes behind it.
    """
    names = [f"{ids[row]} ({source_names[int(source[row])]}:{int(line[row])})" for row in rows]
    number = 2
    while taken := set(ids.filter(pc.is_in(ids, pa.array(names, ids.type))).to_pylist()):
        names = [f"{name} [{number}]" if name in taken else name for name in names]
        number += 1
    mask = np.zeros(len(ids), np.bool_)
    mask[rows] = True
    return pc.replace_with_mask(ids, pa.array(mask), pa.array(names, pa.large_string()))


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
    write_pairs(out / "pairs.parquet", judged.matches, places)
    write_groups(out / "groups.parquet", judged.groups, places)
    if judged.others is not None:
        write_others(out / "against.parquet", corpus, sizes, judged.others, places)
    write_problems(out / "problems.parquet", places)


def write_documents(path: Path, corpus: Corpus, sizes: Sizes, outcome: Outcome, places: Places) -> None:
    """``documents.parquet``: a row for each document, in reading order."""
    id_type = places.ids.type
    schema = pa.schema(
        [
            ("id", id_type), ("group", id_type), ("is_principal", pa.bool_()),
            ("similarity_to_principal", pa.float64()), ("copy_of", id_type), ("keep", pa.bool_()),
            ("reason", pa.string()), ("n_characters", pa.int64()), ("n_units", pa.int64()),
            ("n_shingles", pa.int64()), ("keep_value", pa.float64()), ("source", pa.string()), ("line", pa.int64()),
            ("problem", pa.large_string()),
        ]
    )  # fmt: skip
    reasons, names = pa.array(REASONS), pa.array(list(places.source_names), pa.string())
    # the zero at the end is for documents without a text
    n_units, n_shingles = (np.append(n, np.uint32(0)).astype(np.int64) for n in (sizes.n_units, sizes.n_shingles))
    node = np.minimum(corpus.node, np.uint32(corpus.n_nodes))
    rows = np.arange(len(corpus), dtype=np.uint32)

    def slice_(a: int, b: int) -> list[pa.Array]:
        similarity = outcome.similarity[a:b]
        return [
            places.ids.slice(a, b - a),
            places.id_at(outcome.principal[a:b]),
            pa.array(outcome.principal[a:b] == rows[a:b]),
            pa.array(similarity, mask=np.isnan(similarity)),
            places.id_at(outcome.copy_of[a:b]),
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
        ]

    _write(path, schema, len(outcome.keep), slice_)


def write_pairs(path: Path, matches: Matches, places: Places) -> None:
    """``pairs.parquet``: every verified pair, sorted by the reading order of its documents."""
    id_type = places.ids.type
    names = ("jaccard", "containment_a_in_b", "containment_b_in_a")
    schema = pa.schema([("id_a", id_type), ("id_b", id_type), *((name, pa.float64()) for name in names)])

    def slice_(a: int, b: int) -> list[pa.Array]:
        some = matches.where(slice(a, b))
        values = (some.jaccard, some.containment_left_in_right, some.containment_right_in_left)
        return [places.id_at(some.left), places.id_at(some.right), *map(pa.array, values)]

    _write(path, schema, len(matches), slice_)


def write_groups(path: Path, table: GroupTable, places: Places) -> None:
    """``groups.parquet``: a row for each group of two documents and more."""
    id_type = places.ids.type
    schema = pa.schema(
        [
            ("group", id_type), ("size", pa.int64()), ("principal", id_type), ("lowest_similarity", pa.float64()),
            ("is_lowest_exact", pa.bool_()), ("bridges_refused", pa.int64()), ("n_exact_copies", pa.int64()),
        ]
    )  # fmt: skip

    def slice_(a: int, b: int) -> list[pa.Array]:
        ids = places.id_at(table.principal[a:b])
        return [
            ids, pa.array(table.size[a:b]), ids, pa.array(table.lowest[a:b]), pa.array(table.is_lowest_exact[a:b]),
            pa.array(table.bridges_refused[a:b]), pa.array(table.n_exact_copies[a:b]),
        ]  # fmt: skip

    _write(path, schema, len(table.principal), slice_)


def write_others(path: Path, corpus: Corpus, sizes: Sizes, others: OtherTable, places: Places) -> None:
    """``against.parquet``: a row for each document of the other collection, in reading order."""
    id_type, first = places.ids.type, corpus.n_inputs
    schema = pa.schema(
        [
            ("id", id_type), ("result", pa.string()), ("n_documents", pa.int64()), ("most_similar", id_type),
            ("similarity", pa.float64()), ("n_characters", pa.int64()), ("n_units", pa.int64()),
            ("n_shingles", pa.int64()), ("source", pa.string()), ("line", pa.int64()), ("problem", pa.large_string()),
        ]
    )  # fmt: skip
    results, names = pa.array(OTHER_RESULTS), pa.array(list(places.source_names), pa.string())
    n_units, n_shingles = (np.append(n, np.uint32(0)).astype(np.int64) for n in (sizes.n_units, sizes.n_shingles))
    node = np.minimum(corpus.node[first:], np.uint32(corpus.n_nodes))

    def slice_(a: int, b: int) -> list[pa.Array]:
        similarity = others.similarity[a:b]
        return [
            places.ids.slice(first + a, b - a),
            results.take(pa.array(others.result[a:b])),
            pa.array(others.n_documents[a:b]),
            places.id_at(others.document[a:b]),
            pa.array(similarity, mask=np.isnan(similarity)),
            pa.array(corpus.n_characters[first + a : first + b]),
            pa.array(n_units[node[a:b]]),
            pa.array(n_shingles[node[a:b]]),
            names.take(pa.array(places.source[first + a : first + b])),
            pa.array(places.line[first + a : first + b]),
            pa.array([places.problems.get(row) for row in range(first + a, first + b)], pa.large_string()),
        ]

    _write(path, schema, len(others.result), slice_)


def write_problems(path: Path, places: Places) -> None:
    """``problems.parquet``: what could not be read, where, and why; no file where there is nothing to say."""
    if not places.problems:
        return
    rows = np.array(sorted(places.problems))
    columns = [
        pa.array([places.source_names[int(places.source[row])] for row in rows], pa.large_string()),
        pa.array(places.line[rows]),
        places.id_at(rows).cast(pa.large_string()),
        pa.array([places.problems[row] for row in rows.tolist()], pa.large_string()),
    ]
    _write(path, PROBLEMS_SCHEMA, len(rows), lambda a, b: [column.slice(a, b - a) for column in columns])


def _write(path: Path, schema: pa.Schema, n_rows: int, slice_: Callable[[int, int], list[pa.Array]]) -> None:
    with published(path) as aside, parquet.table_writer(aside, schema) as writer:
        for start in range(0, n_rows, ROWS_PER_GROUP):
            writer.write_table(pa.Table.from_arrays(slice_(start, min(start + ROWS_PER_GROUP, n_rows)), schema=schema))
