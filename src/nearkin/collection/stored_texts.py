"""Comparison of every stored text with its digest and its derived data; repairs what can be repaired."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, exists, func, select, update
from sqlalchemy.exc import IntegrityError

from nearkin.collection.counting import TextCounting
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.contents import digest_of, text_of
from nearkin.collection.stored.profiles import COLUMNS, Profile, profiles_of
from nearkin.collection.stored.purged import purged_contents
from nearkin.collection.stored.segments import LoadSpan
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


# -- digests and numbers, which the digests of loads prove -------------------------------------------------------------


def mend_numbers(connection: Connection, loads: Sequence[LoadSpan]) -> tuple[list[str], list[str]]:
    """Restore digests and numbers of texts that the digests of their loads prove, in a write transaction.

    Returns
    -------
    tuple of two lists of str
        What was repaired, and what could not be.
    """
    mended, faults = list[str](), list[str]()
    strays = _strays(connection, loads)
    for load in loads:
        if _digest_of_load(connection, load) == load.digest:
            continue
        right = _as_loaded(connection, load, strays)
        if right is None or not _put_right(connection, right):
            faults.append(_unlike(connection, load))
            continue
        mended += [f"the number or the digest of text {number}" for number in sorted(right)]
        strays = [one for one in strays if one.content not in {row.content for row, _ in right.values()}]
    faults += [f"text {row.content} was not added by any load" for row in strays]
    return mended, faults


def faults_of_loads(connection: Connection, loads: Sequence[LoadSpan]) -> list[str]:
    """Return the loads whose digest does not match the contents in their span, and the texts outside every span."""
    faults = [_unlike(connection, load) for load in loads if _digest_of_load(connection, load) != load.digest]
    return faults + [f"text {row.content} was not added by any load" for row in _strays(connection, loads)]


def _rows_of(connection: Connection, load: LoadSpan, *columns: Any) -> Iterator[Any]:
    for start in range(load.first, load.end, AT_A_TIME):
        is_in = (contents.c.content >= start) & (contents.c.content < min(start + AT_A_TIME, load.end))
        yield from connection.execute(select(*columns).where(is_in).order_by(contents.c.content)).all()


def _digest_of_load(connection: Connection, load: LoadSpan) -> bytes:
    digest = hashlib.sha256()
    for (one,) in _rows_of(connection, load, contents.c.digest):
        digest.update(one if isinstance(one, bytes) else b"")
    return digest.digest()


def _unlike(connection: Connection, load: LoadSpan) -> str:
    n_there = sum(1 for _ in _rows_of(connection, load, contents.c.content))
    return (
        f"texts {load.first} to {load.end - 1} differ from those that were added together: {n_there:,} of "
        f"{load.end - load.first:,} exist"
    )


def _strays(connection: Connection, loads: Sequence[LoadSpan]) -> list[Any]:
    """Return the contents outside the span of every load."""
    end = max((load.end for load in loads), default=0)
    is_outside = (contents.c.content < 0) | (contents.c.content >= end)
    query = select(contents.c.content, contents.c.digest, contents.c.text).where(is_outside)
    return list(connection.execute(query.order_by(contents.c.content).limit(AT_A_TIME)).all())


def _as_loaded(connection: Connection, load: LoadSpan, strays: Sequence[Any]) -> dict[int, tuple[Any, bytes]] | None:
    """Return the rows to restore, by their correct numbers; None if these are unknown.

    A text that does not match its digest gets the digest of its bytes; a missing number is that of a text outside every
    span, if there are as many of both. The digest of the load then confirms the result.
    """
    right, digest, spare = dict[int, tuple[Any, bytes]](), hashlib.sha256(), list(strays)
    number = load.first
    for row in (*_rows_of(connection, load, contents.c.content, contents.c.digest, contents.c.text), None):
        while spare and number < (load.end if row is None else row.content):
            right[number] = spare[0], bytes(spare[0].digest)
            digest.update(spare.pop(0).digest)
            number += 1
        if row is None:
            break
        own = digest_of(row.text) or row.digest
        if own != row.digest:
            right[number] = row, own
        digest.update(own)
        number = row.content + 1
    return right if digest.digest() == load.digest else None


def _put_right(connection: Connection, right: dict[int, tuple[Any, bytes]]) -> bool:
    try:
        with connection.begin_nested():
            for number, (row, digest) in right.items():
                is_it = contents.c.content == row.content
                connection.execute(update(contents).where(is_it).values(content=number, digest=digest))
    except IntegrityError:
        return False  # the same text was added again, and is stored under another number
    return True


# -- texts and their derived data --------------------------------------------------------------------------------------


def check_texts(connection: Connection, collection: OpenedCollection, threads: int) -> TextFindings:
    """Compare every text with its digest, and compute all of its derived data again."""
    found, progress, erased = TextFindings(), collection.progress, purged_contents(connection, skip_changed=True)
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


def mend_texts(collection: OpenedCollection, found: TextFindings) -> int:
    """Store corrected derived data; return the number of texts concerned."""
    with collection.store.writing() as connection:
        is_there = exists().where(contents.c.content == profiles.c.content)
        n_strays = connection.execute(profiles.delete().where(~is_there)).rowcount
        for some in in_slices(list(found.wrong)):
            connection.execute(profiles.delete().where(profiles.c.content.in_(some)))
        rows = [(number, *profile) for number, (_, profile) in found.wrong.items()]
        insert_rows(connection, profiles, list(zip(*rows, strict=True)))
        of_segments = {number: right for number, (right, _) in found.wrong.items() if right is not None}
        for number, right in of_segments.items():
            connection.execute(update(contents).where(contents.c.content == number).values(**right))
        if of_segments:  # otherwise the data that segments are built from was correct
            collection.store.raise_generation(connection)
    return max(len(found.wrong), n_strays)


def documents_with(connection: Connection, numbers: Sequence[int]) -> tuple[str, ...]:
    """Return the documents that have, or had, these texts."""
    told = list[str]()
    for number in numbers:
        rows = connection.execute(select(documents.c.doc_id, documents.c.version).where(documents.c.content == number))
        told += [f"{doc_id} (version {version})" for doc_id, version in rows]
    return tuple(told)


def has_stray_profiles(connection: Connection) -> bool:
    """Whether there is a profile without its text."""
    is_there = exists().where(contents.c.content == profiles.c.content)
    return connection.execute(select(profiles.c.content).where(~is_there).limit(1)).first() is not None
