"""Texts of candidates with their current documents; PostgreSQL returns both in one query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, text

from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.contents import DamagedText, StoredText, stored_texts_in, stored_texts_of
from nearkin.collection.stored.documents import current_documents, stored_documents
from nearkin.collection.stored.profiles import similarity_indexes

_QUERY = text("""
    SELECT c.content, c.digest, c.text, p.similarity_index,
        (SELECT count(*) FROM documents WHERE documents.content = c.content AND documents.is_current) AS n_documents,
        (SELECT CAST(json_agg(json_build_array(
                d.row, d.doc_id, d.version, d.content, d.source, d.line, d.is_current, d.removed_at, w.name,
                c.n_characters, c.n_letters, c.is_counted
            ) ORDER BY d.row) AS text)
            FROM (SELECT * FROM documents WHERE documents.content = c.content AND documents.is_current
                ORDER BY documents.row LIMIT :limit) AS d
            LEFT JOIN loads AS l ON l.load = d.load LEFT JOIN waves AS w ON w.wave = l.wave) AS documents
    FROM contents AS c LEFT JOIN profiles AS p ON p.content = c.content
    WHERE c.content = ANY(CAST(:contents AS bigint[]))
""")


@dataclass(slots=True)
class Fetched:
    """Documents and similarity indexes that were fetched for the candidates of one check.

    Attributes
    ----------
    indexes : dict of int to int or None
        Similarity indexes, by content.
    """

    indexes: dict[int, int | None] = field(default_factory=dict)
    _connection: Connection | None = None
    _documents: dict[int, str | None] = field(default_factory=dict)
    _n_documents: dict[int, int] = field(default_factory=dict)

    def fetch(
        self, connection: Connection, numbers: Sequence[int], limit: int
    ) -> tuple[dict[int, StoredText], list[DamagedText]]:
        """Return texts by the numbers of their contents, and the damaged ones; see `stored_texts_of`."""
        self._connection = connection
        if connection.dialect.name == "sqlite":  # where a query costs no round trip
            return stored_texts_of(connection, numbers)
        rows = connection.execute(_QUERY, {"contents": list(numbers), "limit": limit}).all()
        for row in rows:
            self.indexes[row.content], self._n_documents[row.content] = row.similarity_index, row.n_documents
            self._documents[row.content] = row.documents  # JSON, parsed only for reported texts
        return stored_texts_in(rows, numbers)

    def documents_of(self, numbers: Sequence[int], limit: int) -> tuple[list[StoredDocument], int]:
        """Return the first documents that have these contents, and their total number; see `current_documents`."""
        if self._connection is None or not numbers:
            return [], 0
        if self._connection.dialect.name != "sqlite":
            listed = [self._documents[number] for number in numbers]
            rows = [tuple(row) for told in listed if told is not None for row in json.loads(told)]
            found = stored_documents(rows[:limit])
            return found, sum(self._n_documents[number] for number in numbers)
        found, n_found = current_documents(self._connection, numbers, limit)
        self.indexes |= similarity_indexes(self._connection, list({one.content for one in found}))
        return found, n_found
