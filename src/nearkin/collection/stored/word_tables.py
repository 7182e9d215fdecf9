"""Words of the stored texts, in the full-text index of each database: FTS5, and tsvector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from sqlalchemy import BigInteger, Connection, Float, FromClause, bindparam, column, text
from sqlalchemy.exc import DBAPIError

from nearkin.collection.counting import NORMALISE, TextCounting
from nearkin.collection.stored.contents import texts_from, texts_of
from nearkin.errors import CollectionError
from nearkin.kernels.buffers import strings
from nearkin.runs.progress import Progress
from nearkin.stages.features.words import WordSplitter
from nearkin.store.store import Store

MAX_WORDS = 64
"""Maximum number of words of a query."""
_MAX_OF_A_WORD = 100  # characters; PostgreSQL refuses lexemes of more than 2 KiB
_SPLITTER = WordSplitter()


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of texts as word shingles have them, each cut to its first 100 characters.

    Examples
    --------
    >>> words_of(["It's DUE, due.", "ﬁle 日本"])
    [['it', 's', 'due', 'due'], ['file', '日', '本']]
    """
    if not texts:
        return []
    split = _SPLITTER.split(NORMALISE.apply(strings(texts)))
    distinct = [word[:_MAX_OF_A_WORD] for word in split.words.to_pylist()]
    words = [distinct[place] for place in split.ids.tolist()]
    return [words[start:end] for start, end in pairwise(split.offsets.tolist())]


@dataclass(frozen=True, slots=True)
class Term:
    """Words that follow one another, of which the last may be the beginning of a word; or the value of a field."""

    words: tuple[str, ...]
    is_prefix: bool = False
    field: str = ""

    def places_in(self, words: Sequence[str]) -> list[int]:
        """Return where it begins among the words of a text."""
        *first, last = self.words
        is_last = {word for word in set(words) if word == last or (self.is_prefix and word.startswith(last))}
        ends = [place for place, word in enumerate(words) if word in is_last] if is_last else []
        n = len(first)
        return [end - n for end in ends if end >= n and words[end - n : end] == first]


@dataclass(frozen=True, slots=True)
class Combination:
    """Two queries, of which both, one, or the first without the second have to be met."""

    operator: Literal["AND", "OR", "NOT"]
    left: Query
    right: Query


Query = Term | Combination


def terms_of(query: Query) -> Iterator[Term]:
    """Yield the words that a text may have, in order."""
    if isinstance(query, Term):
        if query.words and not query.field:
            yield query
        return
    yield from terms_of(query.left)
    if query.operator != "NOT":
        yield from terms_of(query.right)


_MAX_POSITIONS = 255  # PostgreSQL keeps no more of a word in one tsvector
_WORDS_OF_A_PART = 2_000  # and at most 1 MiB of words
_INSERT_PARTS = text(
    "INSERT INTO search_words SELECT content, part, CAST(words AS tsvector) FROM unnest(CAST(:contents AS bigint[]), "
    "CAST(:parts AS integer[]), CAST(:words AS text[])) AS given (content, part, words)"
)
_VOCABULARY_OF_SQLITE = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms USING fts5vocab(main, search_words, row)"


def prepared(texts: Sequence[str], dialect: str) -> list[list[str]]:
    """Return the words of each text as `write` stores them: for PostgreSQL in parts."""
    if dialect == "sqlite":
        return [[" ".join(words)] for words in words_of(texts)]
    return [
        [" ".join(f"'{word}':{place}" for place, word in enumerate(part, 1)) for part in _parts(words)]
        for words in words_of(texts)
    ]


def write(connection: Connection, contents: Sequence[int], words: Sequence[Sequence[str]]) -> None:
    """Store the words of new texts, which `prepared` has made."""
    if not contents:
        return
    if connection.dialect.name == "sqlite":
        rows = [(content, pieces) for content, (pieces,) in zip(contents, words, strict=True)]
        connection.exec_driver_sql("INSERT INTO search_words (rowid, words) VALUES (?, ?)", rows)
        return
    parts = [
        (content, number, part)
        for content, pieces in zip(contents, words, strict=True)
        for number, part in enumerate(pieces)
    ]
    values = dict(zip(("contents", "parts", "words"), map(list, zip(*parts, strict=True)), strict=True))
    connection.execute(_INSERT_PARTS, values)


def _parts(words: list[str]) -> list[list[str]]:
    """Cut the words of a long text into parts that overlap, so that each phrase stands whole in one."""
    for size in (_WORDS_OF_A_PART, _MAX_POSITIONS):
        starts = range(0, max(1, len(words) - MAX_WORDS), size - MAX_WORDS)
        parts = [words[start : start + size] for start in starts]
        if all(max(Counter(part).values(), default=0) <= _MAX_POSITIONS for part in parts):
            break
    return parts


