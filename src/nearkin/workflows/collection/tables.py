"""Tables for other programs, in the format of the file name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.collection.collection import Collection
from nearkin.collection.listing import lists
from nearkin.collection.listing.coding import coded_columns, with_coding
from nearkin.collection.results import columns, table_of
from nearkin.formats.delimited import table_writer
from nearkin.runs.files import published

if TYPE_CHECKING:
    from nearkin.collection.conflicts.by_group import Conflicts
    from nearkin.collection.info import Wave


_ROWS_AT_A_TIME = 1 << 14


def write_table(table: pa.Table, out: Path) -> None:
    """Write a table, completely or not at all."""
    write_batches(table.schema, table.to_batches(max_chunksize=_ROWS_AT_A_TIME), out)


def coded(collection: Collection, table: pa.Table) -> pa.Table:
    """Add what reviewers set for the documents of a table; see `with_coding`."""
    with collection.opened.store.reading() as connection:
        return with_coding(connection, table)


def write_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: Path) -> None:
    """Write a table that comes in batches, completely or not at all."""
    with published(out) as aside, table_writer(aside, schema, out.suffix) as write:
        for batch in batches:
            write(batch)


def table_of_conflicts(conflicts: Conflicts, label_column: str) -> pa.Table:
    """Return a row for each conflict, by group."""
    named = pa.array([label_column] * len(conflicts.table), pa.large_string())
    return conflicts.table.add_column(conflicts.table.schema.get_field_index("is_letters_only"), "label_column", named)


def list_documents(
    collection: Collection,
    wanted: lists.DocumentFilter,
    *,
    sort: lists.Sort,
    limit: int,
    out: Path | None,
) -> lists.ListedDocuments:
    """Return the first documents that meet the conditions, and write all of them to ``out``; both from one snapshot."""
    with collection.opened.store.reading() as connection:
        if out is None:
            return lists.listed(connection, wanted, sort, limit)
        first, n_found, columns = list[pa.RecordBatch](), 0, lists.asked_columns(wanted)
        names = coded_columns(connection)
        written = with_coding(connection, lists.LISTED.empty_table().select(columns), names).schema

        def counted() -> Iterator[pa.RecordBatch]:
            nonlocal n_found
            for batch in lists.listed_batches(connection, wanted, sort):
                if n_found < limit:
                    first.append(batch.slice(0, limit - n_found))
                n_found += len(batch)
                yield from with_coding(connection, pa.Table.from_batches([batch]).select(columns), names).to_batches()

        write_batches(written, counted(), out)
        return lists.ListedDocuments(
            pa.Table.from_batches(first, lists.LISTED), n_found, *lists.n_late(connection, wanted)
        )


def table_of_waves(listed: Iterable[Wave]) -> pa.Table:
    """Return a row for each wave."""
    names = "name first_added_at last_added_at n_current n_new n_new_versions n_problems"
    return table_of(map(asdict, listed), *columns(names))
