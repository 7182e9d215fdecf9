"""Tables of the words of texts: full-text search of SQLite (FTS5) and of PostgreSQL, filled with the same words.

The words are split by Nearkin, so that both databases find the same. They are made by the first search.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from sqlalchemy import BigInteger, Column, Connection, MetaData, Table, select, text
from sqlalchemy.exc import DBAPIError

from nearkin.collection.stored.contents import texts_from
from nearkin.collection.stored.reach import DerivedData, Reach
from nearkin.collection.word_search.tokens import FINGERPRINT, IndexedWord, Tokens, tokens_of
from nearkin.errors import CollectionError
from nearkin.kernels.mixing import GOLDEN, spread
from nearkin.records import I64, U64
from nearkin.runs.progress import Progress
from nearkin.store.bulk import insert_integers
from nearkin.store.store import Store

LENGTHS = Table(
    "search_lengths",
    MetaData(),
    Column("content", BigInteger, primary_key=True, autoincrement=False),
    Column("n_words", BigInteger, nullable=False),
)
"""Number of words of each text whose words are stored."""
MAX_COUNTED = 16_383
"""Maximum number of occurrences of a word in a text that counts: the highest position that PostgreSQL stores."""
_ROWS_AT_A_TIME = 1 << 14
_WORDS_OF_A_ROW = 2_000  # PostgreSQL stores less than 1 MiB of words in a value
_LAST = "\U0010ffff"  # no word has it
Occurrences = Iterator[Sequence[tuple[str, int, int]]]


class WordTables(ABC):
    """The two tables, inside a transaction; a subclass for each database."""

    presence: str
    """Query for how many of the two tables exist and may be read."""
    rows: str
    """Query for all occurrences: word, content, number."""
    preparation = ""
    """Statement that each connection needs before a query."""
    once = ""
    """Keyword for a query that is run once, where the database does not decide that itself."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    def of(cls, connection: Connection) -> WordTables:
        """Return the tables of a database."""
        kind = _SqliteWordTables if connection.dialect.name == "sqlite" else _PostgresqlWordTables
        return kind(connection)

    def are_there(self) -> bool:
        """Whether both tables exist and may be read."""
        return bool(self._connection.exec_driver_sql(self.presence).scalar_one() == 2)

    def are_hidden(self) -> bool:
        """Whether the tables exist, and this user may not read them."""
        return False

    def make(self) -> None:
        """Make both tables, empty; earlier ones are dropped."""
        self.drop()
        for statement in self._statements():
            self._connection.exec_driver_sql(statement)

    def drop(self) -> None:
        """Remove both tables."""
        for name in ("search_words", LENGTHS.name):
            self._connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")

    def clear(self) -> None:
        """Remove all rows; tables that are there keep the privileges that were granted on them where they can."""
        self.make()

    def check_writable(self) -> None:
        """Raise the database's error if words cannot be written, before any text is read."""
        self._connection.exec_driver_sql("INSERT INTO search_lengths SELECT * FROM search_lengths WHERE content < 0")

    def write(self, contents: I64, tokens: Tokens) -> None:
        """Store the words of texts."""
        insert_integers(self._connection, LENGTHS, [contents, tokens.lengths])
        keys = tokens.as_keys()
        if len(keys.ids):
            self._write_words(contents, keys)

    def size(self) -> tuple[int, int]:
        """Return the number of texts, and of their words."""
        n, n_words = self._rows("SELECT count(*), sum(n_words) FROM search_lengths")[0]
        return int(n), int(n_words or 0)

    def n_with(self, word: IndexedWord) -> int:
        """Return the number of texts with a word."""
        found: int = self._rows(f"SELECT count(*) FROM ({self._having([word])}) AS found", self._terms([word]))[0][0]
        return found

    def found(self, words: Sequence[IndexedWord]) -> tuple[I64, I64, I64]:
        """Return the texts that have all words.

        Returns
        -------
        contents : int64 array, shape (n_found,)
            In ascending order.
        lengths : int64 array, shape (n_found,)
            Number of words of each.
        counts : int64 array, shape (len(words), n_found)
            Number of occurrences of each word, at most `MAX_COUNTED`.
        """
        parts = [self._counts_of(place, word) for place, word in enumerate(words)]
        parts.append("SELECT -1, content, n_words FROM search_lengths WHERE content IN (SELECT content FROM found)")
        query = f"WITH found AS {self.once} ({self._having(words)}) {' UNION ALL '.join(parts)}"
        table = self._numbers(query, self._terms(words))
        own = table[table[:, 0] == -1]
        own = own[np.argsort(own[:, 1], kind="stable")]
        contents, lengths = own[:, 1].copy(), own[:, 2].copy()
        counts = np.zeros((len(words), len(contents)), np.int64)
        rest = table[(table[:, 0] >= 0) & np.isin(table[:, 1], contents)]
        counts[rest[:, 0], np.searchsorted(contents, rest[:, 1])] = rest[:, 2]
        return contents, lengths, np.minimum(counts, MAX_COUNTED)

    def occurrences(self, at_a_time: int) -> Occurrences:
        """Yield every stored word with its content and the number of its occurrences."""
        for some in self._streamed(self.rows, {}, at_a_time):
            yield [tuple(row) for row in some]

    def _numbers(self, query: str, terms: dict[str, str]) -> I64:
        """Return the rows of three numbers, without an object for each."""
        parts = [np.zeros((0, 3), np.int64)]
        parts += [np.array([tuple(row) for row in some], np.int64) for some in self._streamed(query, terms)]
        return np.concatenate(parts)

    def _streamed(self, query: str, terms: dict[str, str], at_a_time: int = _ROWS_AT_A_TIME) -> Iterator[Sequence[Any]]:
        self._prepare()
        yield from self._connection.execute(text(query), terms, execution_options={"yield_per": at_a_time}).partitions(
            at_a_time
        )

    def _rows(self, query: str, terms: dict[str, str] | None = None) -> Sequence[Any]:
        self._prepare()
        return self._connection.execute(text(query), terms or {}).all()

    def _prepare(self) -> None:
        if self.preparation:
            self._connection.exec_driver_sql(self.preparation)

    @abstractmethod
    def _statements(self) -> Sequence[str]:
        """Return the statements that make the tables."""

    @abstractmethod
    def _write_words(self, contents: I64, keys: Tokens) -> None:
        """Store the words of texts, of which some has any."""

    @abstractmethod
    def _having(self, words: Sequence[IndexedWord]) -> str:
        """Return a query for the contents that have all words."""

    @abstractmethod
    def _counts_of(self, place: int, word: IndexedWord) -> str:
        """Return a query for the occurrences of a word in the contents that were found: place, content, number."""

    @abstractmethod
    def _terms(self, words: Sequence[IndexedWord]) -> dict[str, str]:
        """Return the values of the queries for some words."""


