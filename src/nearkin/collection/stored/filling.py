"""Profiles for the texts of a collection with an older schema; when all exist, a fact names their method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.counting import TextCounting
from nearkin.collection.stored.contents import text_of
from nearkin.collection.stored.profiles import Profile, profiles_of
from nearkin.errors import CollectionError
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.features.letters import LetterCounts
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from nearkin.store import schema
from nearkin.store.bulk import insert_rows
from nearkin.store.store import Store

_AT_A_TIME = 512
_FACTS = ("index", "similarity_index")


def fill(store: Store, index: SimilarityIndex, progress: Progress) -> None:
    """Make the profile of every text in one transaction, unless done before, and update ``store.facts``.

    Parameters
    ----------
    store : Store
    index : SimilarityIndex
        Method of the similarity indexes, if this call makes them.
    progress : Progress

    Raises
    ------
    CollectionBusyError
        Another process is writing; it may be making the profiles too.
    """
    if "index" in store.facts or store.facts.get("alphabet") not in (
        "latin",
        "universal",
    ):  # `TextCounting.of` reports it
        return
    ignored = Ignored.restored(store.facts.get("ignored", ""))
    letters = LetterCounts(store.facts["alphabet"])  # type: ignore[arg-type]  # it was checked
    counting = TextCounting(letters, index, ignored)
    with store.writing() as connection:
        if store.fact(connection, "index") is None:  # otherwise another process was faster
            _fill(connection, counting, progress)
            facts = {name: counting.facts()[name] for name in _FACTS}
            store.write_facts(connection, facts)
            schema.say_method(connection, facts["similarity_index"])
        for name in _FACTS:
            store.facts[name] = store.fact(connection, name) or ""


def _fill(connection: Connection, counting: TextCounting, progress: Progress) -> None:
    contents = schema.contents.c
    connection.execute(schema.profiles.delete())
    numbers = connection.execute(select(contents.content).order_by(contents.content)).scalars().all()
    progress.start("index", len(numbers), "documents")
    for start in range(0, len(numbers), _AT_A_TIME):
        some = numbers[start : start + _AT_A_TIME]
        is_in = (contents.content >= some[0]) & (contents.content <= some[-1])
        rows = connection.execute(select(schema.contents).where(is_in).order_by(contents.content)).all()
        made = zip(rows, profiles_of_stored(rows, counting), strict=True)
        insert_rows(connection, schema.profiles, list(zip(*((row.content, *one) for row, one in made))))
        progress.advance(len(rows))
    progress.finish()


def profiles_of_stored(rows: Sequence[Any], counting: TextCounting) -> list[Profile]:
    """Return the profiles of rows of ``contents``; parts that depend on damaged data are None."""
    n_dimensions = counting.letters.n_dimensions
    is_whole = [isinstance(row.counts, bytes) and len(row.counts) == 4 * n_dimensions for row in rows]
    nothing = bytes(4 * n_dimensions)
    joined = b"".join(row.counts if whole else nothing for row, whole in zip(rows, is_whole))
    counts = np.frombuffer(joined, "<u4").reshape(-1, n_dimensions)
    is_counted = np.array([whole and bool(row.is_counted) for row, whole in zip(rows, is_whole)], np.bool_)
    texts = pa.array(_texts(rows), pa.large_string())
    indexed = counting.index(texts)
    has_value = indexed.has_value & ~texts.is_null().to_numpy(zero_copy_only=False)
    return profiles_of(counts, is_counted, indexed.values, has_value)


def _texts(rows: Sequence[Any]) -> Iterator[str | None]:
    for row in rows:
        try:
            yield text_of(row.content, row.text, row.digest)
        except CollectionError:  # nearkin fsck reports it
            yield None
