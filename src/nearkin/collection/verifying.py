"""Everything that is stored, compared with what it is made of; what is broken and can be made again is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select, update

from nearkin.collection.check_in import stored_keys
from nearkin.collection.counting import Counting
from nearkin.collection.documents import text_of
from nearkin.collection.profiles import COLUMNS, profiles_of
from nearkin.collection.segments import LoadSpan, loads_of
from nearkin.engines.local import map_ordered
from nearkin.errors import CollectionError
from nearkin.store.bulk import insert_rows, named
from nearkin.store.schema import contents, documents, profiles

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection

_AT_A_TIME = 512
_DERIVED = ("n_bytes", "n_characters", "n_letters", "n_other_letters", "is_counted", "counts", "signature")


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying found.

    Parameters
    ----------
    n_texts : int
        That were compared with their SHA-256, counted and signed anew.
    damaged_documents : tuple of str
        Documents whose text is not what was stored; nothing here can bring it back.
    mended_texts : int
        Texts of which the counts, the signature, the similarity index or the columns for plain SQL were wrong in the
        store; they were worked out anew.
    remade_segments : tuple of str
        What was wrong with parts of the index, or with the keys of check-ins; they were made again.
    n_segments : int
        Parts of the index that there are now, each with the checksums that it was written with.
    faults : tuple of str
        What the database says of itself, and loads whose texts are not those that they brought.
    """

    n_texts: int
    damaged_documents: tuple[str, ...]
    mended_texts: int
    remade_segments: tuple[str, ...]
    n_segments: int
    faults: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Nothing is lost."""
        return not (self.damaged_documents or self.faults)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "is_whole": self.is_whole}


def verify(collection: Collection, *, threads: int = 1) -> Verified:
    """Check every checksum, work out everything that is derived, mend what can be mended.

    Raises
    ------
    CollectionBusyError
        Something is to be mended, and another process is writing.
    """
    with collection.store.reading() as connection:
        faults = [*_database_faults(connection, collection.store.dialect)]
        loads = loads_of(connection, collection.store)
        faults += _load_faults(connection, loads)
        n_texts, lost, wrong = _texts(connection, collection, threads, max((load.end for load in loads), default=0))
        damaged = _documents_with(connection, lost)
    if wrong:
        _mend(collection, wrong)
    remade = []
    with collection.store.reading() as connection:
        loads = loads_of(connection, collection.store)
        for name, fault in collection.index.check(loads).items():
            differs = fault or collection.index.differs_from_store(connection, loads, name)
            if differs is not None:
                remade.append(differs)
                collection.index.forget(name)
        differs = stored_keys.difference(connection, collection.store, collection.counting, collection.progress)
    if differs is not None:
        remade.append(differs)
        with collection.store.writing() as connection:
            stored_keys.remake(connection, collection.store, collection.counting, collection.progress)
    collection.settle()
    with collection.snapshot() as seen:
        n_segments = len(seen.segments)
    return Verified(n_texts, damaged, len(wrong), tuple(remade), n_segments, tuple(faults))


def _database_faults(connection: Connection, dialect: str) -> Iterator[str]:
    """What SQLite finds in its own file; PostgreSQL checks its pages when it reads them, which we then do."""
    if dialect == "sqlite":
        for (said,) in connection.exec_driver_sql("PRAGMA integrity_check(20)"):
            if said != "ok":
                yield f"SQLite: {said}"
        for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            yield f"SQLite: row {row[1]} of {row[0]} refers to a row of {row[2]} that is not there"


def _load_faults(connection: Connection, loads: Sequence[LoadSpan]) -> Iterator[str]:
    """Loads of which the digest is not that of the contents in their span."""
    for load in loads:
        digest, n_contents = hashlib.sha256(), 0
        for start in range(load.first, load.end, _AT_A_TIME):
            stop = min(start + _AT_A_TIME, load.end)
            is_in = (contents.c.content >= start) & (contents.c.content < stop)
            for one in connection.execute(
                select(contents.c.digest).where(is_in).order_by(contents.c.content)
            ).scalars():
                digest.update(one)
                n_contents += 1
        if digest.digest() != load.digest:
            yield (
                f"texts {load.first} to {load.end - 1} are not those that were added together: {n_contents:,} of "
                f"{load.end - load.first:,} are there"
            )


def _texts(
    connection: Connection, collection: Collection, threads: int, end: int
) -> tuple[int, list[int], dict[int, Any]]:
    """How many there are, those that are lost, and those of which something derived is wrong, with what is right."""
    n_texts, lost, wrong = 0, list[int](), dict[int, Any]()
    progress = collection.progress
    progress.start("verify", end, "documents")

    def batches() -> Iterator[Sequence[Any]]:
        for start in range(0, end, _AT_A_TIME):
            is_in = (contents.c.content >= start) & (contents.c.content < start + _AT_A_TIME)
            columns: list[Any] = [
                contents,
                profiles.c.content.label("profiled"),
                *(profiles.c[name] for name in COLUMNS),
            ]
            joined = contents.outerjoin(profiles, contents.c.content == profiles.c.content)
            yield connection.execute(select(*columns).select_from(joined).where(is_in)).all()

    def check(rows: Sequence[Any]) -> tuple[int, list[int], dict[int, Any]]:
        return _checked(rows, collection.counting)

    for n_rows, lost_here, wrong_here in map_ordered(check, batches(), threads=threads):
        n_texts += n_rows
        lost += lost_here
        wrong |= wrong_here
        progress.advance(n_rows)
    progress.finish()
    return n_texts, lost, wrong


def _checked(rows: Sequence[Any], counting: Counting) -> tuple[int, list[int], dict[int, Any]]:
    lost, whole, texts = list[int](), [], []
    for row in rows:
        try:
            texts.append(text_of(row.content, row.text, row.n_bytes, bytes(row.digest)))
            whole.append(row)
        except CollectionError:
            lost.append(row.content)
    if not texts:
        return len(rows), lost, {}
    array = pa.array(texts, pa.large_string())
    vectors, signed, indexed = counting.count(array), counting.sign(array), counting.index(array)
    profiles_here = profiles_of(vectors.counts, vectors.is_counted, indexed.values, indexed.has_value)
    wrong = dict[int, Any]()
    for i, (row, text, profile) in enumerate(zip(whole, texts, profiles_here, strict=True)):
        right = {
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
            wrong[row.content] = None if is_right else right, profile
    return len(rows), lost, wrong


def _mend(collection: Collection, wrong: dict[int, Any]) -> None:
    with collection.store.writing() as connection:
        for some in named(list(wrong)):
            connection.execute(profiles.delete().where(profiles.c.content.in_(some)))
        insert_rows(connection, profiles, list(zip(*((number, *profile) for number, (_, profile) in wrong.items()))))
        of_segments = {number: right for number, (right, _) in wrong.items() if right is not None}
        for number, right in of_segments.items():
            connection.execute(update(contents).where(contents.c.content == number).values(**right))
        if of_segments:  # else nothing that they are made of was wrong
            collection.store.raise_generation(connection)


def _documents_with(connection: Connection, numbers: Sequence[int]) -> tuple[str, ...]:
    """The documents that have, or had, these texts."""
    told = list[str]()
    for number in numbers:
        rows = connection.execute(select(documents.c.doc_id, documents.c.version).where(documents.c.content == number))
        told += [f"{doc_id} (version {version})" for doc_id, version in rows]
    return tuple(told)
