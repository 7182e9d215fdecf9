"""Results for documents → Parquet files, with row groups of fixed size so that equal results are equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.manifests.dedup import OTHER_RESULTS, REASONS
from nearkin.options.dedup import DedupOptions
from nearkin.records import U32, Matches
from nearkin.runs.tables import published_table
from nearkin.stages.verification.measures import MEASURE_COLUMNS, measured
from nearkin.stages.verification.what_differs import difference_names
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.outcome import (
    NO_ROW,
    UNREADABLE_TEXT,
    GroupTable,
    Judged,
    OtherTable,
    Outcome,
    differences_of,
)
from nearkin.workflows.dedup.row_places import Places, row_numbers
from nearkin.workflows.dedup.searching import Sizes
from nearkin.workflows.overlay import OVERLAY, write_overlay

ROWS_PER_GROUP = 1 << 17


def write_tables(out: Path, corpus: Corpus, sizes: Sizes, judged: Judged, places: Places) -> None:
    """Write all tables of a run."""
    write_documents(out / "documents.parquet", corpus, sizes, judged.outcome, places)
    write_pairs(out / "pairs.parquet", judged.matches, places, is_against=corpus.is_against)
    write_groups(out / "groups.parquet", judged.groups, places)
    if judged.others is not None:
        write_others(out / "against.parquet", corpus, sizes, judged.others, places)
    write_problems(out / "problems.parquet", places)


def write_documents(path: Path, corpus: Corpus, sizes: Sizes, outcome: Outcome, places: Places) -> None:
    """Write ``documents.parquet``: a row for each document, in reading order."""
    schema = pa.schema(
        [
            pa.field("id", places.own_ids.type), _filled("name", pa.large_string()), _filled("row", pa.int64()),
            pa.field("group", places.ids.type), pa.field("group_row", pa.int64()), _filled("is_principal", pa.bool_()),
            pa.field("similarity_to_principal", pa.float64()), pa.field("differs", pa.string()),
            pa.field("copy_of", places.ids.type),
            pa.field("copy_of_row", pa.int64()), _filled("keep", pa.bool_()), _filled("reason", pa.string()),
            _filled("n_characters", pa.int64()), _filled("n_units", pa.int64()), _filled("n_shingles", pa.int64()),
            pa.field("keep_value", pa.float64()), _filled("source", pa.string()), _filled("line", pa.int64()),
            pa.field("problem", pa.large_string()), *places.more_fields(),
            *(pa.field(name, column.type) for name, column in places.carried.items()),
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
            difference_names(outcome.differs[a:b]),
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
            *(column.slice(a, b - a) for column in places.carried.values()),
        ]

    _write(path, schema, len(outcome.keep), slice_)


def write_pairs(path: Path, matches: Matches, places: Places, *, is_against: bool) -> None:
    """Write ``pairs.parquet``: every verified pair, in reading order; names of ``b`` if it has no table."""
    schema = pa.schema(
        [
            pa.field("id_a", places.own_ids.type), pa.field("id_b", places.ids.type), _filled("row_a", pa.int64()),
            _filled("row_b", pa.int64()), *(_filled(name, pa.float64()) for name in MEASURE_COLUMNS),
            pa.field("differs", pa.string()), *([_filled("name_b", pa.large_string())] if is_against else []),
        ]
    )  # fmt: skip

    def slice_(a: int, b: int) -> list[pa.Array]:
        block = matches.where(slice(a, b))
        left, right = row_numbers(block.left), row_numbers(block.right)
        columns = [places.own_ids.take(left), places.ids.take(right), left, right, *map(pa.array, measured(block))]
        columns.append(difference_names(differences_of(block)))
        return [*columns, places.names.take(right)] if is_against else columns

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
    """Write ``against.parquet``: a row for each document of the other set."""
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
    """Write ``problems.parquet``: unreadable documents; no file if there are none."""
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
    return pa.field(name, kind, nullable=False)


def _write(path: Path, schema: pa.Schema, n_rows: int, slice_: Callable[[int, int], list[pa.Array]]) -> None:
    with published_table(path, schema) as writer:
        for start in range(0, n_rows, ROWS_PER_GROUP):
            writer.write_table(pa.Table.from_arrays(slice_(start, min(start + ROWS_PER_GROUP, n_rows)), schema=schema))


def write_overlay_of_run(
    out: Path, tool: str, outcome: Outcome, places: Places, options: DedupOptions, formats: Iterable[str | None]
) -> Path:
    """Write ``overlay.dat`` if a load file was read, otherwise ``overlay.csv``; return its path."""
    path = out / ("overlay.dat" if "load-file" in formats else "overlay.csv")
    write_overlay(overlay_table(outcome, places, options), tool, path)
    return path


def overlay_table(outcome: Outcome, places: Places, options: DedupOptions) -> pa.Table:
    """Return the rows of an overlay; of documents that repeat an id only the first has one."""
    n = len(outcome.keep)
    rows = np.arange(n, dtype=np.uint32)
    has_principal, is_principal = outcome.principal != NO_ROW, outcome.principal == rows
    size = np.bincount(outcome.principal[has_principal], minlength=n)[:n]
    in_group = has_principal & (~is_principal | (size >= 2))
    principal = np.where(in_group, outcome.principal, NO_ROW).astype(np.uint32)
    has_similarity = in_group & (is_principal | ~np.isnan(outcome.similarity))
    original = np.where(outcome.copy_of == NO_ROW, rows, outcome.copy_of)
    original = np.where(np.isin(original, outcome.copy_of), original, NO_ROW).astype(np.uint32)
    names = pc.coalesce(places.ids.cast(pa.large_string()), places.names)
    own_names = pc.coalesce(places.own_ids.cast(pa.large_string()), places.names[:n])
    columns = [
        own_names,
        names.take(row_numbers(principal)),
        _numbers(principal),
        pa.array(in_group & is_principal),
        pa.array(np.where(is_principal, np.fmax(outcome.similarity, 1.0), outcome.similarity), mask=~has_similarity),
        _numbers(original),
        pa.array([f"{options.measure.name} {options.shingle}"] * n, pa.large_string()),
        pa.array(REASONS, pa.large_string()).take(pa.array(outcome.reason)),
    ]
    is_first = np.zeros(n, np.bool_)
    is_first[pc.index_in(own_names.unique(), own_names).to_numpy(zero_copy_only=False)] = True
    has_key = pc.or_(places.own_ids.is_valid(), pa.array(outcome.reason != UNREADABLE_TEXT))
    return pa.table(columns, schema=OVERLAY).filter(pc.and_(pa.array(is_first), has_key))


def _numbers(rows: U32) -> pa.Array:
    sets = np.unique(rows[rows != NO_ROW])
    return pa.array(np.searchsorted(sets, rows).astype(np.int64) + 1, mask=rows == NO_ROW)