def hits(query: Query, dialect: str) -> FromClause:
    """Return the contents that meet words and their relevance, bm25 or ts_rank, as a table of a statement."""
    values = dict[str, str]()
    if dialect == "sqlite":
        values["query"] = _match_of(query)
        statement = (
            "SELECT rowid AS content, -search_words.rank AS relevance FROM search_words WHERE search_words MATCH :query"
        )
    else:
        sets = _set_of(query, values)
        values["any"] = " | ".join(_tsquery_of(term) for term in terms_of(query))
        of_part = "max(ts_rank(words, CAST(:any AS tsquery), 1)) FROM search_words WHERE search_words.content"
        statement = f"SELECT content, (SELECT {of_part} = met.content) AS relevance FROM ({sets}) AS met"
    given = text(statement).bindparams(*(bindparam(name, value, unique=True) for name, value in values.items()))
    return given.columns(column("content", BigInteger), column("relevance", Float)).subquery("hits")


def _match_of(query: Query) -> str:
    if isinstance(query, Term):
        return f'"{" ".join(query.words)}"{"*" * query.is_prefix}'
    return f"({_match_of(query.left)} {query.operator} {_match_of(query.right)})"


def _tsquery_of(term: Term) -> str:
    words = [f"'{word}'" for word in term.words]
    return " <-> ".join(words) + ":*" * term.is_prefix


_SETS = {"AND": "INTERSECT", "OR": "UNION", "NOT": "EXCEPT"}


def _set_of(query: Query, values: dict[str, str]) -> str:
    """Return a statement for the contents; operators join contents, of which a long one has several parts."""
    if isinstance(query, Combination):
        return f"({_set_of(query.left, values)} {_SETS[query.operator]} {_set_of(query.right, values)})"
    name = f"term_{len(values)}"
    values[name] = _tsquery_of(query)
    return f"SELECT DISTINCT content FROM search_words WHERE words @@ CAST(:{name} AS tsquery)"


def forget(connection: Connection, contents: Sequence[int], progress: Progress) -> None:
    """Remove the words of texts that are about to be erased."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("DELETE FROM search_words WHERE content = ANY(:contents)"), {"contents": list(contents)}
        )
        return
    try:
        texts = texts_of(connection, contents)
    except CollectionError:  # a text is damaged: its words are unknown
        _write_all(connection, progress, without=contents)
        return
    words = words_of([texts[content] for content in contents])
    rows = [(content, " ".join(parts)) for content, parts in zip(contents, words, strict=True)]
    if rows:
        connection.exec_driver_sql(
            "INSERT INTO search_words (search_words, rowid, words) VALUES ('delete', ?, ?)", rows
        )
        connection.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('optimize')")  # their bytes, too


def remake(connection: Connection, _store: Store, _counting: TextCounting, progress: Progress) -> None:
    """Store the words of all texts again."""
    _write_all(connection, progress, without=())


def _write_all(connection: Connection, progress: Progress, *, without: Sequence[int]) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('delete-all')")
    else:
        connection.exec_driver_sql("DELETE FROM search_words")
    left_out = set(without)
    for numbers, texts, _ in texts_from(connection, 0, progress, stage="words"):
        kept = [
            (content, document_text)
            for content, document_text in zip(numbers.tolist(), texts, strict=True)
            if content not in left_out
        ]
        words = prepared([document_text for _, document_text in kept], connection.dialect.name)
        write(connection, [content for content, _ in kept], words)


def difference(connection: Connection, _store: Store, _counting: TextCounting, progress: Progress) -> str | None:
    """Return how the stored words differ from those of the texts, or None."""
    is_sqlite, expected = connection.dialect.name == "sqlite", Counter[str]()
    for _, texts, lost in texts_from(connection, 0, progress, stage="words"):
        if lost:  # words of a damaged text are unknown
            return None
        for words in words_of(texts):
            expected.update(word for part in ([words] if is_sqlite else _parts(words)) for word in set(part))
    try:
        if is_sqlite:
            connection.exec_driver_sql(_VOCABULARY_OF_SQLITE)
            rows = connection.exec_driver_sql("SELECT term, doc FROM temp.search_terms")
        else:
            rows = connection.exec_driver_sql("SELECT word, ndoc FROM ts_stat('SELECT words FROM search_words')")
        if dict(tuple(row) for row in rows) == expected:
            return None
    except DBAPIError as error:
        return f"words of texts: {error.orig}"
    return "words of texts: the stored words do not match the texts"
