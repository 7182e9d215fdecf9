"""Comparison of every stored text with its digest and its derived data, which is rebuilt where it differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, exists, func, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.contents import text_of
from nearkin.collection.stored.profiles import COLUMNS, Profile, profiles_of
from nearkin.collection.stored.purged import purged_contents
from nearkin.engines.local import map_ordered
from nearkin.errors import CollectionError
from nearkin.store.bulk import in_slices, insert_rows
from nearkin.store.schema import contents, documents, profiles

AT_A_TIME = 512
_DERIVED = ("n_bytes", "n_characters", "n_letters", "n_other_letters", "is_counted", "counts", "signature")


@dataclass(slots=True)
class TextFindings:
    """Damage of stored texts.

    Parameters
    ----------
    n_texts : int
        Number of texts that were compared.
    lost : list of int
        Contents whose text does not match its digest.
    wrong : dict of int to (dict or None, Profile)
        Contents with wrong derived data: the correct columns, if any of those was wrong, and the
        profile.
    """

    n_texts: int = 0
    lost: list[int] = field(default_factory=list)
    wrong: dict[int, tuple[dict[str, object] | None, Profile]] = field(default_factory=dict)

    def take(self, other: TextFindings) -> None:
        """Add the findings of more texts."""
        self.n_texts += other.n_texts
        self.lost += other.lost
        self.wrong |= other.wrong


def check_texts(connection: Connection, collection: OpenedCollection, threads: int) -> TextFindings:
    """Compare every text with its digest, and compute all of its derived data again."""
    found, progress, erased = TextFindings(), collection.progress, purged_contents(connection)
    n_texts = connection.execute(select(func.count()).select_from(contents)).scalar_one()
    progress.start("fsck", n_texts, "documents")

    def batches() -> Iterator[Sequence[Any]]:
        columns: list[Any] = [contents, profiles.c.content.label("profiled"), *(profiles.c[name] for name in COLUMNS)]
        joined = contents.outerjoin(profiles, contents.c.content == profiles.c.content)
        query = select(*columns).select_from(joined).order_by(contents.c.content).limit(AT_A_TIME)
        rows = connection.execute(query).all()
        while rows:
            yield rows
            rows = connection.execute(query.where(contents.c.content > rows[-1].content)).all()

    def check(rows: Sequence[Any]) -> TextFindings:
        return _checked([row for row in rows if row.content not in erased], collection.counting)

    for here in map_ordered(check, batches(), threads=threads):
        found.take(here)
        progress.advance(here.n_texts)
    progress.finish()
    return found


def _checked(rows: Sequence[Any], counting: TextCounting) -> TextFindings:
    found, whole, texts = TextFindings(len(rows)), [], []
    for row in rows:
        try:
            texts.append(text_of(row.content, row.text, row.digest))
            whole.append(row)
        except CollectionError:
            found.lost.append(row.content)
    if not texts:
        return found
    array = pa.array(texts, pa.large_string())
    vectors, signed, indexed = counting.count(array), counting.sign(array), counting.index(array)
    profiles_here = profiles_of(vectors.counts, vectors.is_counted, indexed.values, indexed.has_value)
    for i, (row, text, profile) in enumerate(zip(whole, texts, profiles_here, strict=True)):
        right: dict[str, object] = {
            "n_bytes": len(text.encode()),
            "n_characters": len(text),
            "n_letters": int(vectors.n_counted[i]),
            "n_other_letters": int(vectors.n_others[i]),
            "is_counted": bool(vectors.is_counted[i]),
            "counts": np.ascontiguousarray(vectors.counts[i], "<u4").tobytes(),
            "signature": signed.packed[i].tobytes() if signed.has_features[i] else None,
        }
        stored = {name: getattr(row, name) for name in _DERIVED}
        is_right = {k: bytes(v) if isinstance(v, memoryview) else v for k, v in stored.items()} == right
        is_profiled = row.profiled is not None and tuple(getattr(row, name) for name in COLUMNS) == profile
        if not (is_right and is_profiled):
            found.wrong[row.content] = None if is_right else right, profile
    return found


def rebuild_texts(collection: OpenedCollection, found: TextFindings) -> None:
    """Store the right derived data."""
    with collection.store.writing() as connection:
        is_there = exists().where(contents.c.content == profiles.c.content)
        connection.execute(profiles.delete().where(~is_there))
        for some in in_slices(list(found.wrong)):
            connection.execute(profiles.delete().where(profiles.c.content.in_(some)))
        rows = [(number, *profile) for number, (_, profile) in found.wrong.items()]
        insert_rows(connection, profiles, list(zip(*rows, strict=True)))
        of_segments = {number: right for number, (right, _) in found.wrong.items() if right is not None}
        for number, right in of_segments.items():
            connection.execute(update(contents).where(contents.c.content == number).values(**right))
        if of_segments:  # otherwise the data that segments are built from was correct
            collection.store.raise_generation(connection)


def documents_with(connection: Connection, numbers: Sequence[int]) -> tuple[str, ...]:
    """Return the documents that have, or had, these texts, and those whose text is missing."""
    is_missing = ~exists().where(contents.c.content == documents.c.content)
    query, rows = select(documents.c.row, documents.c.doc_id, documents.c.version), list[Any]()
    for condition in (is_missing, *(documents.c.content.in_(some) for some in in_slices(numbers))):
        rows += connection.execute(query.where(condition))
    return tuple(f"{doc_id} (version {version})" for _, doc_id, version in sorted(rows))


def has_stray_profiles(connection: Connection) -> bool:
    """Whether there is a profile without its text."""
    is_there = exists().where(contents.c.content == profiles.c.content)
    return connection.execute(select(profiles.c.content).where(~is_there).limit(1)).first() is not None
