"""Documents of a collection → a list, and a table of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from nearkin.collection.collection import Collection
from nearkin.collection.listing.conditions import DocumentFilter
from nearkin.collection.listing.lists import (
    LISTED,
    ListedDocuments,
    Sort,
    asked_columns,
    listed,
    listed_batches,
    n_decisions,
    n_not_grouped,
)
from nearkin.workflows.collection.tables import write_batches


def list_documents(
    collection: Collection, wanted: DocumentFilter, *, sort: Sort, date_tag: str, limit: int, out: Path | None
) -> ListedDocuments:
    """Return the first documents that meet the conditions, and write all of them to a file if one is given.

    Both come from one snapshot of the collection.
    """
    with collection.opened.store.reading() as connection:
        if out is None:
            return listed(connection, wanted, sort, limit, date_tag)
        first, n_found, columns = list[pa.RecordBatch](), 0, asked_columns(wanted)

        def counted() -> Iterator[pa.RecordBatch]:
            nonlocal n_found
            for batch in listed_batches(connection, wanted, sort, date_tag=date_tag):
                if n_found < limit:
                    first.append(batch.slice(0, limit - n_found))
                n_found += len(batch)
                yield batch.select(columns)

        write_batches(pa.schema([LISTED.field(name) for name in columns]), counted(), out)
        late = n_not_grouped(connection, wanted), n_decisions(connection, wanted)
        return ListedDocuments(pa.Table.from_batches(first, LISTED), n_found, *late)
