"""Documents as tables have them: with the original id, and a unique name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.records import I32, I64, Bool
from nearkin.stages.documents.ids import IdKind, given_ids


def with_distinct_names(table: pa.Table, kind: IdKind) -> pa.Table:
    """Return documents with their ids and unique names.

    A document whose name was used before gets its place appended, and a problem that says so, as in `nearkin dedup`.

    Parameters
    ----------
    table : Table
        ``name`` and ``has_id``, as `preparing.prepare` gives them, ``line``, ``problem``, ``source``.
    kind : IdKind
        Kind of all ids.

    Returns
    -------
    Table
        ``id``, ``name``, ``line``, ``problem``, ``source``.
    """
    names, problems = table["name"].combine_chunks(), table["problem"].combine_chunks()
    codes: I32 = names.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    is_repeated: Bool = np.ones(len(names), np.bool_)
    is_repeated[np.unique(codes, return_index=True)[1]] = False
    ids = given_ids(names, table["has_id"].combine_chunks(), kind)
    rows = np.flatnonzero(is_repeated).tolist()
    if rows:
        sources = table["source"].combine_chunks().dictionary_encode()
        of_sources, places = sources.dictionary.to_pylist(), sources.indices.to_numpy().astype(np.int64)
        distinct = renamed(names, rows, of_sources, places, table["line"].to_numpy())
        said = [
            f"id repeated: {names[row].as_py()!r} was used before; this document is called {distinct[row].as_py()}"
            for row in rows
        ]
        problems = pc.coalesce(problems, pc.replace_with_mask(problems, is_repeated, pa.array(said, problems.type)))
        names = distinct
    fields = [
        pa.field("id", ids.type), pa.field("name", names.type, nullable=False),
        *(table.schema.field(column) for column in ("line", "problem", "source")),
    ]  # fmt: skip
    return pa.table([ids, names, table["line"], problems, table["source"]], schema=pa.schema(fields))


def renamed(
    ids: pa.LargeStringArray, rows: Sequence[int], source_names: Sequence[str], source: I32 | I64, line: I64
) -> pa.LargeStringArray:
    """Return the ids; those of ``rows``, which were used before, get the place of the document appended.

    If another document has that id, a number is appended.
    """
    names = [f"{ids[row]} ({source_names[int(source[row])]}:{int(line[row])})" for row in rows]
    number = 2
    while taken := set(ids.filter(pc.is_in(ids, pa.array(names, ids.type))).to_pylist()):
        names = [f"{name} [{number}]" if name in taken else name for name in names]
        number += 1
    mask = np.zeros(len(ids), np.bool_)
    mask[rows] = True
    return pc.replace_with_mask(ids, pa.array(mask), pa.array(names, pa.large_string()))
