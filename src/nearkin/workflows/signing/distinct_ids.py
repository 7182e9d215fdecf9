"""Ids that were used before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.records import I32, Bool
from nearkin.workflows.dedup.tables import renamed


def with_distinct_ids(table: pa.Table, has_integer_ids: bool) -> pa.Table:
    """Documents whose repeated ids have the place of the document behind them and say so, as in `nearkin dedup`."""
    ids = table["id"].combine_chunks()
    codes: I32 = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    is_repeated: Bool = np.ones(len(ids), np.bool_)
    is_repeated[np.unique(codes, return_index=True)[1]] = False
    rows = np.flatnonzero(is_repeated).tolist()
    if not rows:
        return table.set_column(0, "id", pc.cast(ids, pa.int64())) if has_integer_ids and len(ids) else table
    sources = table["source"].combine_chunks().dictionary_encode()
    names = sources.dictionary.to_pylist()
    named = renamed(ids, rows, names, sources.indices.to_numpy().astype(np.int64), table["line"].to_numpy())
    said = [
        f"the id {ids[row].as_py()!r} was used before; this document is called {named[row].as_py()}" for row in rows
    ]
    problems = pc.replace_with_mask(table["problem"].combine_chunks(), is_repeated, pa.array(said, pa.large_string()))
    problems = pc.coalesce(table["problem"].combine_chunks(), problems)
    return table.set_column(0, "id", named).set_column(table.column_names.index("problem"), "problem", problems)