class _SqliteWordTables(WordTables):
    """FTS5 without the texts, which are stored elsewhere; words without capitals, so that bytes are compared."""

    presence = "SELECT count(*) FROM sqlite_master WHERE name IN ('search_words', 'search_lengths')"
    rows = "SELECT term, doc, 1 FROM temp.search_occurrences"
    preparation = (
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_occurrences USING fts5vocab(main, search_words, instance)"
    )

    def _statements(self) -> Sequence[str]:
        return [
            "CREATE VIRTUAL TABLE search_words USING fts5(words, content='', columnsize=0, tokenize='ascii')",
            "CREATE TABLE search_lengths (content INTEGER PRIMARY KEY, n_words BIGINT NOT NULL)",
        ]

    def _write_words(self, contents: I64, keys: Tokens) -> None:
        by_text = zip(contents.tolist(), keys.by_text(), strict=True)
        rows = [(content, " ".join(words)) for content, words in by_text if words]
        self._connection.exec_driver_sql("INSERT INTO search_words (rowid, words) VALUES (?, ?)", rows)

    def _having(self, words: Sequence[IndexedWord]) -> str:
        return "SELECT rowid AS content FROM search_words WHERE search_words MATCH :match"

    def _counts_of(self, place: int, word: IndexedWord) -> str:
        condition = f"term >= :key_{place} AND term <= :end_{place}" if word.is_prefix else f"term = :key_{place}"
        return (
            f"SELECT {place}, doc, count(*) FROM temp.search_occurrences WHERE {condition} "
            "AND doc IN (SELECT content FROM found) GROUP BY doc"
        )

    def _terms(self, words: Sequence[IndexedWord]) -> dict[str, str]:
        match = " ".join(f'"{word.key}"{"*" * word.is_prefix}' for word in words)
        keys = {f"key_{place}": word.key for place, word in enumerate(words)}
        return {"match": match, **keys, **{f"end_{place}": word.key + _LAST for place, word in enumerate(words)}}


