"""Words of all stored texts: derived from the store by the first search, and by each following one.

A fact says up to which content the words are stored; those of later contents are found in the texts themselves.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from nearkin.collection.stored.reach import DerivedData, Reach
from nearkin.collection.stored.texts_in_lots import texts_from
from nearkin.collection.word_search.tokens import FINGERPRINT, Tokens, tokens_of
from nearkin.collection.word_search.word_tables import LENGTHS, MAX_COUNTED, WordTables
from nearkin.errors import CollectionError
from nearkin.kernels.mixing import GOLDEN, spread
from nearkin.records import I64, U64
from nearkin.runs.progress import Progress
from nearkin.store.store import Store

_WORDS = DerivedData("search_words", FINGERPRINT)
_ROWS_AT_A_TIME = 1 << 16


def reach(connection: Connection, store: Store) -> Reach:
    """Return what part of the texts the stored words cover."""
    found = _WORDS.reach(connection, store)
    return found if WordTables.of(connection).are_there() else Reach(None, found.n_contents, ())


def fill(connection: Connection, store: Store, progress: Progress, *, at_most: int | None = None) -> bool:
    """Store the words of contents that have none yet, inside a write transaction; return whether all have them then.

    Parameters
    ----------
    connection : Connection
    store : Store
    progress : Progress
    at_most : int, optional
        Maximum number of contents, so that a transaction ends, and other writers have their turn. By default all.
    """
    now, tables = reach(connection, store), WordTables.of(connection)
    if now.is_whole:
        return True
    if now.end is None:  # missing, damaged, or stored by another version of Nearkin
        tables.make()
    tables.check_writable()
    if not now.end:
        progress.say("storing the words of all texts (only the first search does, and the first after a purge)")
    first, lost = now.first_without, list(now.lost)
    end = now.n_contents if at_most is None else min(now.n_contents, first + at_most)
    for numbers, texts, lost_here in texts_from(connection, first, progress, end, stage="words"):
        tables.write(numbers, tokens_of(texts))
        lost += lost_here
    _WORDS.write(connection, store, end, lost)
    return end == now.n_contents


def remake(connection: Connection, store: Store, progress: Progress) -> None:
    """Store all words again, inside a write transaction."""
    store.delete_fact(connection, _WORDS.method)
    fill(connection, store, progress)


def forget(connection: Connection, store: Store) -> None:
    """Remove all words, in a write transaction, so that none of an erased text stays; a search stores them again."""
    if not store.facts_now(connection, (_WORDS.method, _WORDS.end)):
        return
    if reach(connection, store).end is None:
        WordTables.of(connection).drop()
        for name in _WORDS.facts:
            store.delete_fact(connection, name)
    else:
        WordTables.of(connection).clear()
        _WORDS.write(connection, store, 0, [])


def restore(connection: Connection, store: Store, number: int, text: str) -> None:
    """Store the words of a repaired text, if it should have stored words by now."""
    if not store.facts_now(connection, (_WORDS.method,)):
        return
    now = reach(connection, store)
    if now.end is None or number >= now.end:
        return  # they are stored together with all others
    if connection.execute(select(LENGTHS.c.content).where(LENGTHS.c.content == number)).first() is not None:
        return  # they were stored before the text was damaged
    WordTables.of(connection).write(np.array([number], np.int64), tokens_of([text]))
    _WORDS.write(connection, store, now.end, [one for one in now.lost if one != number])


def difference(connection: Connection, store: Store, progress: Progress) -> str | None:
    """Return how the stored words differ from the texts, or None; words not stored yet are no difference."""
    if not store.facts_now(connection, (_WORDS.method, _WORDS.end)):
        return None
    try:
        return _difference(connection, store, progress)
    except (DBAPIError, CollectionError, TypeError, ValueError, OverflowError) as error:
        return f"words of texts: invalid ({error})"


def _difference(connection: Connection, store: Store, progress: Progress) -> str | None:
    """Compare stored words with the texts; see `difference`."""
    now = reach(connection, store)
    if now.end is None:
        return "words of texts: missing or of another version"
    of_words, of_lengths, lost = np.zeros(2, np.uint64), np.zeros(2, np.uint64), list[int]()
    is_capped = connection.dialect.name == "postgresql"
    for numbers, texts, lost_here in texts_from(connection, 0, progress, now.end, stage="words"):
        tokens = tokens_of(texts)
        of_lengths += _checksum(numbers, tokens.lengths.astype(np.uint64), np.ones(len(numbers), np.int64))
        of_words += _of_tokens(numbers, tokens.as_keys(), is_capped=is_capped)
        lost += lost_here
    hashes = dict[str, int]()
    for some in WordTables.of(connection).occurrences(_ROWS_AT_A_TIME):
        keys = np.array([hashes.setdefault(word, _hashed(word)) for word, _, _ in some], np.uint64)
        contents, n = np.array([row[1:] for row in some], np.int64).T
        of_words -= _checksum(contents, keys, np.where(np.isin(contents, lost), 0, n))
    for rows in connection.execute(select(LENGTHS.c.content, LENGTHS.c.n_words)).partitions(_ROWS_AT_A_TIME):
        contents, n_words = np.array([tuple(row) for row in rows], np.int64).T
        of_lengths -= _checksum(contents, n_words.astype(np.uint64), (~np.isin(contents, lost)).astype(np.int64))
    # words of a text that was damaged later cannot be compared, and are kept: they were right
    if of_words.any() or of_lengths.any() or not set(lost) >= set(now.lost):
        return "words of texts: the stored words do not match the texts"
    return None


def _of_tokens(contents: I64, keys: Tokens, *, is_capped: bool) -> U64:
    texts, words, n = keys.counted()
    hashes = np.array([_hashed(word) for word in keys.words], np.uint64)
    if not len(texts):
        return np.zeros(2, np.uint64)
    return _checksum(contents[texts], hashes[words], np.minimum(n, MAX_COUNTED) if is_capped else n)


def _hashed(word: str) -> int:
    data = word.encode("utf-8")
    return crc32(data) << 32 | crc32(data, 0x9E3779B9)


def _checksum(contents: I64, values: U64, n: I64) -> U64:
    """Return the number of occurrences, and a sum over them that does not depend on their order; both wrap around."""
    mixed = spread(values * GOLDEN + contents.astype(np.uint64))
    times = n.astype(np.uint64)
    return np.array([times.sum(dtype=np.uint64), (mixed * times).sum(dtype=np.uint64)], np.uint64)
