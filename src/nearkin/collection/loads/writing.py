"""The rows that a load adds to the tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.loads.origins import LoadOrigins
from nearkin.collection.stored import origins, shingle_table
from nearkin.collection.stored.contents import text_of
from nearkin.collection.word_search import word_tables
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_rows
from nearkin.store.store import Store

_TEXT, _DIGEST = ([column.name for column in schema.contents.columns].index(name) for name in ("text", "digest"))


@dataclass(slots=True)
class LoadRows:
    """Rows that a batch adds to the tables.

    Attributes
    ----------
    documents, contents, profiles, problems : lists of tuple
    replaced : list of int
        Rows of documents that have a newer version now.
    """

    documents: list[tuple[Any, ...]] = field(default_factory=list)
    contents: list[tuple[Any, ...]] = field(default_factory=list)
    profiles: list[tuple[Any, ...]] = field(default_factory=list)
    problems: list[tuple[Any, ...]] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class LoadWriter:
    """Writer of the rows of a load.

    Attributes
    ----------
    connection : Connection
        In a write transaction.
    collection_store : Store
    counting : TextCounting
    load : int
    keeps_words : bool
        Whether the collection has stored sets of word 5-grams: those of new texts are stored before their documents.
    n_problems, n_new_problems : int
    """

    connection: Connection
    collection_store: Store
    counting: TextCounting
    load: int
    keeps_words: bool = False
    n_problems: int = 0
    n_new_problems: int = 0

    def copy(self) -> LoadWriter:
        """Copy the state; see `Load.copy`."""
        return replace(self)

    def write(self, rows: LoadRows, origins: LoadOrigins) -> None:
        """Write the rows of a batch and their origins; count the problems."""
        documents = schema.documents
        for some in in_slices(rows.replaced):
            self.connection.execute(update(documents).where(documents.c.row.in_(some)).values(is_current=False))
        insert_rows(self.connection, schema.contents, _columns(rows.contents))
        insert_rows(self.connection, schema.profiles, _columns(rows.profiles))
        came = [(row[0], row[_TEXT], row[_DIGEST]) for row in rows.contents]
        texts = [text_of(*content) for content in came]
        word_tables.write(self.connection, [number for number, _, _ in came], texts)
        if self.keeps_words:
            shingle_table.store_words(self.connection, self.collection_store, self.counting, came)
        insert_rows(self.connection, documents, _columns(rows.documents))
        origins.write()
        self._write_problems(rows.problems)

    def _write_problems(self, problems: list[tuple[Any, ...]]) -> None:
        unknown = self._unknown(problems)
        numbered = [(self.load, self.n_new_problems + i, *problem) for i, problem in enumerate(unknown)]
        insert_rows(self.connection, schema.problems, _columns(numbered))
        self.n_problems += len(problems)
        self.n_new_problems += len(unknown)

    def _unknown(self, problems: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Select problems that are not recorded: adding the same documents again stores nothing."""
        columns = [schema.problems.c[name] for name in ("doc_id", "source", "line", "problem")]
        told = set[Any]()
        for some in in_slices([problem[0] for problem in problems]):
            is_told = columns[0].in_(some) & ~origins.IS_STORED_SINCE
            told |= {tuple(row) for row in self.connection.execute(select(*columns).where(is_told))}
        return [problem for problem in problems if problem not in told]


def _columns(rows: Iterable[Any]) -> list[Any]:
    return list(zip(*rows, strict=True))


@dataclass(slots=True)
class Figures:
    """Counts of a load so far."""

    n_new: int = 0
    n_new_versions: int = 0
    n_unchanged: int = 0
    n_exceptions: int = 0
    n_problems: int = 0
