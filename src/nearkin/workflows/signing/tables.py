"""Pairs of neighbours → a table in the format of the name of its file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.formats.by_suffix import table_writer
from nearkin.runs.for_pandas import for_pandas
from nearkin.stages.search.hamming.pairs import Neighbours
from nearkin.stages.verification.measures import MEASURE_COLUMNS, measured
from nearkin.workflows.signing.verifying import SignatureVerifier


def write_pairs(
    out: Path,
    blocks: Iterable[Neighbours],
    ids: tuple[pa.Array, pa.Array],
    verifier: SignatureVerifier | None,
    *,
    suffix: str,
) -> int:
    """Write the pairs that pass verification, if it is requested.

    Parameters
    ----------
    out : Path
    blocks : iterable of Neighbours
        With two files of signatures, the rows of the second follow those of the first.
    ids : two arrays
        Ids of the left and of the right documents; the same array twice if there is one file.
    verifier : SignatureVerifier or None
    suffix : str
        Suffix of the final name, which determines the format; see `formats.by_suffix`.

    Returns
    -------
    int
        Number of pairs written.
    """
    n_written = 0
    schema = _schema(ids[0].type, ids[1].type, is_verified=verifier is not None)
    with table_writer(out, schema, suffix) as write:
        for block in blocks:
            table = _table(block, ids, verifier, schema)
            n_written += len(table)
            for batch in table.combine_chunks().to_batches():
                write(batch)
    return n_written


def _schema(left: pa.DataType, right: pa.DataType, *, is_verified: bool) -> pa.Schema:
    numbers = [("row_a", pa.int64()), ("row_b", pa.int64()), ("distance", pa.uint16())]
    if is_verified:
        numbers += [(name, pa.float64()) for name in MEASURE_COLUMNS]
    fields = [pa.field("id_a", left), pa.field("id_b", right)]
    return for_pandas(pa.schema(fields + [pa.field(name, kind, nullable=False) for name, kind in numbers]))


def _table(
    block: Neighbours, ids: tuple[pa.Array, pa.Array], verifier: SignatureVerifier | None, schema: pa.Schema
) -> pa.Table:
    left, right, distance = block.left, block.right, block.distance
    measures: list[pa.Array] = []
    if verifier is not None:
        matches, good = verifier.verify(left, right)
        left, right, distance = left[good], right[good], distance[good]
        measures = [pa.array(values) for values in measured(matches)]
    if ids[0] is not ids[1]:
        right = right - np.uint32(len(ids[0]))
    rows = [pa.array(column.astype(np.int64)) for column in (left, right)]
    columns = [ids[0].take(rows[0]), ids[1].take(rows[1]), *rows, pa.array(distance), *measures]
    return pa.Table.from_arrays(columns, schema=schema)
