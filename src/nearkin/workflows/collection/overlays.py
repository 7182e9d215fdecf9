"""Groups of a collection for review tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path

import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.collection import Collection
from nearkin.collection.listing.coding import with_coding
from nearkin.collection.listing.exceptions import textless_contents
from nearkin.collection.stored.documents import contents_of_current
from nearkin.collection.stored.origins import IS_EXCEPTION, NOT_STORED
from nearkin.errors import ParameterError
from nearkin.store.schema import origins
from nearkin.workflows.overlay import OVERLAY, SUFFIXES, Row, write_overlay


def check_overlay(out: Path) -> None:
    """Refuse a file that an overlay cannot have."""
    if out.suffix.lower() not in SUFFIXES:
        raise ParameterError.of("out", "a file that ends in .dat or .csv", str(out))


def write_group_overlay(
    collection: Collection, members: pa.Table, tool: str, out: Path, *, left_out: Container[str] = ()
) -> int:
    """Write an overlay, and return the number of its documents.

    Parameters
    ----------
    left_out
        Documents whose groups are not known, which get no row.
    """
    with collection.opened.store.reading() as connection:
        texts = contents_of_current(connection)
        textless = textless_contents(connection, collection.opened.counting.normalise)
        unread = _unread(connection, texts)
    rows = _rows(members, texts, textless) + [{"doc_id": doc_id, "reason": "unreadable"} for doc_id in unread]
    table = pa.Table.from_pylist([row for row in rows if row["doc_id"] not in left_out], OVERLAY)
    with collection.opened.store.reading() as connection:
        table = with_coding(connection, table)
    write_overlay(table, tool, out)
    return len(table)


def _unread(connection: Connection, current: Container[str]) -> list[str]:
    """Return the ids that a file or a record gave to documents without a text."""
    columns = origins.c.doc_id, origins.c.source, origins.c.line
    is_unread = IS_EXCEPTION & (origins.c.exception != NOT_STORED)
    rows = connection.execute(select(*columns).where(is_unread).order_by(origins.c.number))
    named = dict.fromkeys(doc_id for doc_id, source, line in rows if doc_id != f"{source}:{line}")
    return [doc_id for doc_id in named if doc_id not in current]


def _rows(members: pa.Table, texts: Mapping[str, int], textless: Mapping[int, str]) -> list[Row]:
    columns = (members[name].to_pylist() for name in ("doc_id", "group", "is_principal", "jaccard"))
    in_groups = {doc_id: member for doc_id, *member in zip(*columns, strict=True)}
    principals = {group: doc_id for doc_id, (group, *_) in reversed(in_groups.items())}  # each group begins with it
    copied = [text for text, n in Counter(texts.values()).items() if n > 1 and text not in textless]
    copy_numbers = {text: number for number, text in enumerate(copied, 1)}
    rows, seen = list[Row](), set[int]()
    for doc_id, text in texts.items():
        group, is_principal, similarity = in_groups.get(doc_id, (None, False, None))
        principal = None if group is None else principals[group]
        if text in textless:  # no copy of another one, and in a group only by decision
            reason = textless[text]
        elif principal is not None and not is_principal:
            reason = "exact copy" if text == texts[principal] else "near-duplicate"
        else:
            reason = "exact copy" if principal is None and text in seen else "unique"
        seen.add(text)
        rows.append(
            {
                "doc_id": doc_id,
                "group": principal,
                "group_number": group,
                "is_principal": is_principal,
                "similarity": similarity,
                "copy_number": copy_numbers.get(text),
                "measure": "jaccard words:5",
                "reason": reason,
            }
        )
    return rows
