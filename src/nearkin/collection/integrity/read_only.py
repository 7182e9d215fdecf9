"""Integrity check of a collection opened read-only: it lists what `fsck` would repair, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from nearkin.collection import stored_relations
from nearkin.collection.decisions.purging import is_unfinished
from nearkin.collection.decisions.replaying import STATE, differs_from_log
from nearkin.collection.integrity.fsck import IntegrityReport, database_faults
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored import group_history, group_state, key_table, shingle_table
from nearkin.collection.stored.purged import faults_of_purges
from nearkin.collection.stored.segments import believable_loads, loads_of
from nearkin.collection.stored_texts import check_texts, documents_with, faults_of_loads, has_stray_profiles
from nearkin.collection.word_search import stored_words
from nearkin.nouns import counted
from nearkin.store import integrity


def check_only(collection: OpenedCollection, *, threads: int = 1) -> IntegrityReport:
    """Check every checksum, and compute all derived data again; see `nearkin.collection.integrity.fsck.fsck`."""
    store, repairable = collection.store, list[str]()
    with store.reading() as connection:
        loads, are_changed = believable_loads(connection, store)
        from_log = STATE if differs_from_log(connection) else ()
        rows = integrity.check(connection, from_log)
        repairable += [f"{fix.name} was changed" for fix in rows.fixes]
        repairable += [f"{doc_id!r} has a wrong current version" for doc_id in rows.is_current.values()]
        repairable += [*group_state.faults(connection), *group_history.faults(connection)]
        if from_log:
            repairable.append("the current tags and decisions differ from the activity log")
        if is_unfinished(connection, store):
            repairable.append("a purge did not finish: files may hold bytes of erased texts")
        of_database = [*database_faults(connection, store.dialect)]
        repairable += [fault for fault in of_database if "index" in fault]
        faults = [*rows.faults, *(fault for fault in of_database if "index" not in fault)]
        faults += [] if are_changed else faults_of_loads(connection, loads)
        faults += [*integrity.dangling(connection, from_log), *faults_of_purges(connection)]
        texts = check_texts(connection, collection, threads)
        if texts.wrong or has_stray_profiles(connection):
            n = max(len(texts.wrong), 1)
            repairable.append(f"counts, signatures or indexes of {counted(n, 'text')}")
        n_segments = 0
        if not are_changed:
            differing, n_segments = _of_index(collection, connection)
            repairable += [*differing, *_of_derived(collection, connection)]
        return IntegrityReport(
            n_texts=texts.n_texts,
            damaged_documents=documents_with(connection, texts.lost),
            mended_texts=0,
            mended_rows=(),
            remade_segments=(),
            n_segments=n_segments,
            faults=tuple(faults),
            sealed_since=store.fact(connection, "sealed_since"),
            repairable=tuple(repairable),
        )


def _of_index(collection: OpenedCollection, connection: Connection) -> tuple[list[str], int]:
    """Return the faults of the index, and the number of its parts."""
    loads, found = loads_of(connection, collection.store), list[str]()
    checked = collection.index.check(loads)
    for name, fault in checked.items():
        differs = fault or collection.index.differs_from_store(connection, loads, name)
        if differs is not None:
            found.append(differs)
    return found, len(checked)


def _of_derived(collection: OpenedCollection, connection: Connection) -> Iterator[str]:
    """Yield how stored keys, words, relations and sets of word 5-grams differ from the texts."""
    store, counting, progress = collection.store, collection.counting, collection.progress
    for differs in (
        key_table.difference(connection, store, counting, progress),
        stored_words.difference(connection, store, progress),
        stored_relations.difference(connection, store),
        shingle_table.difference(connection, store, counting, progress),
    ):
        if differs is not None:
            yield differs
