"""Tables of the words of texts: full-text search of SQLite (FTS5) and of PostgreSQL, filled with the same words.

The words are split by Nearkin, so that both databases find the same. They are made by the first search.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Column, Connection, MetaData, Table, text

from nearkin.collection.word_search.terms import IndexedWord
from nearkin.collection.word_search.tokens import Tokens
from nearkin.records import I64
from nearkin.store.bulk import insert_integers

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
