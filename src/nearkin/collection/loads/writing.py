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
from nearkin.collection.stored.purged import PURGED
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
    documents : dict of int to list
        By number of the row.
    contents, profiles, problems : list of tuple
    replaced : list of int
        Rows of documents that have a newer version now.
    listed_again : set of str
        Ids of ``problems`` whose files were extracted, and had other bytes or another exception before.
    read : set of str
        Ids with a path, under which problems of documents that are stored now may be listed.
    """

    documents: dict[int, list[Any]] = field(default_factory=dict)
    contents: list[tuple[Any, ...]] = field(default_factory=list)
    profiles: list[tuple[Any, ...]] = field(default_factory=list)
    problems: list[tuple[Any, ...]] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    listed_again: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)


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
    n_new_problems : int
    """

    connection: Connection
    collection_store: Store
    counting: TextCounting
    load: int
    keeps_words: bool = False
    n_new_problems: int = 0

    def copy(self) -> LoadWriter:
        """Copy the state; see `Load.copy`."""
        return replace(self)

    def write(self, rows: LoadRows, origins: LoadOrigins, figures: Figures) -> None:
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
        insert_rows(self.connection, documents, _columns(rows.documents.values()))
        origins.write()
        self._write_problems(rows, figures)

    def _write_problems(self, rows: LoadRows, figures: Figures) -> None:
        problems = schema.problems
        figures.n_problems += len(rows.problems)
        for some in in_slices(sorted(rows.read - {one[0] for one in rows.problems})):
            origins.forget_problems(self.connection, problems.c.doc_id.in_(some))
        unknown = self._unknown(rows.problems)
        is_new = {*unknown, *(one for one in rows.problems if one[0] in rows.listed_again)}
        figures.n_listed_before += sum(one not in is_new and one[-1] != PURGED for one in rows.problems)
        numbered = [(self.load, self.n_new_problems + i, *problem) for i, problem in enumerate(unknown)]
        insert_rows(self.connection, problems, _columns(numbered))
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


_N_NAMED = 5


@dataclass(slots=True)
class Figures:
    """Counts of a load so far."""

    n_new: int = 0
    n_restored: int = 0
    first_restored: tuple[str, ...] = ()
    n_new_versions: int = 0
    n_unchanged: int = 0
    n_problems: int = 0
    n_erased: int = 0
    n_repeated: int = 0
    n_same_again: int = 0
    n_earlier_texts: int = 0
    n_repaired: int = 0
    n_not_stored: int = 0
    n_listed_before: int = 0
    n_changed_places: int = 0
    first_changed_places: tuple[str, ...] = ()
    n_unlike: int = 0
    first_unlike: tuple[str, ...] = ()
    n_replaced: int = 0
    first_replaced: tuple[str, ...] = ()
    n_shared_ids: int = 0
    first_shared_id: str | None = None

    def count_unchanged(self, *, is_repeated: bool) -> None:
        """Count a document whose text is stored, also if the same load had it before."""
        self.n_unchanged += 1
        self.n_same_again += is_repeated

    def count_changed_place(self, doc_id: str) -> None:
        """Count a document that changed, and is named after its place."""
        self.n_changed_places += 1
        self.first_changed_places = (*self.first_changed_places, doc_id)[:_N_NAMED]

    def count_replaced(self, doc_id: str) -> None:
        """Count an unchanged document whose added text another wave has replaced."""
        self.n_replaced += 1
        self.first_replaced = (*self.first_replaced, doc_id)[:_N_NAMED]

    def count_unlike(self, doc_id: str) -> None:
        """Count a changed document whose text has nothing in common with the one before."""
        self.n_unlike += 1
        self.first_unlike = (*self.first_unlike, doc_id)[:_N_NAMED]

    def count_new(self, doc_id: str, *, is_restored: bool) -> None:
        """Count a document whose id was not stored, or had been removed; restored if it had the text before."""
        self.n_new += 1
        if is_restored:
            self.n_restored += 1
            self.first_restored = (*self.first_restored, doc_id)[:_N_NAMED]
