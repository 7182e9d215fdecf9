"""Blank texts may be more than a statement can bind, and so may those of a part of a list."""

from __future__ import annotations

import sqlite3

from nearkin.collection.collection import Collection
from nearkin.collection.listing.conditions import DocumentFilter
from nearkin.collection.listing.exceptions import ExceptionFilter, stored_exceptions
from nearkin.collection.listing.lists import listed

N_BLANK = 60


def test_lists_with_more_blank_texts_than_a_statement_can_bind(tmp_path, monkeypatch):
    monkeypatch.setattr("nearkin.store.bulk.MAX_NAMED", 20)
    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add([(f"blank {at}{twin}", " " * at) for at in range(N_BLANK) for twin in "ab"])
        with collection.opened.store.reading() as connection:
            connection.connection.dbapi_connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 40)
            copies = listed(connection, DocumentFilter(has_copies=True), "id", None)
            every = listed(connection, DocumentFilter(), "id", None)
            found = stored_exceptions(connection, ExceptionFilter())
    assert (len(copies.table), len(every.table), len(found.exceptions)) == (0, 2 * N_BLANK, 2 * N_BLANK)