class _PostgresqlWordTables(WordTables):
    """Values of type tsvector, in which the position of a word is the number of its occurrences."""

    presence = (
        "SELECT count(*) FROM unnest(ARRAY[to_regclass('search_words'), to_regclass('search_lengths')]) AS own (name) "
        "WHERE has_table_privilege(CAST(name AS oid), 'SELECT')"
    )
    hidden = (
        "SELECT count(*) FROM unnest(ARRAY[to_regclass('search_words'), to_regclass('search_lengths')]) AS own (name) "
        "WHERE NOT has_table_privilege(CAST(name AS oid), 'SELECT')"
    )
    once = "MATERIALIZED"
    rows = "SELECT lexeme, content, positions[1] FROM search_words, unnest(words)"

    def are_hidden(self) -> bool:
        return bool(self._connection.exec_driver_sql(self.hidden).scalar_one())

    def clear(self) -> None:
        """Remove all rows with their files, as DROP does, and keep the privileges."""
        self._connection.exec_driver_sql("TRUNCATE search_words, search_lengths")

    def _statements(self) -> Sequence[str]:
        return [
            "CREATE TABLE search_words (content BIGINT NOT NULL, part INTEGER NOT NULL, words TSVECTOR NOT NULL, "
            "PRIMARY KEY (content, part))",
            "CREATE INDEX search_words_by_word ON search_words USING gin (words)",
            "CREATE TABLE search_lengths (content BIGINT PRIMARY KEY, n_words BIGINT NOT NULL)",
        ]

    def _write_words(self, contents: I64, keys: Tokens) -> None:
        texts, words, n = keys.counted()
        written = [f"'{keys.words[word]}':{count}" for word, count in zip(words, np.minimum(n, MAX_COUNTED).tolist())]
        bounds = np.searchsorted(texts, np.arange(len(contents) + 1))
        rows = list[tuple[int, int, str]]()
        for place, content in enumerate(contents.tolist()):
            own = written[bounds[place] : bounds[place + 1]]
            for part, start in enumerate(range(0, len(own), _WORDS_OF_A_ROW)):
                rows.append((content, part, " ".join(own[start : start + _WORDS_OF_A_ROW])))
        statement = (
            "INSERT INTO search_words SELECT content, part, CAST(words AS tsvector) FROM unnest(CAST(:contents AS "
            "bigint[]), CAST(:parts AS integer[]), CAST(:words AS text[])) AS given (content, part, words)"
        )
        values = dict(zip(("contents", "parts", "words"), map(list, zip(*rows, strict=True)), strict=True))
        self._connection.execute(text(statement), values)

    def _having(self, words: Sequence[IndexedWord]) -> str:
        # a long text has several rows, each with some of its words
        of_word = "SELECT content FROM search_words WHERE words @@ CAST(:query_{} AS tsquery)"
        return (
            " INTERSECT ".join(of_word.format(place) for place in range(len(words)))
            if len(words) > 1
            else (of_word.format(0).replace("SELECT content", "SELECT DISTINCT content"))
        )

    def _counts_of(self, place: int, word: IndexedWord) -> str:
        condition = f"starts_with(lexeme, :key_{place})" if word.is_prefix else f"lexeme = :key_{place}"
        return (
            f"SELECT {place}, content, CAST(sum(positions[1]) AS bigint) FROM search_words, unnest(words) "
            f"WHERE words @@ CAST(:query_{place} AS tsquery) AND content IN (SELECT content FROM found) "
            f"AND {condition} GROUP BY content"
        )

    def _terms(self, words: Sequence[IndexedWord]) -> dict[str, str]:
        queries = {f"query_{place}": f"'{word.key}'{':*' * word.is_prefix}" for place, word in enumerate(words)}
        return {**queries, **{f"key_{place}": word.key for place, word in enumerate(words)}}


_WORDS = DerivedData("search_words", FINGERPRINT)
_STORED_AT_A_TIME = 1 << 16


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
    for some in WordTables.of(connection).occurrences(_STORED_AT_A_TIME):
        keys = np.array([hashes.setdefault(word, _hashed(word)) for word, _, _ in some], np.uint64)
        contents, n = np.array([row[1:] for row in some], np.int64).T
        of_words -= _checksum(contents, keys, np.where(np.isin(contents, lost), 0, n))
    for rows in connection.execute(select(LENGTHS.c.content, LENGTHS.c.n_words)).partitions(_STORED_AT_A_TIME):
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
