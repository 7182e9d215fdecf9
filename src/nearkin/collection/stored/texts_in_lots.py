"""Stored texts in the order of their numbers, in lots that fit in memory."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.stored.contents import text_of
from nearkin.collection.stored.purged import purged_contents
from nearkin.errors import CollectionError
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.store import schema

_TEXT_BYTES_AT_A_TIME, _TEXTS_AT_A_TIME = 1 << 23, 1 << 12


def texts_from(
    connection: Connection, first: int, progress: Progress, end: int = 2**63 - 1, *, stage: str = "keys"
) -> Iterator[tuple[I64, list[str], list[int]]]:
    """Yield the contents from a number on with their texts, in lots that fit in memory, and the damaged ones.

    Erased texts are skipped: nothing of them is to be derived, and they are not damaged.
    """
    contents = schema.contents.c
    is_wanted = (contents.content >= first) & (contents.content < end)
    sizes = connection.execute(
        select(contents.content, contents.n_bytes).where(is_wanted).order_by(contents.content)
    ).all()
    if not sizes:
        return
    progress.start(stage, len(sizes), "documents")
    erased, start = purged_contents(connection), 0
    while start < len(sizes):
        stop, n_bytes = start, 0
        while stop < len(sizes) and stop - start < _TEXTS_AT_A_TIME and n_bytes < _TEXT_BYTES_AT_A_TIME:
            n_bytes += sizes[stop].n_bytes
            stop += 1
        yield _texts_between(connection, sizes[start].content, sizes[stop - 1].content, erased)
        progress.advance(stop - start)
        start = stop
    progress.finish()


def _texts_between(
    connection: Connection, first: int, last: int, erased: Container[int]
) -> tuple[I64, list[str], list[int]]:
    contents = schema.contents.c
    columns = contents.content, contents.text, contents.digest
    query = select(*columns).where(contents.content.between(first, last)).order_by(contents.content)
    numbers, texts, lost = list[int](), list[str](), list[int]()
    for content, stored, digest in connection.execute(query):
        if content in erased:
            continue
        try:
            texts.append(text_of(content, stored, digest))
            numbers.append(content)
        except CollectionError:  # reported by nearkin fsck, and by any query that shows the text
            lost.append(content)
    return np.array(numbers, np.int64), texts, lost
