"""Queries in plain SQL, as a program without Nearkin asks them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from psycopg import DatabaseError

from places import SomePlace


@contextmanager
def asking(place: SomePlace) -> Iterator[Any]:
    """A query with parameters; ``@`` is the schema of the collection. Its notices are in the list `notices`."""
    with closing(place.server.connection()) as connection, closing(connection.cursor()) as cursor:

        def run(query: str, *parameters: object) -> list[tuple[object, ...]]:
            try:
                cursor.execute(query.replace("@", f"{place.schema}."), parameters or None)
                rows = [tuple(row) for row in cursor.fetchall()] if cursor.description else []
            except DatabaseError:
                connection.rollback()
                raise
            connection.commit()
            return rows

        run.notices = []
        connection.add_notice_handler(lambda notice: run.notices.append(notice.message_primary))
        yield run


def failed(ask, query: str, *parameters: object) -> tuple[str, str, str]:
    with pytest.raises(DatabaseError) as caught:
        ask(query, *parameters)
    told = caught.value.diag
    return told.sqlstate, told.message_primary, told.message_hint or ""
