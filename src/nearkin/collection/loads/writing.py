"""The rows that a load adds to the tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.loads.figures import Figures
from nearkin.collection.loads.origins import LoadOrigins
from nearkin.collection.stored import problem_rows, shingle_table
from nearkin.collection.stored.purged import PURGED
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
        if self.keeps_words:
            came = [(row[0], row[_TEXT], row[_DIGEST]) for row in rows.contents]
            shingle_table.store_words(self.connection, self.collection_store, self.counting, came)
        insert_rows(self.connection, documents, _columns(rows.documents.values()))
        origins.write()
        self._write_problems(rows, figures)

    def _write_problems(self, rows: LoadRows, figures: Figures) -> None:
        problems = schema.problems
        figures.n_problems += len(rows.problems)
        for some in in_slices(sorted(rows.read - {one[0] for one in rows.problems})):
            problem_rows.forget_problems(self.connection, problems.c.doc_id.in_(some))
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
            is_told = columns[0].in_(some) & ~problem_rows.IS_STORED_SINCE
            told |= {tuple(row) for row in self.connection.execute(select(*columns).where(is_told))}
        return [problem for problem in problems if problem not in told]


def _columns(rows: Iterable[Any]) -> list[Any]:
    return list(zip(*rows, strict=True))
